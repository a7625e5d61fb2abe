"""A page on which an agent learns while one watches, and plays against it at any moment.

TD-learning of the library is linked to the module of a page (:mod:`afterstate.screen.page`), and
``learner.js`` runs it in a worker; ``learn.js`` draws the curve. After as many games the weights
are those of a ``td.Session`` with the same parameters and seed, bit for bit.
"""

from pathlib import Path
from string import Template

from ..games.game import Game
from ..kernel.link import FREE, Free
from ..kernel.random import new_rng
from ..learners import td
from ..learners.adaptation import LONGEST, trace_size
from .page import HERE, kernels, specification, write

LAMBDAS, SEEDS = (0.0, 0.3, 0.5, 0.7, 0.9), 100  # to choose from
MATCHES, ALONE = 198, 20  # for a point of the curve: for two or three seats, for one
SMALLER = {"game2048": {"tuples": "2048-5x4"}}  # networks for which a page has room
ABOUT = """The agent knows nothing but the rules and learns by playing with itself, in this page.
Press Learn, watch the curve, and play at any moment."""
LARGER = " Its network is smaller than the usual one, which takes half a gigabyte."
FILES = "learn.html", "learn.js", "learner.js"
FREE_IN_PAGES = {"farl_on": Free(True), "tc_none": Free(True), "trace_size": FREE}


def learn_page(agent, file=None, *, title: str = "") -> Path:
    """Write a page on which an agent learns a game, one HTML file, and return its path.

    Parameters
    ----------
    agent : Game or td.Session
        A game has its usual parameters. Of a session the game, the parameters and the seed count.
    file : path, optional
        Default: ``learn-``, the game's name and ``.html``.
    title : str
        A heading in the place of the usual one.

    Raises
    ------
    ImportError
        Without the linker: ``pip install "afterstate[web]"``.
    ValueError
        If the agent is of another kind.
    """
    about = ABOUT
    if isinstance(agent, Game):
        about += LARGER * (agent.name in SMALLER)
        agent = td.Session(agent, agent.settings | SMALLER.get(agent.name, {}))
    if not isinstance(agent, td.Session):
        raise ValueError(f"a page learns a game, or what a td.Session learns, not {agent!r}")
    session, made, learning = linked(agent)
    game = session.game
    spec = specification(game, session.net, made) | {"learning": learning}
    scripts = {name: (HERE / name).read_text(encoding="utf-8") for name in FILES}
    worker = (HERE / "engine.js").read_text(encoding="utf-8") + scripts["learner.js"]
    matches = f"{learning['matches']} games"
    if game.players > 1:
        matches += " with copies of the rival, in all seats, half of them after a random move"
    panel = Template(scripts["learn.html"]).substitute(matches=matches, worker=worker)
    title = title or f"Watch an agent learn {game.name}"
    text = {"title": title, "about": about, "origin": ""}
    file = file or f"learn-{game.name}.html"
    return write(file, text, spec, made, {"panel": panel, "learn": scripts["learn.js"]})


def linked(agent) -> tuple:
    """Return a session with room for all settings, its kernels, and what scripts must know."""
    game, params = agent.game, agent.params
    if isinstance(params["tuples"], dict):  # the same ones for all seeds
        params = params | {"tuples": agent.net.tuples}
    tc = "id" if params["tc"] == "none" else params["tc"]
    lambdas = sorted({*LAMBDAS, params["lambda_"]})
    session = td.Session(game, params | {"lambda_": lambdas[-1], "tc": tc, "farl": "on"})
    mem, longest, par = session.mem, params["max_plies"] or LONGEST, session.par
    par = par._replace(max_plies=longest, **FREE_IN_PAGES)
    train = session.run_episodes, session.net.arrays, par, mem, FREE
    read = {"rng": mem.rng, "counts": mem.counters, "error": mem.abs_delta}
    read["coherence"] = session.net.arrays.counters
    usual = {"farl": params["farl"] == "on", "tc": params["tc"] != "none", "seed": agent.seed}
    usual |= {"alpha": par.alpha_first, "last": par.alpha_last, "lambda": params["lambda_"]}
    changed = {name: repr(v) for name, v in params.items() if v != td.DEFAULTS[name]}
    learning = {
        "game": f"games.load({game.name!r}, **{game.spec['params']})" if game.spec else "game",
        **{"settings": changed, "usual": usual, "tc": tc, "episodes": params["episodes"]},
        "floats": {name: v for name, v in par._asdict().items() if isinstance(v, float)},
        "free": [name for name in par._fields if name in FREE_IN_PAGES],
        "traces": [[value, trace_size(params | {"lambda_": value})] for value in lambdas],
        "seeds": {seed: str(new_rng(seed)[0]) for seed in {*range(SEEDS), agent.seed}},
        **{"matches": MATCHES if game.players > 1 else ALONE, "longest": longest},
        **{"range": game.score_range, "reward": game.progress[1], "unit": game.progress[2]},
    }
    return session, kernels(game, session.net, more={"train": train}, read=read), learning
