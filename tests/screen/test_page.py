"""Pages: the same bits as the library, also of learning; drawings and moves, games by clicks."""

import ctypes
import random
import re

import numpy as np
import pytest

from afterply import games, players
from afterply.checks import to_install
from afterply.commands.cli import main
from afterply.files import published_file, read_yaml
from afterply.games.boards import winning_places
from afterply.games.game import Game
from afterply.kernel import link
from afterply.kernel.random import new_rng
from afterply.learners import td
from afterply.networks import lookup, ntuple
from afterply.screen import learn_page
from afterply.screen import page as make_page
from afterply.screen.page import SMALLER, kernels, linked, positions
from afterply.search.puct import Search
from sample_games import dice

pytest.importorskip("ziglang", reason="no linker for WebAssembly")
NETWORKS = [n for n, card in players.zoo().items() if "tictactoe" not in card["file"]]
COLOURS = """[...document.querySelectorAll("#cube div")].map((side) =>
    new Set([...side.children].map((square) => square.style.background)).size)"""
TWISTS = [face + turns for face in "ULF" for turns in ("", "2", "'")]  # of the 2x2x2
POSITIONS, SEARCHES, ITERATIONS = 150, 8, 500


class Machine:
    """The module of a page in wasmtime; `views` are its arrays, by name."""

    def __init__(self, made):
        wasmtime = pytest.importorskip("wasmtime", reason="no wasmtime to run modules")
        self._store, self._memory = wasmtime.Store(), made.memory
        module = wasmtime.Module(self._store.engine, made.module)
        self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        pages = self._exports["memory"]
        self.base = -(-self._exports["__heap_base"].value(self._store) // 64) * 64
        room = self.base + made.memory.size - pages.data_len(self._store)
        pages.grow(self._store, max(0, -(-room // 65536)))
        self._begin = ctypes.addressof(pages.data_ptr(self._store).contents)
        self.view(0, np.zeros(len(made.memory.image), np.uint8))[:] = bytearray(made.memory.image)
        self.weights = self.view(made.memory.place(made.weights), made.weights)
        self.weights[:] = made.weights
        self.views = {n: self.view(made.memory.place(a), a) for n, a in made.arrays.items()}
        self.floats = {entry: floats for entry, (_, floats) in made.memory.calls.items()}

    def view(self, place, like):
        at = self._begin + self.base + place
        return np.frombuffer((ctypes.c_char * like.nbytes).from_address(at), like.dtype)

    def call(self, entry, *numbers):
        given = [self.base + place for place in self._memory.calls[entry][0]] + self.floats[entry]
        return self._exports[entry](self._store, *given, *numbers)


def differences(machine, net, states) -> int:
    """How many answers about positions differ between a module and the library."""
    game, views, wrong = net.game, machine.views, 0
    for state in states:
        views["state"][:] = state
        wrong += machine.call("over") != game.over(state)
        machine.call("board"), machine.call("score")
        wrong += views["cells"].tobytes() != game.board(state).tobytes()
        wrong += views["reward"].tobytes() != game.score(state).tobytes()
        if game.over(state):
            continue
        legal = game.legal(state)
        n = machine.call("legal")
        wrong += views["moves"][:n].tobytes() != legal.tobytes()
        wrong += machine.call("player") != game.player(state)
        machine.call("look", n)
        wrong += views["worth"][:n].tobytes() != net.action_values(state).tobytes()
        action, dice = int(legal[len(legal) // 2]), new_rng(n)
        views["dice"][:] = dice
        machine.call("play", action), machine.call("chance")
        wrong += views["state"].tobytes() != game.next(state, action, dice).tobytes()
    return wrong


def searched(machine, state):
    views = machine.views
    views["state"][:], views["luck"][:], views["progress"][0] = state, new_rng(0), 0
    machine.call("plant")
    assert machine.call("iterate", ITERATIONS) == 0  # there was room
    block = slice(views["first"][0], views["first"][0] + views["slots"][0])
    return views["visits"][block].tolist(), views["mean"][block].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_a_module_computes_the_same_bits(name):
    net = ntuple.load(published_file("models") / players.zoo()[name]["file"], games.load(name))
    made = kernels(net.game, net)
    machine = Machine(made)
    states = positions(net.game, new_rng(1), POSITIONS)
    assert differences(machine, net, states) == 0
    going_on = [state for state in states if not net.game.over(state)]
    if made.search:
        native = Search(net.game, net, ITERATIONS)
        for state in going_on[:: len(going_on) // SEARCHES][:SEARCHES]:
            native.plant(state)
            visits = native.run(ITERATIONS).visits.tolist()
            mean = native.tree.mean[native.tree.first[0] :][: len(visits)]
            assert searched(machine, state) == (visits, mean.tobytes())
    # one weight, one unit in the last place
    after = net.game.play(going_on[0], int(net.game.legal(going_on[0])[0]))
    index = np.zeros(len(net.arrays.offset), np.uint32)
    lookup.features(net.arrays, net.game.board(after), index)
    read = index + net.game.player(going_on[0]) * net.arrays.set_size
    one = read[np.argmax(np.abs(machine.weights[read]))]
    machine.weights[one] = np.nextafter(machine.weights[one], np.float32(9))
    assert differences(machine, net, going_on[:1]) == 1


def drawings_of(shown, game, states):
    """What the page draws of positions without values, and what the library draws."""
    ask = "(s) => afterply.drawn(Int32Array.from(s))"
    theirs = [shown.evaluate(ask, state.tolist()) for state in states]
    return theirs, [str(game.view(state)) for state in states]


def same_moves(shown, game, states):
    """Name and places of all legal actions are those of the library."""
    for state in states:
        ask = "([s, legal]) => legal.map((a) => afterply.tell(Int32Array.from(s), a))"
        legal = game.legal(state).tolist()
        told = shown.evaluate(ask, [state.tolist(), legal])
        assert told == [[game.action_name(state, a), game.places(state, a)] for a in legal]


def test_what_makes_no_page_says_why(tmp_path, monkeypatch, capsys):
    with pytest.raises(ValueError, match="plays n-tuple networks, tables and games, not <player"):
        make_page(players.MCTS(10), tmp_path / "a.html")
    with pytest.raises(ValueError, match="zoo hex> and <player zoo othello> share no page"):
        make_page(players.zoo("hex"), tmp_path / "a.html", other=players.zoo("othello"))
    with pytest.raises(ValueError, match="what a td.Session learns, not 'nim'"):
        learn_page("nim")
    monkeypatch.setattr(link.importlib.util, "find_spec", lambda name: None)
    assert main(["page", "nim", "--out", str(tmp_path / "a.html")]) == 2
    assert to_install("web") in capsys.readouterr().err
    monkeypatch.setattr(link, "LINKING", "of_another_version")
    with pytest.raises(ImportError, match="has no of_another_version; see the head of kernel/link"):
        make_page(games.load("nim"), tmp_path / "a.html")


def test_agents_of_a_pair_learned_with_the_same_settings():
    pages = read_yaml(published_file("models/played.yaml"))["pages"].items()
    for place, pair in [(place, pair) for place, pair in pages if pair["agents"]]:
        first, second = (_how(pair["game"], file) for file in pair["agents"].values())
        differ = {name for name in first if first[name] != second[name]}
        assert differ == ({"episodes"} if place.startswith("early") else {"farl"}), place


def _how(game, file):
    """How an agent in a file learned."""
    found, own = players.load(published_file("models") / file), players.zoo(game)
    card = own.card if own.card["file"] == file else found.card
    assert found.net.checksum() == card["checksum"]
    return card["parameters"] | {"episodes": card["episodes"]}


# ------------------------------------------------------------------------------------ in a browser
def opened(browser, address):
    """A page that is ready, and what goes wrong on it or is asked of other hosts."""
    shown, said = browser.new_page(), []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.on("request", lambda request: said.extend(re.findall("^http.*", request.url)))
    shown.goto(address)
    shown.wait_for_function("globalThis.afterply")
    return shown, said


def barriers(shown) -> list:
    """What keeps people from using a page, as axe finds it."""
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    return [rule["id"] for rule in axe.run(shown)["violations"]]


def wins_by_the_same_places(shown, game):
    """The page and the library mark the same line or chain at the end of random games."""
    ask, rng = "(m) => { afterply.begin(0, m); return afterply.line(); }", random.Random(1)
    for _ in range(30):
        moves = []
        while not game.over(state := game.after(moves)):
            moves.append(rng.choice(game.legal(state).tolist()))
        assert sorted(shown.evaluate(ask, moves)) == sorted(winning_places(game, state))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["connect4", "tictactoe", "morris", "dice"])
def test_a_page_from_the_disk_is_played_by_clicks(browser, tmp_path, name):
    agent = dice(2, 3) if name == "dice" else players.zoo(name)
    net = None if isinstance(agent, Game) else agent.net
    game, file = net.game if net else agent, make_page(agent, tmp_path / "agent.html")
    (shown, said), rng = opened(browser, file.as_uri()), random.Random(name)
    states = [s for s in positions(game, new_rng(2), 40) if not game.over(s)][:20]
    ask = "async (states) => Promise.all(states.map((s) => afterply.engine.values(s)))"
    if net:
        values = shown.evaluate(ask, [s.tolist() for s in states])
        assert values == [net.action_values(s).tolist() for s in states]
        search = Search(game, net, 100)
        for state in states[:5]:
            search.plant(state)
            asked = "async (s) => (await afterply.engine.search(s, 100)).visits"
            assert shown.evaluate(asked, state.tolist()) == search.run(100).visits.tolist()
    assert barriers(shown) == []
    theirs, ours = drawings_of(shown, game, states)
    assert theirs == ours
    same_moves(shown, game, states)
    shown.locator(".as-values").click()
    for _ in range(400):
        shown.wait_for_function("afterply.turn !== 'them'")
        if shown.evaluate("afterply.turn") == "over":
            break
        for _ in range(3):  # from, to, taken
            offered = shown.locator(".as-action, .as-legal")
            if shown.evaluate("afterply.turn") == "you" and offered.count():
                offered.nth(rng.randrange(offered.count())).click()
    assert re.search("wins?\\.|draw", shown.locator(".as-status").text_content())
    moves, address = shown.evaluate("[afterply.moves, location.href]")
    cells = "[...document.querySelectorAll('.as-line')].map((e) => Number(e.dataset.cell))"
    assert sorted(shown.evaluate(cells)) == sorted(winning_places(game, game.after(moves)))
    if name in ("connect4", "tictactoe"):
        wins_by_the_same_places(shown, game)
    again, _ = opened(browser, address)
    assert again.evaluate("afterply.moves") == moves and said == []
    file.write_text(file.read_text().replace('id="module">', 'id="module">AAAA'))
    for script, words in (("", "damaged"), ("delete globalThis.DecompressionStream", "lacks")):
        broken = browser.new_page()
        broken.add_init_script(script)
        broken.goto(file.as_uri())
        broken.locator("#load.wrong", has_text=words).wait_for()


@pytest.mark.slow
def test_two_agents_show_one_position_and_play_each_other(browser, tmp_path):
    files = [published_file("models") / name for name in ("hex-early.npz", "hex.npz")]
    nets, boards = [players.load(file).net for file in files], ("afterply", "afterply.partner")
    links = {"All games": "index.html", "afterply": "../index.html", "Nim": "nim.html"}
    file = make_page(nets[0], tmp_path / "two.html", other=nets[1], links=links)
    shown, said = opened(browser, file.as_uri())
    assert barriers(shown) == [] and shown.locator("nav details a").text_content() == "Nim"
    game, state = nets[0].game, nets[0].game.start()
    for k, action in enumerate((14, 7)):  # a click on either board is a move on both
        for board, net in zip(boards, nets):
            shown.wait_for_function(f"{board}.scene.best && {board}.moves.length === {k}")
            values = shown.evaluate(f"{board}.engine.values({board}.state)")
            assert values == net.action_values(state).tolist()
        shown.locator(".afterply").nth(k).locator(f'[data-cell="{action}"]').click()
        state = game.play(state, action)
    shown.locator(".as-undo").first.click()
    shown.locator("#on").click()
    shown.wait_for_function("afterply.moves.length > 2")
    shown.locator("#on").click()
    while shown.evaluate("afterply.turn") != "over":  # step by step
        shown.locator("#move").click()
    moves = shown.evaluate("afterply.moves")
    assert moves == shown.evaluate("afterply.partner.moves") and said == []
    state = game.play(game.start(), 14)
    for action in moves[1:]:
        best = nets[game.player(state)].action_values(state).argmax()
        assert action == game.legal(state)[best]
        state = game.play(state, action)
    assert game.over(state)
    wins_by_the_same_places(shown, game)


@pytest.mark.slow
def test_a_cube_is_scrambled_by_as_many_twists_as_are_asked_for_and_solved(browser, tmp_path):
    agent = players.zoo("cube2")
    game, file = agent.net.game, make_page(agent, tmp_path / "cube.html")
    shown, said = opened(browser, file.as_uri())
    assert barriers(shown) == []
    one_twist = {game.board(game.parse(f"after {name}")).tobytes() for name in TWISTS}
    for _ in range(4):
        shown.locator("#twists").select_option("1")
        start = np.array(shown.evaluate("[...afterply.state]"), np.int32)
        assert game.board(start).tobytes() in one_twist and start[-1] == 0
        shown.locator("#on").click()
        shown.wait_for_function("afterply.turn === 'over'")
        assert len(shown.evaluate("afterply.moves")) == 1
        assert shown.evaluate(COLOURS) == [1] * 6  # of each side of the cube in space
        address = shown.evaluate("location.href")
        shown.locator("#twists").select_option("5")
    again, _ = opened(browser, address)
    assert again.evaluate("[...afterply.states[0]]") == start.tolist() and said == []


# ------------------------------------------------------------------------------ pages that learn
EPISODES = {"tictactoe": 1000, "nim3p": 1000, "connect4": 100, "game2048": 5}
SEED = 3
SETTINGS = [
    {"farl": "on", "lambda_": 0.7, "alpha": [0.9, 0.3]},
    {"farl": "off", "tc": "none", "lambda_": 0.0, "alpha": [0.25, 0.25]},
]


def taught(machine, made, told, params, episodes):
    """Learn in a module from the beginning, as a page with these settings does."""
    filled = len(made.memory.image)
    machine.view(filled, np.zeros(made.memory.size - filled, np.uint8))[:] = 0
    machine.views["coherence"][:] = told["floats"]["tc_init"]
    machine.views["rng"][:] = np.uint64(told["seeds"][SEED])
    first, last = params["alpha"]
    floats = {"alpha_first": first, "alpha_last": last, "lambda_": params["lambda_"]}
    machine.floats["train"] = [*(told["floats"] | floats).values()]
    free = {"farl_on": params["farl"] == "on", "tc_none": params["tc"] == "none"}
    free["trace_size"] = dict(told["traces"])[params["lambda_"]]
    machine.call("train", *(int(free[name]) for name in told["free"]), episodes)


@pytest.mark.slow
@pytest.mark.parametrize("name", EPISODES)
def test_a_module_learns_the_same_bits(name):
    game, episodes = games.load(name), EPISODES[name]
    usual = td.Session(game, **SMALLER.get(name, {})).params
    _, made, told = linked(td.Session(game, usual))
    machine = Machine(made)
    for settings in SETTINGS:
        params = usual | {"tc": told["tc"]} | settings
        native = td.Session(game, params, seed=SEED)
        native.train(episodes)
        taught(machine, made, told, params, episodes)
        assert machine.weights.tobytes() == native.net.weights.tobytes()
        assert machine.views["counts"].tolist() == native.counters.tolist()
        assert machine.views["rng"].tobytes() == native.mem.rng.tobytes()
        assert machine.views["error"].tobytes() == native.mem.abs_delta.tobytes()
        coherence = native.net.arrays.counters  # without it there are none
        assert machine.views["coherence"].tobytes().startswith(coherence.tobytes())
        if not native.net.active():  # without Final Adaptation nobody learns what Nim3P pays
            assert name == "nim3p" and settings["farl"] == "off"
            continue
        # a slightly other step size is seen
        other = params | {"alpha": [1.0001 * params["alpha"][0], params["alpha"][1]]}
        taught(machine, made, told, other, episodes)
        assert machine.weights.tobytes() != native.net.weights.tobytes()


@pytest.mark.slow
def test_a_page_from_the_disk_learns_and_is_played(browser, tmp_path):
    game = games.load("nim3p")
    session = td.Session(game, sigmoid=False, seed=7)
    shown, said = opened(browser, learn_page(session, tmp_path / "learn.html").as_uri())

    def points():
        return shown.locator("polyline:not(.before)").first.get_attribute("points").split()

    assert barriers(shown) == []
    shown.locator("#go").click()
    shown.locator("#learned", has_text="games a second").wait_for()
    few = len(points())
    shown.locator(".as-legal").first.click()  # while it learns
    shown.wait_for_function("afterply.moves.length >= 3 && afterply.turn !== 'them'")
    shown.wait_for_function(f"document.querySelector('polyline').points.length > {few + 3}")
    shown.locator("#go").click()
    shown.locator("#code", has_text="checksum").wait_for(state="attached")
    code = shown.locator("#code").text_content()
    ours = {"games": games, "td": td}
    exec(code, ours)
    assert 0 < ours["session"].episode <= session.params["episodes"]
    assert ours["session"].params == session.params | {"alpha": [0.2, 0.2]}
    assert code.endswith(f"# {ours['session'].net.checksum()}")
    shown.locator("#farl").click()  # starts again, and keeps the curve
    shown.locator("polyline.before").first.wait_for(state="attached")
    shown.locator("#code", has_text='"farl": "off"').wait_for(state="attached")
    assert shown.locator("#go").text_content() == "Go on" and said == []
    shown.locator("#alpha").fill("1e308")
    shown.locator("#last").fill("1e308")
    shown.locator("#farl").click()
    shown.locator("#learned", has_text="diverged: take a lower").wait_for()
