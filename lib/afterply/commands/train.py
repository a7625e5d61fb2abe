"""The command ``afterply train``: by games or by the clock, told as it goes, never lost."""

import contextlib
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np

from ..arena.matches import play_on, win_rate
from ..checks import number, whole
from ..files import Archive, load_module
from ..identity import is_learner
from ..kernel.random import new_rng, seed_from
from ..kernel.source import source_hash
from ..learners import learners
from ..learners.adaptation import LONGEST
from ..learners.check_learner import LEARNER
from ..learners.parameters import usual
from ..learners.session import BaseSession, next_chunk
from ..networks.agent_file import save
from ..opponents.words import named, word_for
from ..players.basic import Greedy
from . import UNHEARD, typed

ORDINARY = {"learner": "td", "episodes": 0, "minutes": 0.0, "set": {}, "seed": 0}
EPISODES, ENDLESS = 10_000, 10**15  # of a learner or a game that names no number; by the clock only
CHECKPOINT_SECONDS = 30.0  # between two checkpoints, at least ...
CHECKPOINT_RATIO = 20  # ... and this multiple of the time it takes to write one
CHUNK_SECONDS = 0.5  # Ctrl-C and the line of progress come between two chunks
PROBE, SLOWER = 0.05, 0.8  # share of the time that measures the pace; how much of it will last
STEPS, GAMES, COST = 20, 20, 0.05  # figures in a training, games for each, their share of the time
# what ends a training that is kept; the last two are sent by Slurm and docker stop, and by a
# terminal that is closed (not on Windows)
STOPS = "SIGINT", "SIGTERM", "SIGHUP"
FIRST_LINES = 5.0  # seconds between two lines where there is no terminal


def train(word: str, game, asked: dict, out=None, resume=False, force=False) -> int:
    """Train an agent of a game as `asked` and write it to `out`; return the exit status.

    Every half minute all that is needed to go on is written to a file beside `out`.
    """
    path = Path(out or f"{game.name}.npz")
    if path.is_dir() or path.suffix == ".py":
        what = "a folder" if path.is_dir() else "the name of a program"
        raise ValueError(f"{path} is {what}: name a file such as {game.name}.npz with --out")
    is_file = path.is_file() or not path.exists()  # else a device or a pipe
    part = Path(f"{path if is_file else game.name + '.npz'}.part")
    if path.is_file() and not force:
        raise ValueError(f"{path} exists: name another one with --out, or give --force")
    if part.exists() and not resume and not force:
        raise ValueError(f"{part} is a training that did not end: go on with --resume, or --force")
    session, plan = _resumed(part, game, asked) if resume else _begun(game, asked)
    progress = Progress(session, plan)
    print(f"at first {progress.measure(game.players, 0.0)}", flush=True)  # compiles the matches
    progress.cost = 0.0
    with _interruptions() as pressed:
        written, pause, chunk = time.monotonic(), CHECKPOINT_SECONDS, 1
        while not pressed and not progress.over:
            began, cpu = time.monotonic(), time.process_time()
            try:
                session.train(min(chunk, plan["goal"] - session.episode))
            except (FloatingPointError, RuntimeError) as error:
                raise ValueError(str(error)) from error
            chunk = next_chunk(chunk, time.monotonic() - began, CHUNK_SECONDS)
            with _told(pressed):
                progress.tell()
            if time.monotonic() - written >= pause:
                before = time.monotonic()
                save(part, session, resumable=True, training=plan)
                written = time.monotonic()
                pause = max(CHECKPOINT_SECONDS, CHECKPOINT_RATIO * (written - before))
            plan["seconds"] += time.monotonic() - began
            plan["cpu_seconds"] += time.process_time() - cpu
        if not progress.over:  # it was told to stop
            save(part, session, resumable=True, training=plan)
            options = [*([f"--out={out}"] if out else []), "--resume", *["--force"] * force]
            with _told(pressed):
                print(f"\nKept in {part} after {session.episode:,} games. To go on:")
                print(f"  {typed('train', word, *options)}", flush=True)
            return pressed[0]
        save(path, session)
        part.unlink(missing_ok=True)
    print("\n" * sys.stdout.isatty(), end="")
    minutes, seconds = divmod(round(plan["seconds"]), 60)
    spent = f"{minutes}:{seconds:02d} minutes, {plan['cpu_seconds']:,.0f} CPU seconds"
    print(f"{path}: {session.episode:,} games of {game.name} in {spent}", flush=True)
    if not pressed:  # else it has no time left
        figure = progress.measure(5 * GAMES, max(2.0, COST * plan["seconds"]))
        print(f"at the end {figure}")
    if is_file:
        print(f"To play against it: {typed('play', word, '--against', word_for(path))}")
    return 0


