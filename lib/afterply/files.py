"""Where data and reports lie, and files that are never half written.

Two environment variables are read here: ``AFTERPLY_DATA`` and ``AFTERPLY_REPORTS``.
"""

import contextlib
import hashlib
import importlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import yaml

PACKAGED = Path(__file__).resolve().parent / "data"  # in a wheel: what is published with it


def chosen_place(variable: str) -> Path | None:
    """Return the file or folder that an environment variable names, or None.

    A relative one means what it meant when it was first read: the variable then holds the whole
    path, also for processes that are started in another folder.
    """
    if not os.environ.get(variable):
        return None
    path = Path(os.environ[variable]).expanduser().absolute()
    os.environ[variable] = str(path)
    return path


def data_directory() -> Path:
    """Return the repository's ``data`` directory; ``AFTERPLY_DATA`` overrides it.

    Of a package that is installed from a wheel it is in the current directory, and need not exist.
    """
    chosen = chosen_place("AFTERPLY_DATA")
    path = chosen or Path(__file__).resolve().parents[2] / "data"
    if not chosen and not path.is_dir() and PACKAGED.is_dir():
        return Path.cwd() / "data"
    if not path.is_dir():
        raise FileNotFoundError(
            f"the data directory {path} does not exist: run from a checkout of the repository or"
            " set AFTERPLY_DATA to its data folder"
        )
    return path


def published_file(name: str) -> Path:
    """Return where a published file or folder lies: in ``data``, else inside the wheel."""
    path = data_directory() / name
    return PACKAGED / name if PACKAGED.is_dir() and not path.exists() else path


def reports_directory() -> Path:
    """Return the directory for reports, beside ``data``; ``AFTERPLY_REPORTS`` overrides it."""
    return chosen_place("AFTERPLY_REPORTS") or data_directory().parent / "reports"


for _variable in ("AFTERPLY_DATA", "AFTERPLY_REPORTS"):  # before anybody changes the folder
    chosen_place(_variable)


def load_module(path):
    """Import a Python file by its path, as a script is run: modules beside it are found.

    ValueError if there is none, or another module has its name.
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise ValueError(f"there is no file {path}")
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(file.stem)
    except Exception as error:
        raise ValueError(f"{path} ends with {type(error).__name__}: {error}") from error
    if Path(getattr(module, "__file__", None) or "").resolve() != file:
        raise ValueError(f"{path}: another module is called {file.stem}: rename the file")
    return module


def file_digest(path) -> str:
    """Return 16 hex digits that tell the content of a file from others; "" if there is none."""
    path = Path(path)
    if not path.exists():
        return ""
    if path.suffix != ".npz":
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    # of an archive the arrays count, not how they were packed
    meta, arrays = read_npz(path)
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def writable(directory: Path, remedy: str) -> Path:
    """Return a directory, made if there is none, or raise OSError if nothing can be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"afterply")
    except OSError as error:
        raise OSError(
            f"the cache directory {directory} cannot be written ({error.strerror}): {remedy}"
        ) from error
    return directory


