"""Real clicks in a real browser: whole games, values, undo, and nothing asked of other hosts."""

import contextlib
import random
import time
from urllib.parse import urlsplit

import pytest

from .browser import jupyter, needs, page_of, said_by, write_notebook

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright to drive the browser")
SETUP = """
from afterstate import games, players, screen
from afterstate.files import published_file
from afterstate.networks import ntuple

def net(game):
    return ntuple.load(published_file("models") / f"{game.name}.npz", game)
"""
GAMES = {
    "tictactoe": 'screen.play(games.load("tictactoe"), seed=1)',
    "connect4": 'game = games.load("connect4"); screen.play(game, net(game))',
    "hex": 'game = games.load("hex"); screen.play(game, net(game))',
    "othello": 'game = games.load("othello"); screen.play(game, net(game), seat=1)',
    "morris": 'screen.play(games.load("morris"), players.MinMax(2), advice=players.MinMax(1))',
    "kalah": 'screen.play(games.load("kalah"), players.MinMax(2))',
    "game2048": """game = games.load("game2048")
screen.play(game, ntuple.Network(game, [[0, 1, 2, 3]]))""",
}
REPLAY = """
game = games.load("tictactoe")
moves = [0, 1, 4, 8, 2, 5, 6]  # the second player's first move loses
states = [game.after(moves[:k]) for k in range(len(moves) + 1)]
agent = ntuple.Network(game, [[0, 1, 2], [0, 4, 8]])
agent.weights[:] = 0.1
screen.replay(game, states, moves, agent)
"""
MOST_CLICKS = 800


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    browser, folder = needs(), tmp_path_factory.mktemp("lab")
    write_notebook(folder / "play.ipynb", [SETUP, *GAMES.values(), REPLAY])
    fetched = []
    with jupyter(folder) as address, page_of(browser, address, "play.ipynb", fetched) as page:
        page.set_default_timeout(240_000)
        boards = {}
        for k, game in enumerate([*GAMES, "replay"]):
            cell = page.locator(".jp-CodeCell").nth(k + 1)
            cell.scroll_into_view_if_needed()
            board = cell.locator(".afterstate")
            board.wait_for()
            boards[game] = board
        yield boards, fetched


def until(board, condition, seconds=60):
    """Wait until a board says something; return what it says."""
    deadline = time.monotonic() + seconds
    while not condition(said := said_by(board)):
        assert not said["error"], said["error"]
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
    return said


def move(board, rng, game):
    """Make a move by clicks, or with an arrow key in 2048; return what was said before."""
    before = until(board, lambda said: said["turn"] != "them")
    for _ in range(12):
        if said_by(board)["ply"] != before["ply"] or before["turn"] == "over":
            break
        if game == "game2048":
            board.press(rng.choice(("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown")))
            break
        cells, buttons = board.locator(".as-legal"), board.locator(".as-action")
        offered = buttons if buttons.count() else cells
        number = offered.count()
        if number:  # none while the click before is on its way; then they may vanish, too
            with contextlib.suppress(sync_api.Error):
                offered.nth(rng.randrange(number)).click(timeout=3_000)
        time.sleep(0.05)
    return before


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_is_played_by_clicks(notebook, game):
    board, rng = notebook[0][game], random.Random(game)
    board.scroll_into_view_if_needed()
    until(board, lambda said: said["turn"] == "you")
    board.locator(".as-values").click()
    until(board, lambda said: said["valued"])
    before = move(board, rng, game)
    until(board, lambda said: said["ply"] > before["ply"] and said["turn"] != "them")
    board.locator(".as-undo").click()
    until(board, lambda said: said["ply"] == before["ply"] and said["turn"] == "you")
    board.locator(".as-values").click()
    until(board, lambda said: not said["valued"])
    for _ in range(MOST_CLICKS):
        before = move(board, rng, game)
        if before["turn"] == "over":
            break
    said = said_by(board)
    assert said["turn"] == "over" and said["status"].startswith("The game is over")
    board.locator(".as-new").click()
    said = until(board, lambda said: said["turn"] == "you")
    assert said["ply"] <= 1 and not said["error"]


@pytest.mark.slow
def test_sides_are_switched_and_the_strength_is_set(notebook):
    board = notebook[0]["tictactoe"]
    board.locator(".as-new").click()
    board.locator(".as-switch").click()
    said = until(board, lambda said: said["ply"] == 1 and said["turn"] == "you")
    assert "you are o" in said["status"]
    board.locator("input[type=range]").fill("100")
    board.locator("input[type=range]").dispatch_event("change")
    until(board, lambda said: "100 Elo" in said["strength"])


@pytest.mark.slow
def test_a_game_is_replayed_with_values_judgement_and_tuples(notebook):
    board = notebook[0]["replay"]
    board.scroll_into_view_if_needed()

    def at(ply):
        sync_api.expect(board).to_have_attribute("data-told", "yes", timeout=60_000)
        sync_api.expect(board).to_have_attribute("data-ply", str(ply), timeout=60_000)
        return board.inner_text()

    at(0)
    assert board.locator(".as-share").count() == 3 and "next: a3" in at(0)
    board.locator(".as-share").first.click()
    assert board.locator(".as-shown").count() == 3
    board.locator(".as-next").click()
    board.press("ArrowRight")
    said = at(2)
    assert "b3 loses value: a draw was there with b2, this is a loss" in said
    board.locator(".as-values").click()
    assert board.locator(".as-share").count() == 0
    board.locator("input[type=range]").fill("7")
    at(7)
    board.locator(".as-run").click()
    at(1)
    board.locator(".as-run").click()
    board.locator(".as-moves span").nth(3).click()
    assert "move 4 of 7" in at(4)


@pytest.mark.slow
def test_no_widget_asks_another_host(notebook):
    asked = map(urlsplit, notebook[1])
    assert {url.hostname for url in asked if url.scheme in ("http", "https")} == {"127.0.0.1"}
