"""Where data and reports lie, and how files are written as a whole or not at all.

Two environment variables are read here: ``AFTERPLY_DATA`` and ``AFTERPLY_REPORTS``.
"""

import contextlib
import hashlib
import importlib
import io
import itertools
import json
import math
import os
import platform
import re
import secrets
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from .checks import path as checked_path

PACKAGED = Path(__file__).resolve().parent / "data"  # in a wheel: the data published with it
SIGNATURE = "sum"  # the last field of a JSON file: the checksum of the text before it
DEEPEST = 200  # lists and mappings within each other
MARK = ".made-by-afterply"  # the file in a folder that a command fills
LOOK_SECONDS = 0.02  # between two looks whether another process has ended its writing
MOST_OF_HEADER = 1 << 26  # bytes in memory; the longest one, of a checkpoint, takes some megabytes

_contents = None  # what was read so far, within `contents_read_once`


def chosen_place(variable: str) -> Path | None:
    """Return the file or folder that an environment variable names, or None.

    A relative path counts from the folder in which it was first read. The variable then holds the
    absolute path, also for processes that start in another folder.
    """
    if not os.environ.get(variable):
        return None
    path = Path(os.environ[variable]).expanduser().absolute()
    os.environ[variable] = str(path)
    return path


def data_directory() -> Path:
    """Return the repository's ``data`` directory; ``AFTERPLY_DATA`` overrides it.

    A package that is installed from a wheel has it in the current directory; it need not exist.
    FileNotFoundError if a checkout lacks it, or the variable names no directory.
    """
    chosen = chosen_place("AFTERPLY_DATA")
    if chosen:
        path = chosen
    else:
        path = Path(__file__).resolve().parents[2] / "data"
        if not path.is_dir() and PACKAGED.is_dir():
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
    if PACKAGED.is_dir() and not path.exists():
        return PACKAGED / name
    return path


def reports_directory() -> Path:
    """Return the directory for reports, beside ``data``; ``AFTERPLY_REPORTS`` overrides it."""
    return chosen_place("AFTERPLY_REPORTS") or data_directory().parent / "reports"


for _variable in ("AFTERPLY_DATA", "AFTERPLY_REPORTS"):  # before the current folder can change
    chosen_place(_variable)


def load_module(path):
    """Import a Python file by its path; it finds modules beside it, as a script does.

    ValueError if there is no such file, if it fails, or if another module has its name.
    """
    file = checked_path(path).resolve()
    if not file.is_file():
        raise ValueError(f"there is no file {path}")
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(file.stem)
    except Exception as error:
        raise ValueError(f"{path} ends with {type(error).__name__}: {error}") from error
    module_file = getattr(module, "__file__", None) or ""
    if Path(module_file).resolve() != file:
        raise ValueError(f"{path}: another module is called {file.stem}: rename the file")
    return module


@contextlib.contextmanager
def contents_read_once():
    """Read n-tuple lists, papers and other published files once, for a thousand arms.

    Otherwise each is read whenever it is asked for, since somebody may have edited it.
    """
    global _contents
    before = _contents
    _contents = {}
    try:
        yield
    finally:
        _contents = before


def once(what, read):
    """Return what the function `read` reads, which is new unless within `contents_read_once`.

    `what` tells apart what is read, and how.
    """
    if _contents is None:
        return read()
    if what not in _contents:
        _contents[what] = read()
    return _contents[what]


def file_digest(path) -> str:
    """Return a hash of the content of a file, 16 hex digits; "" if there is no such file."""
    path = Path(path)
    if not path.exists():
        return ""
    if path.suffix != ".npz":
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    # In an archive the arrays count, not how they were compressed.
    meta, arrays = read_npz(path)
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def writable(directory: Path, remedy: str) -> Path:
    """Return a directory, which is made if need be; OSError if no file can be written there."""
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
def replacing(path, mode=0o666):
    """Open a temporary file for writing, which replaces `path` at the end unless there is an error.

    If `path` is a link, its target is replaced. Devices and pipes are written to directly. `mode`
    says who may do what with a new file, before the umask. OSError if `path` cannot be written.
    """
    path = checked_path(path)
    try:
        with _write_stream(path) if _is_stream(path) else _replace_file(path, mode) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(
            f"{path} cannot be written ({error.strerror}): make room there, or choose another place"
        ) from error