@contextlib.contextmanager
def _interruptions():
    """Give a list in which what is to stop is noted, by its exit status.

    A second Ctrl-C acts at once; a terminal that is closed may send its signal twice.
    """
    pressed, usually = [], {}

    def note(which, _):
        pressed.append(128 + which)
        if which == signal.SIGINT:
            signal.signal(which, usually[which])

    for which in [getattr(signal, name) for name in STOPS if hasattr(signal, name)]:
        before = signal.getsignal(which)
        if which == signal.SIGINT or before is not signal.SIG_IGN:  # as nohup has it ignored
            usually[which] = before
            signal.signal(which, note)
    try:
        yield pressed
    finally:
        for which, before in usually.items():
            signal.signal(which, before)


@contextlib.contextmanager
def _told(pressed):
    """Let what is printed fail: where nobody reads it any more, the training is to stop."""
    try:
        yield
    except OSError:
        pressed.append(UNHEARD)


def learner_of(word: str):
    """Return the learner that a word means: one of the package, or of FILE.py or FILE.py:NAME."""
    file, own, name = word.rpartition(".py")
    if not own or name[:1] not in ("", ":"):
        known = learners()
        if word not in known:
            there = f"only {', '.join(sorted(known))}, and those in files, as mine.py"
            raise ValueError(f"there is no learner {word!r}, {there}")
        return known[word]
    module, name = load_module(f"{file}.py"), name[1:]
    if is_learner(module) and not name:
        return module
    found = {
        word: thing
        for word, thing in vars(module).items()
        if is_learner(thing) and getattr(thing, "__module__", "") == module.__name__
    }
    if name not in found and (name or len(found) != 1):
        there = f"it holds {', '.join(found) or 'none'}"
        contract = "a module or class with NAME, VERSION, PARAMETERS, DEFAULTS, Session"
        asked = f"no learner {name!r}" if name else "not one learner"
        raise ValueError(f"{file}.py holds {asked}: {there}; a learner is {contract}")
    learner = found[name or [*found][0]]
    if lacks := [part for part in LEARNER if not hasattr(learner, part)]:
        raise ValueError(f"the learner {word} has no {', '.join(lacks)}: help(afterply.learners)")
    return learner


def _signed(session, params, seed):
    """Return a session that says its parameters and its seed, as its file has to."""
    for name, value in {"params": params, "seed": seed}.items():
        if not hasattr(session, name):
            setattr(session, name, value)
    return session


def _begun(game, asked) -> tuple:
    """Return a new session and its plan: what was asked, the number of games, the limit."""
    learner = learner_of(asked["learner"])
    name = learner.NAME
    limit = 60 * number("minutes", asked["minutes"], 0.0)
    scheduled = "episodes" in learner.DEFAULTS and "episodes" not in asked["set"]
    given = usual(learner.PARAMETERS, game) | asked["set"]
    goal = whole("episodes", asked["episodes"], 0) or given.get("episodes", EPISODES)
    if scheduled:
        given["episodes"] = goal
    session = learner.Session(game, given, asked["seed"])
    if not callable(getattr(session.net, "contents", None)):
        raise ValueError(f"what {name} learns of {game.name} has no file: train it in Python")
    weights = getattr(session.net, "weights", np.zeros((1, 0))).shape
    size = f", {weights[0]} x {weights[1]:,} weights" * (weights[1] > 0)
    told = [
        f"{n}={v}"
        for n, v in (given or learner.DEFAULTS).items()
        if n != "tuples" or len(str(v)) < 60
    ]
    print(f"{game.name}, {name}{size}; {', '.join(told)}", flush=True)
    session.train(1)  # compiled before the clock starts
    seconds = 0.0
    if limit and not asked["episodes"]:
        goal = ENDLESS
        changing = any(isinstance(given.get(n), (list, tuple)) for n in ("alpha", "epsilon"))
        if scheduled and changing:
            seconds = PROBE * limit
            goal = int(_pace(session, seconds) * (limit - seconds) * SLOWER)
            goal = given["episodes"] = max(1, goal)
            print(f"time for {goal:,} games, over which alpha and epsilon change", flush=True)
    del session  # two need not fit side by side
    plan = {"asked": asked, "goal": goal, "limit": limit, "seconds": seconds, "cpu_seconds": 0.0}
    session = learner.Session(game, given, asked["seed"])
    return _signed(session, learner.DEFAULTS | given, asked["seed"]), plan


