"""Files of what was learned: read back only if they are sound, and only for their own game."""

from ..files import read_npz


def read(path, kind, game, header, arrays) -> tuple[dict, dict]:
    """Return the header and the arrays of a file.

    Parameters
    ----------
    path : path
    kind : str
        What the file must hold, such as ``"weights"``.
    game : Game
        Whose it must be.
    header : dict
        Name -> type of what the header must say.
    arrays : set of str
        Arrays that there must be.

    Raises
    ------
    ValueError
        If the file is damaged, holds something else, or belongs to another game.
    """
    meta, found = read_npz(path)
    if not isinstance(meta, dict) or meta.get("kind") != kind:
        held = meta.get("kind") if isinstance(meta, dict) else meta
        raise ValueError(f"{path} holds {held!r}, not {kind}")
    wrong = [name for name, kinds in header.items() if type(meta.get(name)) is not kinds] + sorted(
        arrays - set(found)
    )
    if wrong or not isinstance(meta.get("game"), dict):
        raise damaged(path, f"it lacks {', '.join(wrong) or 'its game'}")
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