@contextlib.contextmanager
def _replace_file(path, mode):
    """Open a temporary file that replaces `path` at the end; after an error it is removed."""
    target = Path(os.path.realpath(path))
    # Drawn, since in a container every process has the number 1; `tempfile` would heed no umask.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # or a power cut may leave an empty file of this name
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C, too
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _write_stream(path):
    """Open a buffer that is written to a device or a pipe at the end."""
    buffer = io.BytesIO()  # a writer of archives goes back, which streams cannot
    yield buffer
    with _open_stream(path) as stream:
        stream.write(buffer.getbuffer())


def _is_stream(path) -> bool:
    """Return whether a path is a device or a pipe, or the file that this process prints to."""
    path = Path(path)
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    return is_special or _output_stream(path) is not None


def _output_stream(path):
    """Return stdout or stderr if the path is that stream, such as /dev/stdout, else None."""
    for stream in (sys.stdout, sys.stderr):
        # the stream may have no file, and the path may not exist
        with contextlib.suppress(AttributeError, OSError, ValueError):
            if os.path.samestat(os.stat(path), os.fstat(stream.fileno())):
                return stream
    return None


def _open_stream(path):
    """Open a device or a pipe; what is printed to stays where it is."""
    stream = _output_stream(path)
    if stream:
        stream.flush()
        return os.fdopen(os.dup(stream.fileno()), "wb")
    return open(path, "wb")


def write_text(path, text: str) -> None:
    """Write a text file as a whole or not at all; a file with this text already stays untouched."""
    content = text.encode()
    file = checked_path(path)
    if not _is_stream(path) and file.is_file() and file.read_bytes() == content:
        return
    with replacing(path) as opened:
        opened.write(content)


@contextlib.contextmanager
def one_writer(path, seconds: float = 0.0):
    """Keep other processes, and threads, from writing a file or folder meanwhile, as they ask here.

    The lock is a file beside it, ``.NAME.lock``, which says who has it. The system frees it when
    this process ends, also by ``kill -9``. BlockingIOError if another one has it after `seconds`.
    Where there are no such locks (Windows, some network drives), nobody is kept out.
    """
    path = checked_path(path)
    lock = None if _is_stream(path) else _locked(path, seconds)
    try:
        yield
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):
                os.unlink(lock.name)  # before it is free, or the lock of the next one would go
            lock.close()


def _locked(path, seconds):
    """Return the file of the lock of a path, open and locked; None where that cannot be."""
    target = Path(os.path.realpath(path))
    name = target.with_name(f".{target.name}.lock")
    deadline = time.monotonic() + seconds
    while True:
        try:
            import fcntl

            name.parent.mkdir(parents=True, exist_ok=True)
            file = open(name, "a+")
        except (ImportError, OSError):  # nothing can be written here: the one who tries will say so
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.stat(name), os.fstat(file.fileno())):
                file.truncate(0)
                file.write(f"process {os.getpid()} on {platform.node()}")
                file.flush()
                return file
        except FileNotFoundError:  # the one before has just removed it
            pass
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                file.seek(0)
                holder = file.read() or "another process"
                file.close()
                raise BlockingIOError(
                    f"{path} is being written by {holder}: wait until that has ended, or name"
                    " another place"
                ) from error
            time.sleep(LOOK_SECONDS)
        except OSError:  # a drive without locks
            file.close()
            return None
        file.close()


# where libyaml is present it reads the same language ten times as fast
_YAML: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NUMBERS_AND_WORDS = {  # of the core schema of YAML 1.2: kind -> how its texts look, and begin
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?(0|[1-9][0-9]*)", list("-+0123456789")),
    "float": (
        r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)"
        r"|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
}


