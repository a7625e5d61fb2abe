"""Pages that learn: the same bits as a session, a curve that grows, a game at any moment."""

import numpy as np
import pytest
from test_page import Machine

from afterstate import games
from afterstate.learners import td
from afterstate.screen import learn_page
from afterstate.screen.page import SMALLER, linked

pytest.importorskip("ziglang", reason="no linker for WebAssembly")
EPISODES = {"tictactoe": 2000, "nim3p": 5000, "connect4": 200, "game2048": 10}
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
    usual = game.settings | SMALLER.get(name, {})
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
    session = td.Session(game, game.settings | {"sigmoid": False}, seed=7)
    shown, said = browser.new_page(), []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.goto(learn_page(session, tmp_path / "learn.html").as_uri())
    shown.wait_for_function("globalThis.afterstate")

    def points():
        return shown.locator("polyline:not(.before)").first.get_attribute("points").split()

    shown.locator("#go").click()
    shown.locator("#learned", has_text="games a second").wait_for()
    few = len(points())
    shown.locator(".as-legal").first.click()  # while it learns
    shown.wait_for_function("afterstate.moves.length >= 3 && afterstate.turn !== 'them'")
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


def test_what_a_page_does_not_learn():
    with pytest.raises(ValueError, match="what a td.Session learns, not 'nim'"):
        learn_page("nim")
