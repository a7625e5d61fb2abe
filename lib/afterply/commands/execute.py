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

AT_ONCE = 8  # notebooks that read records
TRAIN_AT_ONCE = 2  # notebooks that train: each uses all processors anyway
START_SECONDS = 600  # until a kernel answers, on a machine that has much else to do
STYLED = re.compile(r"(?<!\w)T_[0-9a-f]{5}(?![0-9A-Za-z])")  # random names of styled tables
INJECTED = "Set by the command that made this copy, in place of the value above"
MOVED = "# Drawn by a cell below; in this copy the picture stands beside the answer."
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

    def __init__(self, profile, target, log, parameters):
        self.profile = profile
        self.target = target
        self.log = log
        self.parameters = parameters  # on top of those of the profile
        self.clients = set()
        self.stopped = threading.Event()

    def execute(self, path, bar):
        """Execute a notebook and write its copy; return why it failed, or ""."""
        start = time.monotonic()
        notebook = load_notebook_node(str(path))
        values = profile_parameters(path, self.profile, self.parameters)
        if values:
            notebook = parameterize_notebook(notebook, values, comment=INJECTED)
        cause = self._run(path, notebook, bar)
        if self.stopped.is_set():
            return cause
        copy = self.target / path.name
        if cause:
            write_text(copy, _failure(cause) + "\n")
            title = f"FAILED: {cause}"
        else:
            picture_first(notebook)
            write_text(copy, without_traces(notebook, copy) + "\n")
            title = _title(notebook)
        time_taken = duration(time.monotonic() - start)
        self.log.write(f"\n# {path.name}: {time_taken}\n{_printed(notebook)}")
        number = path.stem.partition("_")[0]
        self.log.say(f"{number}  {title:{TITLE_WIDTH}} {time_taken}")
        return cause

    def _run(self, path, notebook, bar) -> str:
        """Run the cells of a notebook; return why one failed, or ""."""

        def stop_between_cells(**cell):
            if self.stopped.is_set():
                raise RuntimeError("stopped")

        client = NotebookClient(
            notebook,
            timeout=None,
            startup_timeout=START_SECONDS,
            extra_arguments=["--log-level=50"],  # kernels say how they are connected
            kernel_manager_class=Kernel,
            resources={"metadata": {"path": str(folder().parent)}},
            on_cell_start=stop_between_cells,
            on_cell_complete=lambda **cell: bar.update(),
        )
        import_path = os.pathsep.join(filter(None, sys.path))  # if nothing is installed
        # nobody watches; see studies.profiles
        settings = {"PYTHONPATH": import_path, "AFTERPLY_BATCH": path.stem}
        self.clients.add(client)
        try:
            client.execute(env=os.environ | settings)
        except (CellExecutionError, RuntimeError, OSError, ValueError) as error:
            # a cell raised, or the kernel was killed, for example for its memory
            self.log.write(f"\n# {path.name} failed\n{error}")  # and where
            if isinstance(error, CellExecutionError):
                return f"{error.ename}: {error.evalue}".strip()
            return str(error).strip()
        finally:
            self.clients.discard(client)
            atexit.unregister(client._cleanup_kernel)  # which it forgets after an error
        return ""

    def stop(self):
        """End all kernels; a terminal does not hand Ctrl-C to them."""
        self.stopped.set()
        for client in list(self.clients):
            process = getattr(getattr(client.km, "provisioner", None), "process", None)
            if process is not None:
                process.kill()