class _StrictYAML(_YAML):
    """YAML in which nothing is dropped and nothing guessed.

    Numbers are those of YAML 1.2: 1:37, 0141 and 1_000 are texts, and so are yes and 2020-01-01. No
    key stands twice in a mapping. An alias stands for a text or a number, so that no list holds
    itself, and none becomes huge.
    """

    yaml_implicit_resolvers = {}
    texts = frozenset()  # keys whose contents are texts as they are written: 007, true, 1e3

    def get_single_node(self):
        node = super().get_single_node()
        if node is not None:
            self._check(node, set())
        return node

    def _check(self, node, seen):
        """Raise MarkedYAMLError for what is refused in a node, or in what it holds."""
        if isinstance(node, yaml.ScalarNode):
            return
        if id(node) in seen:
            raise yaml.MarkedYAMLError(
                problem="an alias (*name) stands for a whole list or mapping: write it out",
                problem_mark=node.start_mark,
            )
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for part in node.value:
                self._check(part, seen)
            return
        keys = set()
        for key, content in node.value:
            if (key.tag, str(key.value)) in keys:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} stands there twice: keep one of them",
                    problem_mark=key.start_mark,
                )
            keys.add((key.tag, str(key.value)))
            if key.value in self.texts:
                _keep_texts(content)
            self._check(content, seen)


for _kind, (_form, _first_letters) in _NUMBERS_AND_WORDS.items():
    _StrictYAML.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(f"^(?:{_form})$"), _first_letters
    )


def _keep_texts(node):
    """Make texts of the words and numbers of a node, of a list's entries, of a mapping's keys."""
    if isinstance(node, yaml.ScalarNode):
        if node.value and not node.style:
            node.tag = "tag:yaml.org,2002:str"
        return
    for part in node.value:
        key_or_entry = part[0] if isinstance(part, tuple) else part
        if isinstance(key_or_entry, yaml.ScalarNode):
            _keep_texts(key_or_entry)


def parse_yaml(text: str, texts=()):
    """Return what a text in YAML says; ValueError for what is no YAML, or not clear.

    `texts` are keys whose contents are texts as they are written, such as 007.
    """
    if _is_deep(text):  # libyaml would overflow the stack of the process
        raise ValueError("its lists and mappings are too deep")
    loader = type("_YAMLWithTexts", (_StrictYAML,), {"texts": frozenset(texts)})
    try:
        return yaml.load(text, Loader=loader)
    except RecursionError:
        raise ValueError("its lists and mappings are too deep") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace('"<unicode string>", ', "")) from error


def _is_deep(text) -> bool:
    """Return whether brackets, or the dashes of a line, may open too many lists in each other."""
    steps = (1 if sign in "[{" else -1 for sign in re.findall(r"[][{}]", text))
    deepest = max(itertools.accumulate(steps), default=0)
    return deepest > DEEPEST or re.search(rf"([-?:]\s+){{{DEEPEST}}}", text) is not None


def parse_json(text, missing: bool = False):
    """Return what a text in JSON says; ValueError for a key that stands twice, or no number.

    With `missing` a number may be NaN, which Python writes for one that is missing.
    """
    try:
        refused = None if missing else _no_number
        return json.loads(text, object_pairs_hook=_each_key_once, parse_constant=refused)
    except RecursionError:
        raise ValueError("its lists and mappings are too deep") from None


def _each_key_once(pairs) -> dict:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands there twice: keep one of them")
    return fields


def _no_number(word):
    raise ValueError(f"{word} is no number")


def read_yaml(path, texts=(), ended: bool = False) -> dict:
    """Return the fields of a YAML file; ValueError names the file and line of what is damaged.

    `texts` are those of :func:`parse_yaml`. A file that is `ended` has ``...`` as its last line,
    without which it was cut off.
    """

    def parse(text):
        if ended and text.splitlines()[-1:] != ["..."]:
            raise ValueError("its last line is not '...': it was cut off")
        return parse_yaml(require_end(text), texts)

    return _read_fields(path, parse, "YAML")


