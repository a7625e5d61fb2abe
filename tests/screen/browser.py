"""A JupyterLab of our own and a headless Chromium that clicks in it."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

RUN_ALL = """async () => {
    const widget = jupyterapp.shell.currentWidget;
    await widget.context.ready;
    await widget.sessionContext.ready;
    await widget.sessionContext.session.kernel.info;
    void jupyterapp.commands.execute("notebook:run-all-cells");
}"""


def needs():
    """Return the path of the system's browser, or skip the test and say what is missing."""
    found = [os.environ.get("AFTERSTATE_BROWSER"), *map(shutil.which, BROWSERS)]
    if not any(found):
        pytest.skip(f"no browser ({', '.join(BROWSERS)}) to click in a notebook")
    return next(filter(None, found))


@contextlib.contextmanager
def jupyter(folder):
    """Run JupyterLab on a folder; yield its address with the token."""
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
    with open(folder / "lab.log", "w") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "jupyter", *words], env=environment, stdout=log, stderr=log
        )
        try:
            address = f"http://127.0.0.1:{port}"
            deadline = time.monotonic() + 90
            while not _answers(address):
                said = (folder / "lab.log").read_text()[-2000:]
                assert running.poll() is None and time.monotonic() < deadline, said
                time.sleep(0.3)
            yield address
        finally:
            running.terminate()
            running.wait(60)


def _answers(address) -> bool:
    try:
        urllib.request.urlopen(f"{address}/api?token=t", timeout=2).read()
    except OSError:
        return False
    return True


def write_notebook(path, cells):
    """Write a notebook of code cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, path)


@contextlib.contextmanager
def page_of(browser, address, notebook, fetched):
    """Open a notebook, run all its cells, and yield the page; hosts it asks go into `fetched`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=browser, args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            page = running.new_page(viewport={"width": 1100, "height": 1400})
            page.set_default_timeout(60_000)
            page.on("request", lambda request: fetched.append(request.url))
            page.goto(f"{address}/lab/tree/{notebook}?token=t&reset")
            page.wait_for_selector(".jp-Notebook .jp-CodeCell")
            page.evaluate(RUN_ALL)
            yield page
        finally:
            running.close()


def said_by(board):
    """Return what a board says: ply, turn, status, error, strength, whether values are shown."""
    return board.evaluate(
        """e => ({ply: Number(e.dataset.ply), turn: e.dataset.turn,
        valued: e.dataset.valued === "yes",
        status: e.querySelector(".as-status").textContent,
        error: e.querySelector(".as-error").textContent,
        strength: e.querySelector(".as-strength").textContent})"""
    )
