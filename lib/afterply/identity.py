"""What tells a thing from all others: the one answer to the question "who is this?".

Keys of records, files of matches, leagues and marks of golden runs hold what :func:`identity` says
of the games, learners, evaluators, players and networks behind them. A name alone never stands for
a content:

* What belongs to this package stands there by name, version and settings. Whoever changes its
  numbers raises the version; golden runs and playthroughs notice if somebody does not.
* Everything else has the hash of its content beside the version: its code, what the code refers to,
  and what the thing holds. Code means functions, lambdas and partials with their defaults and
  closures, classes with their base classes, modules with what they import, also within functions.
  Installed packages stand there by name, this one by name and version, not by the place of a
  module, which may move.
* What no content can tell is refused, unless it states a `version` of its own.

A hash cannot know what a function reads when it is called: a data file, an environment variable,
another program. Who uses such a thing gives it a `version`, and raises that when the file changes.
Hashes of code that is not installed hold byte code, so they differ from one Python to the next.
"""

import ast
import dataclasses
import dis
import functools
import hashlib
import importlib.machinery
import inspect
import sys
import sysconfig
from pathlib import Path

import numpy as np

from .kernel.source import PACKAGE

PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
PLACES = ("stdlib", "platstdlib", "purelib", "platlib")  # of Python's and of installed modules
INSTALLED = (PACKAGE, *(Path(sysconfig.get_path(name)).resolve() for name in PLACES))
# what an error says to somebody whose thing cannot be told from others
REMEDY = "set its attribute version (VERSION), and raise that when its numbers change"


def identity(thing):
    """Return what tells `thing` from others, as data for JSON.

    Numbers, texts, lists and dictionaries stand for themselves. A learner gives name and version;
    a dataclass, such as an evaluator, name, version and settings; a class, a function or a
    ``partial`` of one, which make players, name, version and arguments. A thing with an attribute
    `identity`, such as a game, says it itself. What is not of this package has a `content` as well,
    and so have objects that do not declare their settings.

    Raises
    ------
    ValueError
        If the content of `thing` cannot be known and it states no version.

    Examples
    --------
    >>> from functools import partial
    >>> from afterply import learners, players
    >>> identity(learners.td)
    {'name': 'td', 'version': 1}
    >>> identity(partial(players.MaxN, 10))
    {'player': 'MaxN', 'version': 1, 'arguments': [10, {}]}
    """
    if isinstance(thing, PLAIN):
        return thing.item() if isinstance(thing, np.generic) else thing
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    if isinstance(thing, dict):
        return {name: identity(value) for name, value in thing.items()}
    if isinstance(thing, (list, tuple, range)):
        return [identity(part) for part in thing]
    if is_learner(thing):
        said, complete = {"name": thing.NAME, "version": thing.VERSION}, in_package(thing)
    elif is_maker(thing):
        said, complete = _identity_of_maker(thing)
    elif hasattr(thing, "identity"):
        said, complete = thing.identity, in_package(thing)
    elif dataclasses.is_dataclass(thing):
        said, complete = identity_of_fields(thing), in_package(thing)
    else:
        name = getattr(thing, "name", type(thing).__qualname__)
        said = {"name": name, "version": getattr(thing, "version", None)}
        complete = False
    return said if complete else said | {"content": _content_or_version(thing)}


def is_learner(thing) -> bool:
    """Return whether something is a learner: a module, or a class in a notebook."""
    return all(hasattr(thing, name) for name in ("NAME", "VERSION", "Session"))


def is_maker(thing) -> bool:
    """Return whether something is a class or function, or a ``partial`` of one."""
    return inspect.isclass(thing) or inspect.isroutine(thing) or _is_partial(thing)


def _is_partial(thing) -> bool:
    return isinstance(thing, functools.partial)


def _identity_of_maker(maker) -> tuple[dict, bool]:
    kind = maker.func if _is_partial(maker) else maker
    positional, by_name = (maker.args, maker.keywords) if _is_partial(maker) else ((), {})
    said = {
        "player": kind.__name__,
        "version": getattr(kind, "version", 1),
        "arguments": identity([*positional, by_name]),
    }
    return said, in_package(kind)


def identity_of_fields(thing) -> dict:
    """Return name, version and settings of a dataclass: its fields, and its own `settings`."""
    fields = [field.name for field in dataclasses.fields(thing) if field.compare]
    stated = getattr(thing, "settings", None) or {}
    settings = {name: getattr(thing, name) for name in fields} | stated
    return {
        "name": getattr(thing, "name", type(thing).__qualname__),
        "version": getattr(thing, "version", None),
        "settings": {
            name: identity(value)
            for name, value in settings.items()
            if name not in ("name", "version")
        },
    }