def read_json(path) -> dict:
    """Return the fields of a JSON file; ValueError names the file and line of what is damaged."""
    return _read_fields(path, parse_json, "JSON")


def require_end(text: str) -> str:
    """Return a text that has an end, a line break or a bracket; ValueError if it may be cut off."""
    if text and not text.endswith(("\n", "}", "]")):
        last = text.splitlines()[-1][-40:]
        raise ValueError(
            f"its last line, {last!r}, was cut off, or lacks the line break at its end"
        )
    return text


def _read_fields(path, parse, language):
    try:
        content = parse(checked_path(path).read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"it must be a mapping of fields, not {type(content).__name__}")
        return content
    except ValueError as error:
        reason = " ".join(str(error).split())
        message = f"{path}: not valid {language}: {reason}; correct or restore it (git checkout)"
        raise ValueError(message) from error


def write_signed(path, content: dict) -> None:
    """Write a JSON file that ends with the checksum of its text, for :func:`read_signed`."""
    text = json.dumps(content, indent=1, allow_nan=False).removesuffix("\n}") + ",\n"
    write_text(path, text + _signature(text))


def read_signed(path) -> dict:
    """Return the fields of a file of :func:`write_signed`; ValueError if any of them was edited."""
    content = read_json(path)
    whole = Path(path).read_text(encoding="utf-8")
    text, _, _ = whole.rpartition(f' "{SIGNATURE}"')
    if whole != text + _signature(text):
        raise ValueError(
            f"{path} does not say what was written: it was edited, or its checksum {SIGNATURE!r} is"
            " missing; restore it (git checkout) or make it again"
        )
    del content[SIGNATURE]
    return content


def _signature(text: str) -> str:
    """Return the end of a file whose text begins so: the checksum of that."""
    checksum = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f' "{SIGNATURE}": "{checksum}"\n}}\n'


# Folders that a command makes its own


def own_folder(folder, files=None) -> Path:
    """Return a folder that a command may fill: a new or an empty one, or one that it has filled.

    The file `MARK` in it says so. Where only some `files` are written, others may stand beside
    them. FileExistsError names a folder that holds anything else.
    """
    folder = checked_path(folder).resolve()  # a link stays, what it leads to is filled
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file: name a folder")
    mark = folder / MARK
    if not mark.exists():
        present = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
        foreign = [name for name in present if files is None or name in files]
        if foreign:
            raise FileExistsError(
                f"{folder} was not made by this command, which would replace {foreign[0]} in it:"
                " name another folder, or delete that yourself"
            )
    write_text(mark, "This folder is written by a command of afterply.\n")
    return folder


def emptied_folder(folder) -> Path:
    """Return a folder of a command's own (see :func:`own_folder`) that holds nothing else."""
    folder = own_folder(folder)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARK:
            path.unlink()
    return folder


def write_npz(path, meta: dict, arrays: dict, compressed: bool = False) -> None:
    """Write arrays and a header in JSON as a whole or not at all; compression takes seconds."""
    write = np.savez_compressed if compressed else np.savez
    with replacing(path) as file:
        write(file, meta=np.array(json.dumps(meta, sort_keys=True)), **arrays)