def run_all(paths, profile, target, log, parameters=None, meanwhile=lambda: None):
    """Execute notebooks and write copies into a folder, a note in the place of one that failed.

    Returns those that failed with the causes, and what the function `meanwhile` returns, which is
    called as soon as the first ones run.
    """
    first, last = list(paths), []
    at_once = AT_ONCE
    if profile == QUICK:  # they train
        last = [path for path in paths if _reads_others(path)]
        first = [path for path in paths if path not in last]
        at_once = TRAIN_AT_ONCE
    this_pass = _Pass(profile, Path(target), log, parameters)
    bar = tqdm(
        total=sum(map(_num_code_cells, paths)),
        desc="cells",
        file=log.screen,
        leave=False,
        disable=not log.screen.isatty(),
    )
    causes = {}
    with bar, ThreadPoolExecutor(min(at_once, where_to_work()[0])) as pool:
        try:
            running = {path.stem: pool.submit(this_pass.execute, path, bar) for path in first}
            result = meanwhile()
            causes |= {name: future.result() for name, future in running.items()}
            running = {path.stem: pool.submit(this_pass.execute, path, bar) for path in last}
            causes |= {name: future.result() for name, future in running.items()}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            this_pass.stop()
            raise
    failed = {name: cause for name, cause in causes.items() if cause}
    return failed, result


def _reads_others(path) -> bool:
    """Return whether a notebook needs the records of others, as its metadata say."""
    return '"reads": "other notebooks"' in path.read_text(encoding="utf-8")


def _num_code_cells(path) -> int:
    return path.read_text(encoding="utf-8").count('"cell_type": "code"')


def _title(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = re.search(r"(?m)^# (.*)", cell.source)
            if heading:
                return re.sub(r"[*`]", "", heading[1])[:TITLE_WIDTH]
    return ""


def _printed(notebook) -> str:
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                texts.append(output.text)
    return "".join(texts)


def _failure(cause):
    """Return a notebook that says what went wrong; what is recorded stays on the pages."""
    cause = cause.replace(f"{folder().parent}/", "")
    note = f"**This notebook failed.**\n\n```\n{cause}\n```\n"
    cell = {"cell_type": "markdown", "id": "failed", "metadata": {}, "source": note}
    content = {"cells": [cell], "metadata": {"failed": True}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1) + "\n"


def picture_first(notebook) -> None:
    """Move what the cell with the tag "picture" shows up to the answer, in front of all code.

    Few viewers fold code, so a reader of the copy would have to scroll past what declares the arms.
    """
    for cell in notebook.cells:
        if "picture" in cell.metadata.get("tags", ()):
            break
    else:
        return
    printed = [output for output in cell.outputs if output.output_type == "stream"]
    moved = [
        nbformat.v4.new_output("display_data", output.data, metadata=output.metadata)
        for output in cell.outputs
        if output.output_type in ("display_data", "execute_result")
    ]
    cell.outputs = printed
    hidden = {"jupyter": {"source_hidden": True}}
    picture = nbformat.v4.new_code_cell(MOVED, id="picture", metadata=hidden, outputs=moved)
    kinds = [cell.cell_type for cell in notebook.cells]
    notebook.cells.insert(kinds.index("code"), picture)


def without_traces(notebook, before: Path | None = None) -> str:
    """Return a notebook's text without clock times, random names and places of the machine.

    A cell with the tag "clock" measures time: while its source is the same, what it showed in the
    copy `before` stays, or every run of the notebook would change the copy.
    """
    CoalesceStreamsPreprocessor().preprocess(notebook, {})  # time decides in which pieces it prints
    for cell in notebook.cells:
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.id = "injected-parameters"
    for part in [notebook, *notebook.cells]:
        for name in ("papermill", "execution"):
            part.metadata.pop(name, None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    _keep_measured(notebook, before)
    text = nbformat.writes(notebook)
    for place in {str(folder().parent), str(PACKAGE.parents[1])}:
        text = text.replace(json.dumps(place + "/")[1:-1], "")
    text = re.sub(r" at 0x[0-9a-f]+(?=>)", "", text)  # where an object stood in memory
    for number, name in enumerate(dict.fromkeys(STYLED.findall(text))):
        text = text.replace(name, f"T_table{number}")
    return text


def _keep_measured(notebook, before) -> None:
    clocks = [cell for cell in notebook.cells if "clock" in cell.metadata.get("tags", ())]
    if not clocks or before is None or not before.exists():
        return
    former = {}
    for cell in nbformat.read(before, 4).cells:
        former[cell.get("id"), cell.source] = cell.get("outputs")
    for cell in clocks:
        cell.outputs = former.get((cell.id, cell.source)) or cell.outputs
