"""Notebooks executed side by side by the interpreter that runs here, and copies without traces.

A kernel ends with this process, also when it is killed. What notebooks print goes into a log; on
the screen are a line for each, and a bar.
"""

import atexit
import json
import os
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert.preprocessors.coalescestreams import CoalesceStreamsPreprocessor
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from tqdm import tqdm

from ..files import write_text
from ..kernel.source import PACKAGE
from ..studies.notebooks import folder, profile_parameters
from ..studies.profiles import QUICK
from ..studies.runs import where_to_work
from ..studies.sources import duration

AT_ONCE, TRAIN_AT_ONCE = 8, 2  # notebooks; while one trains, it uses all processors anyway
START_SECONDS = 600  # until a kernel answers, on a machine that has much else to do
STYLED = re.compile(r"(?<!\w)T_[0-9a-f]{5}(?![0-9A-Za-z])")  # random names of styled tables
TITLE_WIDTH = 80


class Kernel(AsyncKernelManager):
    """Starts kernels of this interpreter, whatever JUPYTER_PATH calls python3."""

    kernel_spec = KernelSpec(**get_kernel_dict())


class Log:
    """What a command says: all of it in a file, and of that on the screen what is for everybody."""

    def __init__(self, path):
        self.path, self.screen = Path(path), sys.stdout
        write_text(self.path, "")

    def write(self, text: str) -> None:
        """Write a text into the file alone."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text.rstrip() + "\n")

    def say(self, text: str) -> None:
        """Print a text, above a bar if there is one, and write it."""
        tqdm.write(text, file=self.screen)
        self.screen.flush()
        self.write(text)


class _Pass:
    """One pass over some notebooks: what is running, and whether it was stopped."""

    def __init__(self, profile, target, log, given):
        self.profile, self.target, self.log, self.given = profile, target, log, given
        self.clients, self.stopped = set(), threading.Event()

    def execute(self, path, bar):
        """Execute a notebook and write its copy; return why it failed, or ""."""
        began, cause = time.monotonic(), ""
        values = profile_parameters(path, self.profile, self.given)
        made = load_notebook_node(str(path))
        made = parameterize_notebook(made, values) if values else made

        def go_on(**cell):
            if self.stopped.is_set():
                raise RuntimeError("stopped")

        client = NotebookClient(
            made,
            timeout=None,
            startup_timeout=START_SECONDS,
            extra_arguments=["--log-level=50"],  # kernels say how they are connected
            kernel_manager_class=Kernel,
            resources={"metadata": {"path": str(folder().parent)}},
            on_cell_start=go_on,
            on_cell_complete=lambda **cell: bar.update(),
        )
        places = os.pathsep.join(filter(None, sys.path))  # if nothing is installed
        # nobody watches; see studies.profiles
        mine = {"PYTHONPATH": places, "AFTERPLY_BATCH": path.stem}
        self.clients.add(client)
        try:
            client.execute(env=os.environ | mine)
        except (CellExecutionError, RuntimeError, OSError, ValueError) as error:
            # a cell raised, or the kernel was killed, for example for its memory
            cause = f"{error.ename}: {error.evalue}" if hasattr(error, "ename") else str(error)
            self.log.write(f"\n# {path.name} failed\n{error}")  # and where
        finally:
            self.clients.discard(client)
            atexit.unregister(client._cleanup_kernel)  # which it forgets after an error
        if self.stopped.is_set():
            return cause
        cause, copy = cause.strip(), self.target / path.name
        write_text(copy, _failure(cause) if cause else without_traces(made, copy) + "\n")
        taken = duration(time.monotonic() - began)
        self.log.write(f"\n# {path.name}: {taken}\n{_printed(made)}")
        title = f"FAILED: {cause}" if cause else _title(made)
        self.log.say(f"{path.stem.partition('_')[0]}  {title:{TITLE_WIDTH}} {taken}")
        return cause

    def stop(self):
        """End all kernels; a terminal does not hand Ctrl-C to them."""
        self.stopped.set()
        for client in list(self.clients):
            process = getattr(getattr(client.km, "provisioner", None), "process", None)
            if process is not None:
                process.kill()


def run_all(paths, profile, target, log, given=None, meanwhile=lambda: None):
    """Execute notebooks and write copies into a folder, a note in the place of one that failed.

    Returns those that failed with the causes, and what the function `meanwhile` returns, which is
    called as soon as the first ones run.
    """
    trains = profile == QUICK
    # those with the metadata ``afterply: {"reads": "other notebooks"}`` need their records
    last = [p for p in paths if trains and '"reads": "other notebooks"' in p.read_text("utf-8")]
    cells = sum('"cell_type": "code"' in line for p in paths for line in open(p, encoding="utf-8"))
    at_once = min(TRAIN_AT_ONCE if trains else AT_ONCE, where_to_work()[0])
    this, causes, found = _Pass(profile, Path(target), log, given), {}, None
    bar = tqdm(
        total=cells, desc="cells", file=log.screen, leave=False, disable=not log.screen.isatty()
    )
    with bar, ThreadPoolExecutor(at_once) as pool:
        try:
            for part in ([path for path in paths if path not in last], last):
                begun = [(path.stem, pool.submit(this.execute, path, bar)) for path in part]
                found = meanwhile() if part is not last else found
                causes |= {name: one.result() for name, one in begun}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            this.stop()
            raise
    return {name: cause for name, cause in causes.items() if cause}, found


def _title(made):
    texts = [cell.source for cell in made.cells if cell.cell_type == "markdown"]
    headings = re.findall(r"(?m)^# (.*)", "\n".join(texts))
    return re.sub(r"[*`]", "", headings[0])[:TITLE_WIDTH] if headings else ""


def _printed(made) -> str:
    texts = [
        output.text
        for cell in made.cells
        for output in cell.get("outputs", ())
        if output.output_type == "stream"
    ]
    return "".join(texts)


def _failure(cause):
    """Return a notebook that says what went wrong; what is recorded stays on the pages."""
    cause = cause.replace(f"{folder().parent}/", "")
    note = f"**This notebook failed.**\n\n```\n{cause}\n```\n"
    cell = {"cell_type": "markdown", "id": "failed", "metadata": {}, "source": note}
    content = {"cells": [cell], "metadata": {"failed": True}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1) + "\n"


def without_traces(made, before: Path | None = None) -> str:
    """Return a notebook's text without clock times, random names and places of the machine.

    A cell with the tag "clock" measures time: while its source is the same, what it showed in the
    copy `before` stays, or every run of the notebook would change the copy.
    """
    CoalesceStreamsPreprocessor().preprocess(made, {})  # what was printed in pieces, as time had it
    for cell in made.cells:
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.id = "injected-parameters"
    for part in [made, *made.cells]:
        for name in ("papermill", "execution"):
            part.metadata.pop(name, None)
    made.metadata.get("language_info", {}).pop("version", None)
    _keep_measured(made, before)
    text = nbformat.writes(made)
    for place in {str(folder().parent), str(PACKAGE.parents[1])}:
        text = text.replace(json.dumps(place + "/")[1:-1], "")
    text = re.sub(r" at 0x[0-9a-f]+(?=>)", "", text)  # where an object stood in memory
    for number, name in enumerate(dict.fromkeys(STYLED.findall(text))):
        text = text.replace(name, f"T_table{number}")
    return text


def _keep_measured(made, before) -> None:
    clocks = [cell for cell in made.cells if "clock" in cell.metadata.get("tags", ())]
    known = nbformat.read(before, 4).cells if clocks and before and before.exists() else []
    shown = {(cell.get("id"), cell.source): cell.get("outputs") for cell in known}
    for cell in clocks:
        cell.outputs = shown.get((cell.id, cell.source)) or cell.outputs
