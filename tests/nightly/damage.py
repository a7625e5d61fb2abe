"""Files that the library reads, damaged at random: each is refused by name, or says the same.

A kind of file is how one is made, how it is read, and what may happen to it. Of files that grow
line by line (records, matches) a damaged one may also hold less: what is missing is made again.
Claims are written by hand, so nobody can tell that a digit or a line of them is another; they are
cut within a line, not between two.
"""

import contextlib
import io
import logging
import random
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from kills import copy_project

from afterply import arena, games, players
from afterply.files import data_directory, published_file, read_npz, write_npz
from afterply.learners import td
from afterply.networks.ntuple import listed_tuples
from afterply.players.saved import published
from afterply.studies import notebooks, records, runs
from afterply.studies.papers import claims
from small_studies import TUPLES, Weights, declare, write_notebook

TRIES = 1_000  # until a damage has changed a file
NUMBER = re.compile(r"(?<=[\[,:])( ?)-?\d+(\.\d+)?(?=[\n,\]}])")  # and no word of a sentence
PAIR = re.compile(r'"\w+": ?("[^"\\]*"|-?[\d.]+)(?=[,}\n])')  # in JSON
SETTING = re.compile(r"^ *\w[\w-]*: \S.*\n", re.MULTILINE)  # in YAML
NIM = games.load("nim", heaps=1, stones=3)
LISTED = "nim-1x3"  # an n-tuple list
VALUES = f"runs: 3\nepisodes: 900\neval_every: 300\nalpha: 0.5\n{notebooks.DECLARED}\nkeys: {{}}\n"
DECLARES = """
from afterply import games
from afterply.learners import td
from afterply.studies import opened
from afterply.studies.study import Study

setup = opened("10_tictactoe", profile)
study = Study("tictactoe", setup, paper="konen2021", workers=1)
study.arm("FARL", td, game=games.load("tictactoe"), tuples=[[4]], alpha=setup.alpha)
"""


# What may happen to a file: bytes and a generator -> bytes


def cut(content, rng):
    """Lose the end."""
    return content[: rng.randrange(len(content))]


def cut_within_a_line(content, rng):
    """Lose the end from within a line on."""
    places = [k for k in range(1, len(content)) if content[k - 1 : k] != b"\n"]
    return content[: rng.choice(places)]


def another_digit(content, rng):
    """Change one digit."""
    digits = [k for k, sign in enumerate(content) if chr(sign).isdigit()]
    place = rng.choice(digits)
    return content[:place] + str(rng.randrange(10)).encode() + content[place + 1 :]


def another_byte(content, rng):
    """Change one byte."""
    place = rng.randrange(len(content))
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def swapped(content, rng):
    """Swap two lines."""
    lines = content.splitlines(keepends=True)
    one, other = (rng.randrange(len(lines)) for _ in range(2))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def lost(content, rng):
    """Lose a line."""
    lines = content.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def doubled(content, rng):
    """Write a line twice."""
    lines = content.splitlines(keepends=True)
    place = rng.randrange(len(lines))
    return b"".join([*lines[: place + 1], *lines[place:]])


def twice(content, rng):
    """Write a key and what belongs to it twice."""
    text = content.decode()
    pairs = list(PAIR.finditer(text))
    end = ", " if pairs else ""
    found = rng.choice(pairs or list(SETTING.finditer(text)))
    return (text[: found.start()] + found[0] + end + text[found.start() :]).encode()


def no_number(content, rng):
    """Write NaN in place of a number."""
    text = content.decode()
    is_json = text.lstrip().startswith("{")
    found = rng.choice(list(NUMBER.finditer(text)))
    nan = found[1] + ("NaN" if is_json else ".nan")
    return (text[: found.start()] + nan + text[found.end() :]).encode()


