"""Files of what was learned: read back only if they are sound, and only for their own game."""

from ..files import read_npz


def read(path, kind, game, header, arrays) -> tuple[dict, dict]:
    """Return the header and the arrays of a file.

    It must hold a `kind` of thing, such as ``"weights"``, of this game, a header with these fields
    (name -> type), and these arrays (names); else ValueError says what is wrong.
    """
    meta, found = read_npz(path)
    held = meta.get("kind") if isinstance(meta, dict) else meta
    if held != kind or not isinstance(meta, dict):
        raise ValueError(f"{path} holds {held!r}, not {kind}")
    header = {"game": dict, **header}
    wrong = [name for name, kinds in header.items() if type(meta.get(name)) is not kinds]
    wrong += sorted(arrays - set(found))
    if wrong:
        raise damaged(path, f"it lacks {', '.join(wrong)}")
    have = {k: meta["game"].get(k) for k in ("name", "params", "version")}
    if have != game.identity:
        raise ValueError(f"{path} holds {kind} of {have}, not of {game.identity}")
    return meta, found


def damaged(path, why) -> ValueError:
    """Make the error for a file that is not as it was written."""
    return ValueError(f"{path} is damaged: {why}; delete it and train again")


def check(path, net, meta):
    """Return what was read from a file, or raise ValueError if it is not what was written."""
    if net.checksum() != meta["checksum"]:
        raise damaged(path, "its values do not have the checksum it states")
    return net
