"""Real clicks and keys in a headless Chromium: whole games, values, undo, no other hosts asked."""

import contextlib
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.parse import urlsplit

import pytest

from small_studies import write_notebook

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright to drive the browser")
SETUP = """
from afterply import games, players, screen
from afterply.files import published_file
from afterply.networks import ntuple

def net(game):
    return ntuple.load(published_file("models") / f"{game.name}.npz", game)
"""


GAMES = {
    "tictactoe": 'screen.play(games.load("tictactoe"), seed=1)',
    "connect4": 'game = games.load("connect4"); screen.play(game, net(game))',
    "othello": 'game = games.load("othello"); screen.play(game, net(game), seat=1)',
    "morris": 'screen.play(games.load("morris"), players.MinMax(2), advice=players.MinMax(1))',
    "checkers": 'screen.play(games.load("checkers"), players.zoo("checkers"))',
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
LINES = {"tictactoe": 3, "connect4": 4}  # places in a line that wins
ARROWS = "ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"
BY_KEYS = [("keys", "tictactoe"), ("keys", "connect4"), ("keys", "checkers")]
MOST_MOVES = 800
WAY = """(board, cell) => {  // from the cursor to a cell
    const shown = [".as-cursor", `[data-cell="${cell}"]`].map((s) => board.querySelector(s));
    const [a, b] = shown.map((place) => place?.getBoundingClientRect());
    return a && b && [b.x - a.x, b.y - a.y];
}"""
RUN_ALL = """async () => {
    const widget = jupyterapp.shell.currentWidget;
    await widget.context.ready;
    await widget.sessionContext.ready;
    await widget.sessionContext.session.kernel.info;
    void jupyterapp.commands.execute("notebook:run-all-cells");
}"""


@contextlib.contextmanager
def jupyter(folder):
    """Run JupyterLab on a folder; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    private = {"JUPYTER_CONFIG": "config", "JUPYTER_DATA": "data", "JUPYTER_RUNTIME": "runtime"}
    private |= {"JUPYTERLAB_SETTINGS": "config", "JUPYTERLAB_WORKSPACES": "data"}
    environment = os.environ | {f"{k}_DIR": str(folder / name) for k, name in private.items()}
    words = ["lab", "--no-browser", f"--port={port}", "--IdentityProvider.token=t", "--allow-root"]
    words += [f"--notebook-dir={folder}", "--expose-app-in-browser"]
    quiet = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
    (folder / "data").mkdir()
    overrides = folder / "config" / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(quiet))
    log, address = folder / "lab.log", f"http://127.0.0.1:{port}"
    with open(log, "w") as out:
        command = [sys.executable, "-m", "jupyter", *words]
        running = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        try:
            answers, deadline = False, time.monotonic() + 90
            while not answers:
                said = log.read_text()[-2000:]
                assert running.poll() is None and time.monotonic() < deadline, said
                time.sleep(0.3)
                with contextlib.suppress(OSError):
                    answers = urllib.request.urlopen(f"{address}/api?token=t", timeout=2).read()
            yield address
        finally:
            running.terminate()
            running.wait(240)


@pytest.fixture(scope="module")
def notebook(browser, tmp_path_factory):
    folder, fetched = tmp_path_factory.mktemp("lab"), []
    write_notebook(folder / "play.ipynb", SETUP, *GAMES.values(), REPLAY)
    with jupyter(folder) as address:
        page = browser.new_page(viewport={"width": 1100, "height": 1400})
        page.set_default_timeout(240_000)
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(f"{address}/lab/tree/play.ipynb?token=t&reset")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        page.evaluate(RUN_ALL)
        boards = {}
        for k, game in enumerate([*GAMES, "replay"]):
            cell = page.locator(".jp-CodeCell").nth(k + 1)
            cell.scroll_into_view_if_needed()
            boards[game] = cell.locator(".afterply")
            boards[game].wait_for()
        yield boards, fetched


def said_by(board):
    """Return what a board says: ply, turn, texts, size of the line, whether values are shown."""
    return board.evaluate(
        """e => ({ply: Number(e.dataset.ply), turn: e.dataset.turn,
        valued: e.dataset.valued === "yes",
        status: e.querySelector(".as-status").textContent,
        error: e.querySelector(".as-error").textContent,
        told: e.querySelector(".as-said").textContent,
        line: e.querySelectorAll(".as-line").length,
        strength: e.querySelector(".as-strength").textContent})"""
    )


def until(board, condition, seconds=240):
    """Wait until a board says something; return what it says."""
    deadline = time.monotonic() + seconds
    while not condition(said := said_by(board)):
        assert not said["error"], said["error"]
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
    return said


def press(board, button):
    """Click a button until the click arrives.

    The notebook may move its cells between a press and its release, which is no click then.
    """
    target = board.locator(button)
    target.evaluate(
        """e => { delete e.dataset.clicked;
        e.addEventListener("click", () => { e.dataset.clicked = "yes" }); }"""
    )
    while target.get_attribute("data-clicked") is None:
        target.click()


def move(board, rng, game, by="clicks"):
    """Make a move by clicks or by keys, or with an arrow in 2048; return what was said before."""
    before = until(board, lambda said: said["turn"] != "them")
    for _ in range(12):
        if said_by(board)["ply"] != before["ply"] or before["turn"] == "over":
            break
        if game == "game2048":
            board.locator(".as-board").press(rng.choice(ARROWS))
            break
        cells, buttons = board.locator(".as-legal"), board.locator(".as-action")
        offered = buttons if buttons.count() else cells
        number = offered.count()
        with contextlib.suppress(sync_api.Error):  # while the one before is on its way they vanish
            target = offered.nth(rng.randrange(max(1, number)))
            if number and (by == "clicks" or offered == buttons):
                target.click(timeout=3_000)
            elif number:
                pick_by_keys(board.locator(".as-board"), target, rng)
        time.sleep(0.05)
    return before


def pick_by_keys(board, target, rng):
    """Go to a place by arrow keys, and pick it."""
    cell, key = target.get_attribute("data-cell", timeout=3_000), "ArrowUp"  # to the first move
    for _ in range(40):
        board.press(key, timeout=3_000)
        if not (way := board.evaluate(WAY, cell)):  # another position is there
            return None
        right, down = way
        if abs(right) + abs(down) < 3:
            return board.press("Enter", timeout=3_000)
        left_right, up_down = ARROWS[2 if right > 0 else 0], ARROWS[3 if down > 0 else 1]
        key = left_right if rng.random() * (abs(right) + abs(down)) < abs(right) else up_down
    raise AssertionError("the arrow keys do not lead there")


@pytest.mark.slow
@pytest.mark.parametrize("by, game", [*(("clicks", game) for game in GAMES), *BY_KEYS])
def test_a_whole_game_is_played(notebook, by, game):
    board, rng = notebook[0][game], random.Random(game)
    board.scroll_into_view_if_needed()
    press(board, ".as-new")
    until(board, lambda said: said["turn"] == "you" and said["ply"] < 2)
    press(board, ".as-values")
    until(board, lambda said: said["valued"])
    before = move(board, rng, game, by)
    said = until(board, lambda said: said["ply"] > before["ply"] and said["turn"] != "them")
    assert game == "game2048" or " plays " in said["told"]
    press(board, ".as-undo")
    until(board, lambda said: said["ply"] == before["ply"] and said["turn"] == "you")
    press(board, ".as-values")
    until(board, lambda said: not said["valued"])
    for _ in range(MOST_MOVES):
        before = move(board, rng, game, by)
        if before["turn"] == "over":
            break
    said = said_by(board)
    assert said["turn"] == "over" and re.search("wins?\\.|draw|over", said["status"])
    won = game in LINES and "draw" not in said["status"]
    assert said["line"] == (LINES[game] if won else 0)
    press(board, ".as-new")
    said = until(board, lambda said: said["turn"] == "you" and said["ply"] <= 1)
    assert not said["error"] and not said["line"]


@pytest.mark.slow
def test_escape_lets_go_first_of_the_man_and_then_of_the_board(notebook):
    board = notebook[0]["checkers"]
    press(board, ".as-new")
    until(board, lambda said: said["turn"] == "you" and said["ply"] <= 1)
    man = board.locator('[data-cell="22"]')  # it has two moves
    pick_by_keys(board.locator(".as-board"), man, random.Random(1))
    assert board.locator(".as-picked").count() == 1
    board.locator(".as-board").press("Escape")
    assert not board.locator(".as-picked").count() and board.locator(".as-board:focus").count()
    board.locator(".as-board").press("Escape")
    assert not board.locator(".as-board:focus").count()


@pytest.mark.slow
def test_sides_are_switched_and_the_strength_is_set(notebook):
    board = notebook[0]["tictactoe"]
    press(board, ".as-new")
    press(board, ".as-switch")
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
    press(board, ".as-next")
    board.locator(".as-board").press("ArrowRight")
    said = at(2)
    assert "b3 loses value: a draw was there with b2, this is a loss" in said
    press(board, ".as-values")
    assert board.locator(".as-share").count() == 0
    board.locator("input[type=range]").fill("7")
    at(7)
    press(board, ".as-run")
    at(1)
    press(board, ".as-run")
    board.locator(".as-moves span").nth(3).click()
    assert "move 4 of 7" in at(4)


@pytest.mark.slow
def test_no_widget_asks_another_host(notebook):
    asked = map(urlsplit, notebook[1])
    assert {url.hostname for url in asked if url.scheme in ("http", "https")} == {"127.0.0.1"}