def _content_or_version(thing) -> str | None:
    """Return the hash of a content; None if it cannot be known but a version speaks for it."""
    try:
        return content_hash(thing)
    except ValueError:
        own = vars(type(thing)) | getattr(thing, "__dict__", {})
        if own.get("version") is None:  # one of its own, not of the class that it derives from
            raise
        return None


def content_hash(thing) -> str:
    """Return a hash of what a thing is made of: its code with all that it uses, and its data."""
    content = repr(_Content(thing).of(thing))
    return "source-" + hashlib.sha256(content.encode()).hexdigest()[:12]


def package_file(thing) -> str | None:
    """Return which file of this package defines a module, class, function or object, if any."""
    file = _file_of(thing)
    if file is None or not file.is_relative_to(PACKAGE):
        return None
    return file.relative_to(PACKAGE).as_posix()


def in_package(thing) -> bool:
    """Return whether this package defines a module, class, function or object."""
    return package_file(thing) is not None


def _module_of(thing) -> str:
    """Return the name of the module that defines something; "" in a notebook or a script."""
    if inspect.ismodule(thing):
        return thing.__name__
    definition = thing if inspect.isroutine(thing) or inspect.isclass(thing) else type(thing)
    if hasattr(thing, "py_func"):  # a kernel
        definition = thing.py_func
    name = getattr(definition, "__module__", None) or "builtins"
    return "" if name == "__main__" else name


def _file_of(thing) -> Path | None:
    file = getattr(sys.modules.get(_module_of(thing)), "__file__", None)
    return Path(file).resolve() if file else None


def _is_installed_file(file: Path) -> bool:
    return any(file.is_relative_to(place) for place in INSTALLED)


def _is_installed(thing) -> bool:
    module = sys.modules.get(_module_of(thing))
    file = _file_of(thing)
    if file is None:  # built in, or of a notebook
        return module is not None
    return _is_installed_file(file)


def _package_name(thing) -> tuple:
    """Return how a class or function of this package stands in a hash: by name and version."""
    module = sys.modules[_module_of(thing)]
    version = getattr(thing, "version", None) or getattr(module, "VERSION", None)
    return PACKAGE.name, getattr(thing, "__qualname__", thing.__name__), version


class _Content:
    """What a thing is made of: nested values whose `repr` says all of it."""

    def __init__(self, thing):
        self.thing = thing
        self.seen = []

    def of(self, value):
        """Return the content of a value that the thing is, holds or refers to."""
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, (list, tuple)):
            return type(value).__name__, [self.of(part) for part in value]
        if isinstance(value, (set, frozenset)):
            return "set", sorted(repr(self.of(part)) for part in value)
        if isinstance(value, dict):
            pairs = sorted(value.items(), key=lambda pair: repr(pair[0]))  # equal in any order
            return "dict", [self.of(pair) for pair in pairs]
        if inspect.ismethod(value):
            return self.of((value.__func__, value.__self__))
        for place, one in enumerate(self.seen):
            if one is value:
                return "seen", place
        self.seen.append(value)
        if inspect.ismodule(value):
            return self.module(value)
        if inspect.isroutine(value) or inspect.isclass(value) or hasattr(value, "py_func"):
            return self.code_of(value)
        if callable(getattr(value, "checksum", None)):  # a network
            return type(value).__qualname__, value.checksum(), self.of(_settings(value))
        if hasattr(value, "identity"):
            return self.of(value.identity)
        return self.object(value)

    def module(self, module):
        """Return the name of an installed module, of another one all sources behind it."""
        file = _file_of(module)
        if file is None or _is_installed_file(file):
            return _stable_name(module.__name__)
        return module.__name__, sources_behind_file(file)

    def code_of(self, thing):
        """Return what a function, a kernel or a class is made of; an installed one by its name."""
        if in_package(thing):
            return _package_name(thing)
        if _is_installed(thing):
            return f"{thing.__module__}.{getattr(thing, '__qualname__', thing.__name__)}"
        return self.of_class(thing) if inspect.isclass(thing) else self.function(thing)

    def of_class(self, kind):
        """Return the members of a class, and its base classes."""
        members = {}
        for name, member in vars(kind).items():
            # the function behind a static method, class method or property
            member = getattr(member, "__func__", getattr(member, "fget", member))
            if name[:2] != "__" or _is_written(member):
                members[name] = member
        bases = [self.of(base) for base in kind.__bases__ if base is not object]
        return [(name, self.of(members[name])) for name in sorted(members)], bases

    def function(self, function):
        """Return the instructions of a function, its defaults, closure and attributes."""
        function = getattr(function, "py_func", function)
        if not hasattr(function, "__code__"):
            raise self.unknown(function)
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_bound(cell)]
        defaults = [function.__defaults__, sorted((function.__kwdefaults__ or {}).items())]
        held = self.of([cells, defaults, vars(function)])
        return self.code(function.__code__, function), held

    def code(self, code, function):
        """Return the instructions, and what their constants, names and imports stand for."""
        parts = []
        for constant in code.co_consts:  # also of lambdas and comprehensions
            if inspect.iscode(constant):
                parts.append(self.code(constant, function))
            elif constant != function.__doc__:
                parts.append(self.of(constant))
        known = function.__globals__
        used = [known[name] for name in code.co_names if name in known]
        for module in used:  # of this package what is taken from it counts, such as players.MaxN
            if inspect.ismodule(module) and in_package(module):
                taken = [getattr(module, name, None) for name in code.co_names]
                used += [one for one in taken if one is not None and one not in used]
        names = [_stable_name(name) for name in code.co_names]
        contents = [self.of(one) for one in used]
        return code.co_code, names, parts, contents, self.imports(code, function)

    def imports(self, code, function):
        """Return the sources behind the modules that a function imports when it is called."""
        instructions = dis.Bytecode(code)
        imported = [each.argval for each in instructions if each.opname == "IMPORT_NAME"]
        package = function.__globals__.get("__package__") or ""
        file = function.__globals__.get("__file__")
        folders = [str(Path(file).resolve().parent)] if file else []
        found = {}
        for module in imported:
            for name in (module, f"{package}.{module}".strip(".")):
                source = find_module(name, folders)
                if source is not None:
                    found |= sources_behind_file(source)
        return sorted(found.items())

    def object(self, value):
        """Return what an object is made of: its class and its state, as it would be pickled."""
        try:
            return self.of(value.__reduce_ex__(2))
        except TypeError as error:
            raise self.unknown(value) from error

    def unknown(self, value) -> ValueError:
        """Return the error for a part whose content cannot be known."""
        return ValueError(
            f"{self.thing!r} needs a version, because it refers to {value!r}, whose content"
            f" cannot be known: {REMEDY}"
        )


