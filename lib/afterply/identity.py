"""What tells a thing from all others: the one answer to the question "who is this?".

Keys of records, files of matches, leagues and golden runs hold what :func:`identity` says of the
games, learners, evaluators, players and networks behind them. A name alone never stands for a
content:

* Things of this package have their name, version and settings there. Whoever changes what one of
  them computes raises its version; golden runs and playthroughs notice if somebody does not.
* All other things have the hash of their content as well: of their code, of what the code refers
  to, and of their data. Code means functions, lambdas and partials with their defaults and
  closures, classes with their base classes, modules with what they import, also within functions.
  In a hash, installed packages stand by name and this one by name and version. The name of a module
  does not count, because it may move.
* A thing whose content cannot be known is refused, unless it states a `version` of its own.

A hash cannot know what a function reads when it is called: a data file, an environment variable,
another program. Whoever uses such a function gives it a `version` and raises it when the file
changes. Hashes of code that is not installed hold byte code, so they differ between versions of
Python.
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
# What an error advises if a thing cannot be told from others.
REMEDY = "set its attribute version (VERSION), and raise that when its numbers change"


def identity(thing):
    """Return what tells `thing` from others, as data for JSON.

    Numbers, texts, lists and dictionaries stand for themselves. A learner has name and version; a
    dataclass, such as an evaluator, has name, version and settings; what makes players, a class, a
    function or a ``partial`` of one, has name, version and arguments. A thing with an attribute
    `identity`, such as a game, says it itself. Things that are not of this package have a `content`
    as well, and so have objects that do not declare their settings.

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
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, PLAIN):
        return thing
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    if isinstance(thing, dict):
        return {name: identity(value) for name, value in thing.items()}
    if isinstance(thing, (list, tuple, range)):
        return [identity(part) for part in thing]
    declared, is_complete = _declared_identity(thing)
    if is_complete:
        return declared
    return declared | {"content": _content_or_version(thing)}


def _declared_identity(thing) -> tuple[dict, bool]:
    """Return what a thing declares of itself, and whether that is all that can tell it."""
    if is_learner(thing):
        return {"name": thing.NAME, "version": thing.VERSION}, in_package(thing)
    if is_maker(thing):
        return _identity_of_maker(thing)
    if hasattr(thing, "identity"):
        return thing.identity, in_package(thing)
    if dataclasses.is_dataclass(thing):
        return identity_of_fields(thing), in_package(thing)
    return {"name": _name_of(thing), "version": getattr(thing, "version", None)}, False


def _name_of(thing) -> str:
    return getattr(thing, "name", type(thing).__qualname__)


def is_learner(thing) -> bool:
    """Return whether something is a learner: a module, or a class in a notebook."""
    return all(hasattr(thing, name) for name in ("NAME", "VERSION", "Session"))


def is_maker(thing) -> bool:
    """Return whether something is a class or function, or a ``partial`` of one."""
    return (
        inspect.isclass(thing) or inspect.isroutine(thing) or isinstance(thing, functools.partial)
    )


def _identity_of_maker(maker) -> tuple[dict, bool]:
    """Return what tells a maker of players from others, and whether that is all."""
    if isinstance(maker, functools.partial):
        function = maker.func
        arguments = [*maker.args, maker.keywords]
    else:
        function = maker
        arguments = [{}]
    declared = {
        "player": function.__name__,
        "version": getattr(function, "version", 1),
        "arguments": identity(arguments),
    }
    return declared, in_package(function)


def identity_of_fields(thing) -> dict:
    """Return name, version and settings of a dataclass: its fields, and its own `settings`."""
    settings = {}
    for field in dataclasses.fields(thing):
        if field.compare:
            settings[field.name] = getattr(thing, field.name)
    settings |= getattr(thing, "settings", None) or {}
    settings.pop("name", None)
    settings.pop("version", None)
    return {
        "name": _name_of(thing),
        "version": getattr(thing, "version", None),
        "settings": identity(settings),
    }