@contextlib.contextmanager
def replacing(path):
    """Open a temporary file that takes the place of `path` when all is written, else goes.

    Of a link the target is replaced, not the link; a device or a pipe is written as it is.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        if _is_stream(path):
            whole = io.BytesIO()  # many have no places, to which a writer of archives goes back
            yield whole
            with _opened(path) as stream:
                stream.write(whole.getbuffer())
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # or a power cut leaves an empty file of this name
        os.replace(temporary, target)
    except BaseException as error:  # a full disk, Ctrl-C
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            why = f"{path} cannot be written ({error.strerror}): make room there"
            raise OSError(f"{why}, or choose another place") from error
        raise


def _printed(path):
    """Return which of our own streams a path is, as /dev/stdout is one, or None."""
    for own in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # it has no file, or no path
            if os.path.samestat(os.stat(path), os.fstat(own.fileno())):
                return own
    return None


def _is_stream(path) -> bool:
    """Return whether a path is a device or a pipe, or where we print, be that a file."""
    path = Path(path)
    return path.exists() and not (path.is_file() or path.is_dir()) or _printed(path) is not None


def _opened(path):
    if own := _printed(path):
        own.flush()
        return os.fdopen(os.dup(own.fileno()), "wb")  # goes on where we are
    return open(path, "wb")


def write_text(path, text: str) -> None:
    """Write a text file as a whole or not at all; one that says the same already is left alone."""
    content = text.encode()
    if not _is_stream(path) and Path(path).is_file() and Path(path).read_bytes() == content:
        return
    with replacing(path) as file:
        file.write(content)


def read_yaml(path) -> dict:
    """Return the fields of a YAML file; ValueError names file and line of what is damaged."""
    # the same language, ten times faster where libyaml is present
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return _read(path, lambda text: yaml.load(text, Loader=loader), "YAML")


def read_json(path) -> dict:
    """Return the fields of a JSON file; ValueError names file and line of what is damaged."""
    return _read(path, json.loads, "JSON")


def _read(path, parse, language):
    try:
        content = parse(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"it must be a mapping of fields, not {type(content).__name__}")
        return content
    except (yaml.YAMLError, ValueError) as error:
        said = " ".join(str(error).split())
        message = f"{path}: not valid {language}: {said}; correct or restore it (git checkout)"
        raise ValueError(message) from error


def write_npz(path, meta: dict, arrays: dict, compressed: bool = False) -> None:
    """Write arrays and a JSON header as a whole or not at all; compression takes seconds."""
    write = np.savez_compressed if compressed else np.savez
    with replacing(path) as file:
        write(file, meta=np.array(json.dumps(meta, sort_keys=True)), **arrays)


class Archive:
    """A file of :func:`write_npz`, each array read when asked for; ValueError if it is damaged."""

    def __init__(self, path):
        self.path = path
        self._file = self._read(lambda: np.load(path, allow_pickle=False))
        self.names = self._read(lambda: set(self._file.files) - {"meta"})
        self.meta = self._read(lambda: json.loads(str(self._file["meta"])))
        if not isinstance(self.meta, dict):
            raise damaged(path, "its header is no mapping")

    def __contains__(self, name):
        return name in self.names

    def __getitem__(self, name):
        return self._read(lambda: self._file[name])

    def _read(self, part):
        try:
            return part()
        except FileNotFoundError:
            raise
        except Exception as error:  # whatever reading a broken archive raises
            raise damaged(self.path, error) from error


def read_npz(path) -> tuple[dict, dict]:
    """Return header and arrays of :func:`write_npz`; ValueError names the file if damaged."""
    archive = Archive(path)
    return archive.meta, {name: archive[name] for name in archive.names}


def damaged(path, why) -> ValueError:
    """Make the error for a file that is not as it was written."""
    return ValueError(f"{path} is damaged: {why}; delete it and train again")


def out_of_range(arrays: dict, limits: dict) -> str:
    """Return the name of an array whose numbers are not finite and in its [low, high), or ""."""
    for name, array in arrays.items():
        low, high = limits.get(name, (-np.inf, np.inf))
        if not ((low <= array) & (array < high) & np.isfinite(array)).all():
            return name
    return ""


def read_learned(path, kind, game, header, arrays) -> tuple[dict, dict]:
    """Return header and arrays of what was learned; ValueError if they are not as wanted."""
    meta, found = read_npz(path)
    if meta.get("kind") != kind:
        raise ValueError(f"{path} holds {meta.get('kind')!r}, not {kind}")
    header = {"game": dict, **header}
    wrong = [name for name, kinds in header.items() if type(meta.get(name)) is not kinds]
    wrong += sorted(arrays - set(found))
    if wrong:
        raise damaged(path, f"it lacks {', '.join(wrong)}")
    have = {name: meta["game"].get(name) for name in game.identity}
    if have != game.identity:
        raise ValueError(f"{path} holds {kind} of {have}, not of {game.identity}")
    return meta, found


def with_checksum(path, net, meta):
    """Return what was read from a file, or raise ValueError if it is not what was written."""
    if net.checksum() != meta.get("checksum"):
        raise damaged(path, "its values do not have the checksum it states")
    return net