class Archive:
    """A file of :func:`write_npz`; each array is read when asked for; ValueError if damaged.

    A small file may state arrays that fill the memory, since zeros take no room in it. Whoever
    reads a foreign one asks for the `form` of an array before the array. With a `prefix` it is the
    part of the file whose names begin so, and the names are without it.
    """

    def __init__(self, path, prefix: str = ""):
        self.path = path
        path = checked_path(path)
        self._prefix = prefix
        with self._reporting_damage():
            self._file = zipfile.ZipFile(path)
            members = [name.removesuffix(".npy") for name in self._file.namelist()]
            if len(set(members)) < len(members):
                raise ValueError("two of its arrays have the same name")
            if self._form("meta")[2] > MOST_OF_HEADER:
                raise ValueError(f"its header takes more than {MOST_OF_HEADER >> 20} MiB")
            self.meta = parse_json(str(self._array("meta")))
        if not isinstance(self.meta, dict):
            raise damaged(path, "its header is no mapping")
        own = {name for name in members if name.startswith(prefix)} - {"meta"}
        self.names = {name.removeprefix(prefix) for name in own}

    def __contains__(self, name):
        return name in self.names

    def __getitem__(self, name):
        with self._reporting_damage():
            return self._array(self._prefix + name)

    def form(self, name) -> tuple:
        """Return type and shape of an array, which is not read."""
        with self._reporting_damage():
            return self._form(self._prefix + name)[:2]

    def num_bytes(self, names) -> int:
        """Return how many bytes some arrays take in memory; none is read."""
        with self._reporting_damage():
            return sum(self._form(self._prefix + name)[2] for name in names)

    def _form(self, name) -> tuple:
        """Return type, shape and number of bytes that an array states; ValueError if it lies."""
        with self._file.open(f"{name}.npy") as member:
            if np.lib.format.read_magic(member) != (1, 0):  # others may state a header of any size
                raise ValueError(f"{name} has another format than this library writes")
            shape, _, dtype = np.lib.format.read_array_header_1_0(member)
            num_bytes = dtype.itemsize * math.prod(shape)
            if member.tell() + num_bytes != self._file.getinfo(f"{name}.npy").file_size:
                raise ValueError(f"{name} has not the size that it states")
        return dtype, shape, num_bytes

    def _array(self, name):
        """Return an array, whose stated form is checked before there is memory for it."""
        self._form(name)
        with self._file.open(f"{name}.npy") as member:
            return np.lib.format.read_array(member, allow_pickle=False)

    @contextlib.contextmanager
    def _reporting_damage(self):
        """Turn whatever reading a damaged archive raises into an error that names the file."""
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:
            raise damaged(self.path, error) from error


def read_npz(path) -> tuple[dict, dict]:
    """Return header and arrays of :func:`write_npz`; ValueError if the file is damaged."""
    archive = Archive(path)
    return archive.meta, {name: archive[name] for name in archive.names}


def damaged(path, why) -> ValueError:
    """Return the error for a file that is not as it was written."""
    return ValueError(f"{path} is damaged: {why}; delete it and train again")


def out_of_range(arrays: dict, limits: dict) -> str:
    """Return the name of the first array with a number out of its range [low, high), or "".

    Numbers must be finite, also in arrays without `limits`.
    """
    for name, array in arrays.items():
        low, high = limits.get(name, (-np.inf, np.inf))
        is_valid = (low <= array) & (array < high) & np.isfinite(array)
        if not is_valid.all():
            return name
    return ""


def open_learned(path, kind, game, header, arrays) -> Archive:
    """Open a file with what was learned, of which no array is read yet.

    `header` maps the fields that the file must have to their types, `arrays` is the set of arrays
    that it must have. ValueError if one is missing, or the file is of another kind or game.
    """
    archive = Archive(path)
    meta = archive.meta
    if meta.get("kind") != kind:
        raise ValueError(f"{path} holds {meta.get('kind')!r}, not {kind}")
    required = {"game": dict, **header}
    missing = [field for field, type_ in required.items() if type(meta.get(field)) is not type_]
    missing += sorted(arrays - archive.names)
    if missing:
        raise damaged(path, f"it lacks {', '.join(missing)}")
    game_of_file = {name: meta["game"].get(name) for name in game.identity}
    if game_of_file != game.identity:
        raise ValueError(f"{path} holds {kind} of {game_of_file}, not of {game.identity}")
    return archive


def with_checksum(path, net, meta):
    """Return a network that was read from a file; ValueError if its checksum is not the file's."""
    if net.checksum() != meta.get("checksum"):
        raise damaged(path, "its values do not have the checksum it states")
    return net