def _content_or_version(thing) -> str | None:
    """Return the hash of a content; None if it cannot be known but the thing has a version."""
    try:
        return content_hash(thing)
    except ValueError:
        # a version of its class or its own; one that is inherited does not speak for this content
        attributes = {**vars(type(thing)), **getattr(thing, "__dict__", {})}
        if attributes.get("version") is None:
            raise
        return None


def content_hash(thing) -> str:
    """Return a hash of what a thing consists of: its code with all that it uses, and its data."""
    content = repr(_Content(thing).of(thing))
    return "source-" + hashlib.sha256(content.encode()).hexdigest()[:12]


def package_file(thing) -> str | None:
    """Return which file of this package defines a module, class, function or object, or None."""
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
    if hasattr(thing, "py_func"):  # a kernel
        definition = thing.py_func
    elif inspect.isroutine(thing) or inspect.isclass(thing):
        definition = thing
    else:
        definition = type(thing)
    name = getattr(definition, "__module__", None) or "builtins"
    return "" if name == "__main__" else name


def _file_of(thing) -> Path | None:
    """Return the file of the module that defines something, or None if it has none."""
    module = sys.modules.get(_module_of(thing))
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None


def _is_installed_file(file: Path) -> bool:
    return any(file.is_relative_to(place) for place in INSTALLED)


def _is_installed(thing) -> bool:
    file = _file_of(thing)
    if file is None:  # only what is built into Python has a module without a file
        return _module_of(thing) in sys.modules
    return _is_installed_file(file)


def _name_in_package(thing) -> tuple:
    """Return what stands for a class or function of this package in a hash: name and version."""
    module = sys.modules[_module_of(thing)]
    version = getattr(thing, "version", None) or getattr(module, "VERSION", None)
    return PACKAGE.name, getattr(thing, "__qualname__", thing.__name__), version


class _Content:
    """What a thing consists of, as nested values whose `repr` says all of it."""

    def __init__(self, thing):
        self.thing = thing
        self.seen = []  # all that was met so far, so that circles end

    def of(self, value):
        """Return the content of a value that the thing is, holds or refers to."""
        if isinstance(value, PLAIN):
            return value
        if isinstance(value, (list, tuple)):
            return type(value).__name__, [self.of(part) for part in value]
        if isinstance(value, (set, frozenset)):
            return "set", sorted(repr(self.of(part)) for part in value)
        if isinstance(value, dict):
            # dictionaries are equal whatever the order of their keys
            pairs = sorted(value.items(), key=lambda pair: repr(pair[0]))
            return "dict", [self.of(pair) for pair in pairs]
        if inspect.ismethod(value):
            return self.of((value.__func__, value.__self__))
        for number, earlier in enumerate(self.seen):
            if earlier is value:
                return "seen", number
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
        """Return the name of a module and, unless it is installed, all sources behind it."""
        file = _file_of(module)
        if file is None or _is_installed_file(file):
            return _stable_name(module.__name__)
        return module.__name__, sources_behind_file(file)

    def code_of(self, thing):
        """Return what a function, kernel or class consists of; for an installed one its name."""
        if in_package(thing):
            return _name_in_package(thing)
        if _is_installed(thing):
            return f"{thing.__module__}.{getattr(thing, '__qualname__', thing.__name__)}"
        return self.of_class(thing) if inspect.isclass(thing) else self.function(thing)

    def of_class(self, kind):
        """Return the members of a class, and its base classes."""
        members = {}
        for name, attribute in vars(kind).items():
            member = _function_behind(attribute)
            if not name.startswith("__") or _is_written(member):
                members[name] = member
        bases = [self.of(base) for base in kind.__bases__ if base is not object]
        return [(name, self.of(members[name])) for name in sorted(members)], bases

    def function(self, function):
        """Return the instructions of a function, its defaults, closure and attributes."""
        function = getattr(function, "py_func", function)
        if not hasattr(function, "__code__"):
            raise self.unknown(function)
        closure = function.__closure__ or ()
        variables = [cell.cell_contents for cell in closure if _is_bound(cell)]
        keyword_defaults = function.__kwdefaults__ or {}
        defaults = [function.__defaults__, sorted(keyword_defaults.items())]
        data = self.of([variables, defaults, vars(function)])
        return self.code(function.__code__, function), data

    def code(self, code, function):
        """Return the instructions, and what their constants, names and imports stand for."""
        constants = []
        for constant in code.co_consts:
            if inspect.iscode(constant):  # of a lambda, a comprehension or a function within
                constants.append(self.code(constant, function))
            elif constant != function.__doc__:
                constants.append(self.of(constant))
        names = [_stable_name(name) for name in code.co_names]
        contents = [self.of(value) for value in _values_of_names(code, function)]
        return code.co_code, names, constants, contents, self.imports(code, function)

    def imports(self, code, function):
        """Return the sources behind the modules that a function imports when it is called."""
        package = function.__globals__.get("__package__") or ""
        file = function.__globals__.get("__file__")
        folders = [str(Path(file).resolve().parent)] if file else []
        sources = {}
        for instruction in dis.Bytecode(code):
            if instruction.opname != "IMPORT_NAME":
                continue
            module = instruction.argval
            for name in (module, f"{package}.{module}".strip(".")):
                source = find_module(name, folders)
                if source is not None:
                    sources |= sources_behind_file(source)
        return sorted(sources.items())

    def object(self, value):
        """Return what an object consists of: its class and its state, as it would be pickled."""
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


