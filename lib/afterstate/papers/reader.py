"""Entries of YAML files as dataclasses or TypedDicts, whose annotations say what they may hold."""

from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

DERIVED = {"derived": True}  # metadata of fields that no file holds


def read(kind, entry, where: str):
    """Return an entry of YAML as an instance of a class; ValueError names `where` and the field."""
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: {entry!r} is not a mapping of fields")
    hints, needed = get_type_hints(kind), getattr(kind, "__required_keys__", ())
    if is_dataclass(kind):
        own = [field for field in fields(kind) if not field.metadata.get("derived")]
        hints = {field.name: hints[field.name] for field in own}
        needed = [field.name for field in own if field.default is field.default_factory is MISSING]
    found = {name: None for name in needed if NoneType in get_args(hints[name])}
    for name, content in entry.items():
        if name not in hints:
            raise ValueError(f"{where}: unknown field {name!r}; the fields are {', '.join(hints)}")
        if content is not None:
            found[name] = _convert(hints[name], content, name, where)
    for name in hints:
        if name in needed and name not in found:
            raise ValueError(f"{where}: {name} is missing")
    return kind(**found)


def _convert(hint, content, name, where):
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    fitting = [option for option in options if type(content) in _plain(option)]
    if not fitting:
        expected = " or ".join(kind.__name__ for option in options for kind in _plain(option))
        found = f"{name} is {content!r}, a {type(content).__name__}"
        raise ValueError(f"{where}: {found}; it must be {expected}")
    kind, inner = fitting[0], get_args(fitting[0])
    if get_origin(kind) is Literal and content not in inner:
        raise ValueError(f"{where}: {name} is {content!r}; it must be one of {', '.join(inner)}")
    if _has_fields(kind):
        return read(kind, content, f"{where}, {name}")
    if get_origin(kind) not in (list, dict) or not _has_fields(inner[-1]):
        return content
    word = f"{where}: {inner[-1].__name__.lower()}"
    if isinstance(content, dict):
        return {key: read(inner[-1], one, f"{word} {key}") for key, one in content.items()}
    return [
        read(inner[-1], one, f"{word} {_named(one) or f'of {name}, entry {number}'}")
        for number, one in enumerate(content, 1)
    ]


def _plain(hint) -> tuple:  # the types that YAML has for an annotation
    if get_origin(hint) is Literal:
        return (str,)
    if _has_fields(hint):
        return (dict,)
    return (int, float) if hint is float else (get_origin(hint) or hint,)


def _has_fields(hint):
    return is_dataclass(hint) or is_typeddict(hint)


def _named(entry):
    return entry.get("id", entry.get("name")) if isinstance(entry, dict) else None
