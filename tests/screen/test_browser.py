"""Real clicks in a headless Chromium: whole games, values, undo, nothing asked of other hosts."""

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.parse import urlsplit

import pytest

from small_studies import write_notebook

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright to drive the browser")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
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
    "othello": 'game = games.load("othello"); screen.play(game, net(game), seat=1)',
    "morris": 'screen.play(games.load("morris"), players.MinMax(2), advice=players.MinMax(1))',
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
            running.wait(60)


@contextlib.contextmanager
def page_of(browser, address, notebook, fetched):
    """Open a notebook, run all its cells, and yield the page; hosts it asks go into `fetched`."""
    options = dict(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
    with sync_api.sync_playwright() as driver, driver.chromium.launch(**options) as running:
        page = running.new_page(viewport={"width": 1100, "height": 1400})
        page.set_default_timeout(240_000)
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(f"{address}/lab/tree/{notebook}?token=t&reset")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        page.evaluate(RUN_ALL)
        yield page


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    found = [os.environ.get("AFTERSTATE_BROWSER"), *map(shutil.which, BROWSERS)]
    if not any(found):
        pytest.skip(f"no browser ({', '.join(BROWSERS)}) to click in a notebook")
    browser, folder, fetched = next(filter(None, found)), tmp_path_factory.mktemp("lab"), []
    write_notebook(folder / "play.ipynb", SETUP, *GAMES.values(), REPLAY)
    with jupyter(folder) as address, page_of(browser, address, "play.ipynb", fetched) as page:
        boards = {}
        for k, game in enumerate([*GAMES, "replay"]):
            cell = page.locator(".jp-CodeCell").nth(k + 1)
            cell.scroll_into_view_if_needed()
            boards[game] = cell.locator(".afterstate")
            boards[game].wait_for()
        yield boards, fetched


def said_by(board):
    """Return what a board says: ply, turn, status, error, strength, whether values are shown."""
    return board.evaluate(
        """e => ({ply: Number(e.dataset.ply), turn: e.dataset.turn,
        valued: e.dataset.valued === "yes",
        status: e.querySelector(".as-status").textContent,
        error: e.querySelector(".as-error").textContent,
        strength: e.querySelector(".as-strength").textContent})"""
    )


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
            board.locator(".as-board").press(rng.choice(("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown")))
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
    board.locator(".as-board").press("ArrowRight")
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