def _settings(network) -> dict:
    settings = getattr(network, "settings", None)
    return settings if isinstance(settings, dict) else {}


def _values_of_names(code, function) -> list:
    """Return what the global names in code stand for.

    Of a module of this package, only what the code takes from it counts, such as ``players.MaxN``.
    """
    global_names = function.__globals__
    values = [global_names[name] for name in code.co_names if name in global_names]
    for value in values:  # which grows: what is taken from a module may be a module, too
        if inspect.ismodule(value) and in_package(value):
            members = [getattr(value, name, None) for name in code.co_names]
            values += [member for member in members if member is not None and member not in values]
    return values


def _function_behind(attribute):
    """Return the function of a static method, class method or property; others as they are."""
    if hasattr(attribute, "__func__"):
        return attribute.__func__
    return getattr(attribute, "fget", attribute)


def _stable_name(name: str) -> str:
    """Return the name of a module; in this package, where modules may move, only its last part."""
    parts = name.split(".")
    return parts[-1] if parts[0] == PACKAGE.name else name


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
    """Return the hashes of a file that is not installed and of all such files that it imports.

    They are a sorted list for each name, because files in different folders may have one name. The
    imports are read from the text, wherever they stand in it; nothing is executed.
    """
    script = Path(file).resolve()
    digests = {}  # name -> set
    waiting = [script]
    while waiting:
        source = waiting.pop()
        text = source.read_bytes()
        digest = hashlib.sha256(text).hexdigest()[:16]
        name = source.name
        if name == "__init__.py":
            name = f"{source.parent.name}/{name}"
        digests_of_name = digests.setdefault(name, set())
        if digest in digests_of_name:
            continue
        digests_of_name.add(digest)
        folders = [str(script.parent), str(source.parent)]
        for module in imported_names(text, source):
            file_of_module = find_module(module, folders)
            if file_of_module is not None:
                waiting.append(file_of_module)
    return {name: sorted(digests[name]) for name in digests}


def imported_names(text: bytes, file: Path) -> list[str]:
    """Return the dotted names that the text of a file may import, also those of packages above."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # it says so itself when it is run
        return []
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = _module_of_import(node, file)
            if module:
                names.append(module)
            names += [f"{module}.{alias.name}".lstrip(".") for alias in node.names]
    with_packages = []
    for name in names:
        # importing a.b.c also runs a and a.b
        parts = name.split(".")
        for num_parts in range(1, len(parts) + 1):
            with_packages.append(".".join(parts[:num_parts]))
    return with_packages


def _module_of_import(node: ast.ImportFrom, file: Path) -> str:
    """Return the module in ``from module import ...``, as the folder of the file leads to it.

    With one dot it lies in this folder. With more, its name begins with that of a folder above.
    """
    module = node.module or ""
    if node.level <= 1:
        return module
    top = len(file.parents) - 1
    folder = file.parents[min(node.level - 1, top)]
    return ".".join(part for part in (folder.name, module) if part)


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
