"""What every test meets: optional packages hidden on demand."""

import os
import shutil
import sys

import pytest

from afterply.opponents import optional

# the notebooks train, as in the profile quick; without it they show the recorded runs
os.environ.setdefault("AFTERPLY_PROFILE", "quick")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LONG = ("slow", "engine")
TOUCHES_AN_ENGINE = ("BitBully", "bitbully", "gtp.")  # in the text of a notebook


class Hidden:
    """Let imports of hidden packages fail as if they were not installed."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in optional.ORACLES and optional.hidden(name.partition(".")[0]):
            raise ModuleNotFoundError(f"No module named {name!r} (AFTERPLY_HIDE)", name=name)


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium, driven by playwright; AFTERPLY_BROWSER names another one."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright")
    found = [*filter(None, [os.environ.get("AFTERPLY_BROWSER"), *map(shutil.which, BROWSERS)])]
    if not found:
        pytest.skip(f"no browser to click in ({', '.join(BROWSERS)})")
    options = dict(executable_path=found[0], args=["--no-sandbox", "--disable-gpu"])
    with sync_api.sync_playwright() as driver, driver.chromium.launch(**options) as running:
        yield running


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One more than processors: tests wait for processes a sixth of their time."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None


def pytest_configure(config):
    sys.meta_path.insert(0, Hidden())


def pytest_ignore_collect(collection_path, config):
    """Import no file of tests of which the choice ``-m engine`` leaves nothing."""
    if config.option.markexpr == "engine" and collection_path.match("test_*.py"):
        return "mark.engine" not in collection_path.read_text(encoding="utf-8") or None
    return None


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.suffix == ".ipynb":
            source = item.path.read_text(encoding="utf-8")
            item.add_marker(
                pytest.mark.engine
                if any(word in source for word in TOUCHES_AN_ENGINE)
                else pytest.mark.slow
            )
    # Workers take whole files: one with slow tests that came last would leave the others idle.
    is_slow = {item.path for item in items for mark in item.iter_markers() if mark.name in LONG}
    items.sort(key=lambda item: item.path not in is_slow)