def blocks_swapped(content, rng):
    """Swap two blocks of a binary file."""
    size = max(1, len(content) // 16)
    blocks = [content[k : k + size] for k in range(0, len(content), size)]
    one, other = (rng.randrange(len(blocks)) for _ in range(2))
    blocks[one], blocks[other] = blocks[other], blocks[one]
    return b"".join(blocks)


def array_without_number(content, rng):
    """Write NaN in place of a number of an array, as whole as the library would write it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.npz"
        path.write_bytes(content)
        meta, arrays = read_npz(path)
        real = [name for name, array in arrays.items() if array.dtype.kind == "f" and array.size]
        array = arrays[rng.choice(real)]
        array.flat[rng.randrange(array.size)] = np.nan
        write_npz(path, meta, arrays)
        return path.read_bytes()


LINES = (cut, another_digit, swapped, lost, doubled, twice, no_number)
BY_HAND = (cut_within_a_line, twice, no_number)
BINARY = (cut, another_byte, blocks_swapped)


# Files: how each is made in a folder, and what it says


def make_records(folder):
    """Make the records of a small study."""
    made = declare(params={"runs": 2, "episodes": 300, "eval_every": 100, "tuples": TUPLES})
    made.run()
    return made.records.path


def read_records(path):
    """Return records by key."""
    return records.read(path)[1]


def play(path, forfeit):
    """Play a few matches, or read them; one player errs now and then."""

    def errs(state):
        if len(NIM.legal(state)) == 1:
            raise ValueError("no idea")
        return NIM.legal(state)[0]

    errs.version = 1
    two = {"random": players.Random(), "errs": errs}
    return arena.matches(NIM, two, episodes=6, seed=3, forfeit=forfeit, path=path)


def make_matches(folder):
    """Make a file of matches, of which some failed."""
    play(folder / "matches.jsonl", False)
    return folder / "matches.jsonl"


def read_matches(path):
    """Return the table of matches; what is missing is played again."""
    return play(path, False).to_json()


def make_league(folder):
    """Make a file of matches as a league does."""
    play(folder / "a+b-0123.jsonl", True)
    return folder / "a+b-0123.jsonl"


def read_league(path):
    """Return the table of a pairing."""
    return play(path, True).to_json()


def copied(name):
    """Return a function that copies a published file into the data directory."""

    def make(folder):
        target = data_directory() / "models" / name
        target.parent.mkdir(exist_ok=True)
        return Path(shutil.copy(PUBLISHED / name, target))

    return make


def read_published(path):
    """Return what files of its kind say."""
    return published(path.stem.partition("-")[0])


def make_agent(folder):
    """Train an agent, and write it."""
    session = td.Session(games.load("tictactoe"), seed=1, tuples=TUPLES)
    session.train(100)
    session.save(folder / "agent.npz")
    return folder / "agent.npz"


def read_agent(path):
    """Return weights and card of an agent."""
    agent = players.load(path)
    return agent.net.weights.tobytes(), agent.card


def job():
    """Declare a run."""
    params = {"runs": 1, "episodes": 900, "eval_every": 200, "tuples": TUPLES}
    return declare(params=params, curve=(Weights(),), final=()).arms["FARL"][0].job


def make_checkpoint(folder):
    """Begin a run, which leaves a checkpoint."""
    runs.train(job(), job().keys, runs.Limit(0.0))
    return job().checkpoint


def read_checkpoint(path):
    """Return the results of a run that goes on from its checkpoint, or begins anew."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is damaged, and starts from nothing
        made = runs.train(job(), job().keys)
    return [(one["checksum"], one.get("values"), one.get("statistics")) for one in made]


def make_tuples(folder):
    """Return the file of lists."""
    return data_directory() / "ntuples.yaml"


def read_tuples(path):
    """Return a list; another one than that of the first records makes runs of other keys."""
    tuples = listed_tuples(LISTED)
    if records.contents_in_key({f"tuples {LISTED}": records.key_of({"content": tuples})}):
        raise ValueError(f"{path}: its runs have other keys, so no record is of them")
    return tuples


def make_profile(folder):
    """Make a notebook that reads its profile."""
    cells = 'profile = "quick"', DECLARES
    path = write_notebook(folder / "notebooks" / "10_tictactoe.ipynb", *cells, arms=1)
    for profile in ("quick", "paper"):
        file = data_directory() / "profiles" / profile / "10_tictactoe.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(VALUES)
    notebooks.write_declared([path])
    return file


def read_profile(path):
    """Return what the notebook declares by its profile."""
    (notebook,) = notebooks.find(["10"])
    studies, note = notebooks.planned(notebook, {"profile": "paper"})
    if note:
        raise ValueError(note)
    return studies[0].declared()


def make_claims(folder):
    """Copy a file of claims."""
    return Path(shutil.copy(EXAMPLES / "szubert2014.yaml", folder / "claims.yaml"))


def read_claims(path):
    """Return all that is claimed."""
    return repr(claims.load_own(path))


@dataclass(frozen=True)
class Kind:
    """A kind of file: how it is made, how it is read, and what happens to it."""

    name: str
    make: Callable
    read: Callable
    damages: tuple
    grows: bool = False


PUBLISHED, EXAMPLES = published_file("models"), published_file("examples")
KINDS = [
    Kind("records", make_records, read_records, LINES, grows=True),
    Kind("matches", make_matches, read_matches, LINES),
    Kind("league journal", make_league, read_league, LINES),
    Kind("card", copied("card-nim.json"), read_published, LINES),
    Kind("ladder", copied("ladder-nim.json"), read_published, LINES),
    Kind("agent", make_agent, read_agent, (*BINARY, array_without_number)),
    Kind("checkpoint", make_checkpoint, read_checkpoint, (*BINARY, array_without_number)),
    Kind("n-tuple lists", make_tuples, read_tuples, LINES),
    Kind("profile", make_profile, read_profile, LINES),
    Kind("claims", make_claims, read_claims, BY_HAND),
]


@contextmanager
def place():
    """Make a project in a folder of its own, in which everything is quiet."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nightly_")))
        monkeypatch = stack.enter_context(pytest.MonkeyPatch.context())
        copy_project(folder)
        monkeypatch.setenv("AFTERPLY_DATA", str(folder / "data"))
        monkeypatch.setenv("AFTERPLY_REPORTS", str(folder / "reports"))
        monkeypatch.setattr(logging.root, "disabled", True)
        for stream in (contextlib.redirect_stdout, contextlib.redirect_stderr):
            stack.enter_context(stream(io.StringIO()))
        yield folder


def is_part(found, whole) -> bool:
    """Return whether all that was found is in the whole."""
    return all(name in whole and whole[name] == entry for name, entry in found.items())


def tried(kind, seed, first, end):
    """Yield what became of each damaged file from `first` to `end`.

    That is "refused" or "the same", or else what was wrong.
    """
    with place() as folder:
        path = kind.make(folder)
        content = path.read_bytes()
        whole = kind.read(path)
        path.write_bytes(content)
        for trial in range(first, end):
            rng = random.Random(f"{seed} {kind.name} {trial}")
            damage = kind.damages[trial % len(kind.damages)]
            for _ in range(TRIES):
                damaged = damage(content, rng)
                if damaged != content:
                    break
            path.write_bytes(damaged)
            how = f"{kind.name}, {damage.__name__}, file {trial}"
            try:
                found = kind.read(path)
            except ValueError as error:
                yield "refused" if path.stem in str(error) else f"{how}: unclear, {error!r}"
                continue
            except Exception as error:
                yield f"{how}: {error!r}"
                continue
            same = is_part(found, whole) if kind.grows else found == whole
            yield "the same" if same else f"{how}: believed"