def _settings(network):
    stated = getattr(network, "settings", None)
    return stated if isinstance(stated, dict) else {}


def _stable_name(name: str) -> str:
    """Return the name of a module; of one in this package the last part, which does not move."""
    return name.rpartition(".")[2] if name.partition(".")[0] == PACKAGE.name else name


def _is_written(member) -> bool:
    """Return whether a special method stands in the source; dataclasses generate others."""
    return inspect.isfunction(member) and member.__code__.co_filename != "<string>"


def _is_bound(cell) -> bool:
    try:
        cell.cell_contents
    except ValueError:  # a name that is bound later
        return False
    return True


def sources_behind_file(file) -> dict:
    """Return the hash of a file that is not installed and of all such files that it imports.

    The imports are read from the text, wherever they stand in it; nothing is executed.
    """
    found, ahead = {}, [Path(file).resolve()]
    folder = str(ahead[0].parent)  # the modules that stand beside a script
    while ahead:
        file = ahead.pop()
        text = file.read_bytes()
        name = file.name if file.name != "__init__.py" else f"{file.parent.name}/{file.name}"
        digest = hashlib.sha256(text).hexdigest()[:16]
        if digest in found.get(name, ()):
            continue
        found[name] = sorted({*found.get(name, ()), digest})
        folders = [folder, str(file.parent)]
        for module in imported_names(text, file):
            source = find_module(module, folders)
            if source is not None:
                ahead.append(source)
    return found


def imported_names(text: bytes, file: Path) -> list[str]:
    """Return the dotted names that the text of a file may import, those of packages included."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # it says so itself when it is run
        return []
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = file.parents[: max(node.level - 1, 0)]
            # a relative import is looked for in the folder of the file, which is among `folders`
            prefix = node.module or ""
            if node.level > 1:
                prefix = ".".join(filter(None, [above[-1].parent.name, prefix]))
            names += [prefix] if prefix else []
            names += [f"{prefix}.{alias.name}".lstrip(".") for alias in node.names]
    # importing a.b.c also runs a and a.b
    parts = [name.split(".") for name in names]
    return [".".join(part[:k]) for part in parts for k in range(1, len(part) + 1)]


def find_module(name: str, folders=()) -> Path | None:
    """Return the file of a module that is not installed, or None; nothing is executed."""
    path = [*folders, *sys.path]
    spec = None
    for part in name.split("."):
        spec = importlib.machinery.PathFinder.find_spec(part, path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or [])
    if not spec.origin or not spec.origin.endswith(".py"):
        return None
    file = Path(spec.origin).resolve()
    return None if _is_installed_file(file) else file