def _pace(session, seconds) -> float:
    """Return the games a second of the later half of some seconds of training."""
    for _ in range(2):
        began, before, taken, chunk = time.monotonic(), session.episode, 0.0, 1
        while taken < seconds / 2:
            session.train(chunk)
            taken, last = time.monotonic() - began, taken
            chunk = next_chunk(chunk, taken - last, min(CHUNK_SECONDS, seconds / 10))
    return (session.episode - before) / taken


def _resumed(part, game, asked) -> tuple:
    if not part.exists():
        raise ValueError(f"there is no {part} to go on with: leave out --resume")
    meta = Archive(part).meta
    if "training" not in meta:
        raise ValueError(f"{part} was not written by this command")
    before = meta["training"]["asked"]
    for name, ordinary in ORDINARY.items():
        if asked[name] not in (ordinary, before[name]):
            raise ValueError(f"{part} was begun with {name}={before[name]!r}: leave it out")
    if meta["card"]["sources"] != source_hash():
        print("The library has changed since: the end may differ from that without interruption.")
    kind = learner_of(before["learner"]).Session
    session = BaseSession.load.__func__(kind, part, game)  # an own one need not derive from it
    session = _signed(session, Archive(part).meta["card"]["parameters"], before["seed"])
    print(f"going on after {session.episode:,} games", flush=True)
    return session, meta["training"]


class Progress:
    """What is said while a session trains: pace, time left, and how well the agent plays."""

    def __init__(self, session, plan):
        self.session, self.plan = session, plan
        self.figure, self.cost, self.shown = "", 0.0, 0.0
        self.step = int(STEPS * self.share)

    @property
    def share(self) -> float:
        """How much of the training is done, in [0, 1]."""
        limit, games = self.plan["limit"], self.session.episode / self.plan["goal"]
        return min(1.0, max(games, self.plan["seconds"] / limit if limit else 0.0))

    @property
    def over(self) -> bool:
        """Whether all games are played, or the time is over."""
        return self.share >= 1.0

    def tell(self) -> None:
        """Write a line, after a few matches if it is time for them."""
        seconds, step = max(self.plan["seconds"], 1e-3), int(STEPS * self.share)
        allowed = COST * seconds - self.cost
        if new := step > self.step and allowed > 0 and not self.over:
            self.step, self.figure = step, ", " + self.measure(GAMES, allowed)
        now, terminal = time.monotonic(), sys.stdout.isatty()
        if terminal or new and now - self.shown > FIRST_LINES:
            left, rate = seconds / max(self.share, 1e-9) - seconds, self.session.episode / seconds
            text = f"{100 * self.share:3.0f}%, {self.session.episode:,} games, {rate:,.0f} a second"
            text += f", {left // 60:.0f}:{left % 60:02.0f} left{self.figure}"
            bar, wide = "#" * int(10 * self.share), shutil.get_terminal_size().columns - 1
            line = f"[{bar:.<10}] {text}"[:wide]
            print(f"\r{line:{wide}}" if terminal else text, end="\n" * (not terminal), flush=True)
            self.shown = now

    def measure(self, games: int, seconds: float) -> str:
        """Return how well the agent does in at most some games and some seconds."""
        game, (word, per_reward, unit) = self.session.game, self.session.game.progress
        whom = f" against {word}" if word else ""
        agent, began, scores = Greedy(self.session.net), time.monotonic(), []
        most = getattr(self.session, "params", {}).get("max_plies") or LONGEST
        rivals = [named(game, word) for _ in range(game.players - 1)]
        for k in range(games):
            seat = k % game.players
            seated = [*rivals[:seat], agent, *rivals[seat:]]
            seed = seed_from(self.plan["asked"]["seed"], "progress", self.session.episode, k)
            for place, player in enumerate(seated):
                player.new_match(game, [], place, seed_from(seed, place))
            end, _ = play_on(game, seated, game.start(seed), new_rng(seed), most)
            scores.append(float(game.score(end)[seat]))
            if time.monotonic() - began > seconds and (k + 1) % game.players == 0:
                break
        self.cost += time.monotonic() - began
        won, mean = 100 * win_rate(scores, game.score_range), per_reward * np.mean(scores)
        rate = mean if per_reward else won
        return f"{rate:{',.0f' if rate >= 100 else '.3g'}}{unit}{whom} ({len(scores)} games)"
