"""Compilation without allocation, machine code that is never stale, arithmetic to the last bit."""

import math
import os
import shutil
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.errors import NumbaError

from afterply import games
from afterply.kernel import compile
from afterply.kernel.compile import kernel
from afterply.kernel.functions import exp, log, tanh
from afterply.kernel.random import new_rng, random_bits, random_float, random_int, seed_from
from afterply.kernel.source import PACKAGE
from afterply.learners import td
from oldest import said_by
from oracles.reference_td import Splitmix64


def test_exp_log_and_tanh_are_within_their_stated_error():
    for x in np.random.default_rng(0).uniform(-30.0, 30.0, 2000).tolist():
        y = math.exp(x)
        assert abs(exp(x) - y) <= 3 * math.ulp(y)  # 2 of ours, 1 of the C library's
        assert abs(math.log(y)) < 1e-3 or abs(log(y) - math.log(y)) <= 4 * math.ulp(math.log(y))
        assert abs(tanh(x / 5) - math.tanh(x / 5)) < 4e-16 and tanh(-x) == -tanh(x)
    assert [exp(x) for x in (0.0, -1e9, -math.inf)] == [1.0, 0.0, 0.0]
    ends = [0.0, 40.0, -40.0, math.inf, -math.inf]
    assert [tanh(x) for x in ends] == [0.0, 1.0, -1.0, 1.0, -1.0] and math.isnan(tanh(math.nan))


def test_random_stream_is_splitmix64():
    """The first outputs for state 0 are those that the generator's authors publish."""
    rng = np.zeros(1, np.uint64)
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [int(random_bits(rng)) for _ in range(3)] == published
    rng = new_rng(5)
    same = Splitmix64(rng[0])
    assert [random_bits(rng) for _ in range(50)] == [same.bits() for _ in range(50)]
    assert [random_float(rng) for _ in range(50)] == [same.float() for _ in range(50)]
    assert [random_int(rng, n) for n in range(1, 50)] == [same.int(n) for n in range(1, 50)]


def test_seeds_depend_on_their_own_names_only():
    seeds = [seed_from("study", arm, run) for arm in ("a", "b") for run in range(20)]
    assert len(set(seeds)) == 40 and min(seeds) >= 0 and max(seeds) < 2**63
    assert seed_from("study", "a", 1) != seed_from("study", "a", "1")
    assert seed_from("a", "bc") != seed_from("ab", "c")


def test_seeds_of_any_size_and_sign_give_numbers_of_their_own():
    sizes = [0, 1, 4, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, 2**64 + 4, 2**128 + 4, 2**200, 10**99]
    seeds = {sign * (size + more) for sign in (1, -1) for size in sizes for more in (0, 1, 2**64)}
    assert len({int(new_rng(seed)[0]) for seed in seeds}) == len(seeds) > 60
    assert len({seed_from(seed) for seed in seeds}) == len(seeds)
    for seed in seeds:  # these have records
        if 0 <= seed < 2**64:
            assert new_rng(seed) == np.random.SeedSequence(seed).generate_state(1, np.uint64)


@pytest.mark.slow
def test_hot_kernel_neither_allocates_nor_counts_references_nor_reorders_sums():
    session = td.Session(games.load("nim"), td.DEFAULTS, precision="float64")
    session.train(1)
    fresh = kernel(td._train.py_func)  # compiled anew, as no text is kept on disk
    fresh._cache = NullCache()
    for signature in td._train.signatures:
        fresh.compile(signature)
    text = "\n".join(fresh.inspect_llvm().values())  # with all that is inlined
    assert "fadd double" in text and "fmul double" in text
    reordered = (" fast ", " reassoc ", " contract ", "llvm.fma", "llvm.fmuladd")
    allocated = ("NRT_incref", "NRT_decref", "NRT_Allocate", "NRT_MemInfo")
    assert [word for word in allocated + reordered if word in text] == []
    with pytest.raises(NumbaError):
        kernel(lambda n: np.zeros(n).sum())(3)


OTHER_NUMBA = """
from numba.core import caching, compiler, cpu
KNOWN = cpu.CPUTargetOptions.__mro__[1]
CHANGE
try:
    import afterply.games
    print("imported")
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "change",
    [
        "del KNOWN._nrt",
        "KNOWN._nrt = KNOWN.debug",  # known, and not heeded
        "del KNOWN.forceinline",
        "del compiler.CompileResult._rebuild",
        "del compiler.CompileResult._reduce",
        "del caching.Cache._index_key",
    ],
)
def test_a_numba_without_its_private_parts_is_named_at_import(change):
    text = said_by(OTHER_NUMBA.replace("CHANGE", change))
    assert "private" in text and f"pip install 'numba{compile.TRIED}'" in text


def copy_of_the_package(folder):
    """Copy the library; return the folder above it."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "lib" / "afterply", ignore=ignored)
    (folder / "data").mkdir()
    return folder / "lib"


def said(code, library, cache):
    """Return the words that code prints with a copy of the library."""
    return said_by(code, PYTHONPATH=library, AFTERPLY_CACHE=cache).split()


VALUE = """
from afterply import games
from afterply.networks import ntuple
game = games.load("nim")
net = ntuple.Network(game, [[0, 1, 2]])
net.weights[:] = 0.5
print(repr(net.value(game.play(game.start(), 3), 0)))
"""


COMPILES = f"""{VALUE}
import sys
print("numba.np.linalg" in sys.modules)  # one of the parts of numba that only compiling needs
"""

EDITS_ITSELF = f"""{VALUE}
from afterply.kernel.source import PACKAGE, source_hash
before = source_hash()
with open(PACKAGE / "stats.py", "a") as file:
    file.write("# edited\\n")
print(before, source_hash() == before)
"""


@pytest.mark.slow
def test_edited_helper_takes_effect_and_so_does_its_undoing(tmp_path):
    """The edited function is inlined into kernels of files whose own stamp does not change.

    A process says that it runs what it has imported, whatever is edited later.
    """
    library = copy_of_the_package(tmp_path)
    helper = library / "afterply" / "kernel" / "functions.py"
    original = helper.read_text()
    edited = original.replace("t = (1.0 - e) / (1.0 + e)", "t = 0.5 * (1.0 - e) / (1.0 + e)")
    printed = []
    for text in (original, edited, original):
        stamp = helper.stat().st_mtime_ns
        helper.write_text(text)
        os.utime(helper, ns=(stamp, stamp))  # not even the time of change may matter
        printed.append(said(EDITS_ITSELF, library, tmp_path / "cache"))
    found, value = [float(words[0]) for words in printed], math.tanh(0.5)
    assert found == pytest.approx([value, 0.5 * value, value], abs=1e-15)
    assert [words[2] for words in printed] == ["True"] * 3
    assert printed[0][1] != printed[2][1], "the third process runs an edited file, and says so"
    states = [path.name.split("-")[0] for path in (tmp_path / "cache").glob("numba-*/*")]
    assert states.count("kernel.functions") == states.count("networks.lookup") == 2
    assert states.count("games.rules.nim") == states.count("kernel.random") == 1, (
        "what does not depend on the edited file is not compiled again"
    )


def test_no_wrong_byte_in_a_file_of_machine_code_comes_back_as_code(tmp_path):
    file = tmp_path / "new" / "f.code"
    assert compile.read_code(file) is None
    compile.write_code(file, b"code")
    good = file.read_bytes()
    assert compile.read_code(file) == b"code"
    for place in range(len(good)):
        file.write_bytes(good[:place] + bytes([good[place] ^ 64]) + good[place + 1 :])
        assert compile.read_code(file) is None
    compile.write_code(file / "below", b"code")  # where nothing can be written


MINE, GROUP = os.geteuid(), os.getegid()


@pytest.mark.parametrize(
    "owner, group, mode, words",
    [
        (MINE, GROUP, 0o755, ""),
        (MINE, GROUP, 0o775, ""),  # one's own primary group
        (0, 0, 0o755, ""),  # an image brings it
        (MINE + 1, GROUP, 0o700, f"it belongs to user {MINE + 1}"),
        (MINE, GROUP, 0o757, "everybody may write there"),
        (MINE, GROUP + 1, 0o770, f"group {GROUP + 1} may write there"),
        (0, GROUP, 0o777, "everybody may write there"),
    ],
)
def test_machine_code_is_of_those_who_could_change_this_program(
    tmp_path, monkeypatch, owner, group, mode, words
):
    file = tmp_path / "f.code"
    compile.write_code(file, b"code")
    assert stat.S_IMODE(file.stat().st_mode) & 0o022 == 0
    found, status = [], os.stat_result((stat.S_IFREG | mode, 1, 1, 1, owner, group, *[0] * 4))
    assert compile.whose(status) == words
    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", lambda number: status)
        found.append(compile.read_code(file))
    assert found == [None if words else b"code"]


def test_a_directory_of_ones_own_is_tightened_and_that_of_others_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("AFTERPLY_CACHE", str(tmp_path / "new" / "cache"))
    made = compile._code_cache()
    for directory in (made, made.parent):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        directory.chmod(0o777)
    assert compile._code_cache() == made
    for directory in (made, made.parent):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o755
    made.chmod(0o777)
    monkeypatch.setattr(os, "geteuid", lambda: MINE + 1)  # whose umask let everybody write
    with pytest.raises(OSError, match="may hold machine code of others: .*set AFTERPLY_CACHE"):
        compile._code_cache()


def test_a_warm_cache_may_be_read_only_and_a_user_without_home_has_one(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setenv("AFTERPLY_CACHE", str(tmp_path))
    cold = compile._code_cache()
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "TemporaryFile", fail)
        with pytest.raises(OSError, match="cannot be written .Read-only.*set AFTERPLY_CACHE"):
            compile._code_cache()
        (cold / compile._folder_of_code("kernel/random.py")).mkdir()
        assert compile._code_cache() == cold
    for name in ("AFTERPLY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    homeless = tmp_path / "tmp" / f"afterply-{os.getuid()}"
    for home in (RuntimeError("Could not determine home directory."), Path("/proc/none")):
        monkeypatch.setattr(Path, "home", _returning(home))
        assert compile.cache_root() == homeless


def _returning(result):
    """A class method that returns or raises what it is given."""

    def call(*_):
        if isinstance(result, Exception):
            raise result
        return result

    return classmethod(call)


@pytest.mark.slow
def test_machine_code_is_read_unless_it_is_broken_and_a_useless_cache_is_named(tmp_path):
    first = said(VALUE, PACKAGE.parent, tmp_path)
    files = sorted(tmp_path.rglob("*.code"))
    assert len(files) > 10
    written = [path.stat().st_mtime_ns for path in files]
    assert said(COMPILES, PACKAGE.parent, tmp_path) == [*first, "False"]
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("*.code"))] == written, (
        "what is on disk, rules and kernels alike, is not compiled again"
    )
    sound = [path.read_bytes() for path in files]
    foreign = [*sound[1:], *sound[:1]]  # sound, but of another function
    for number, path in enumerate(files):
        content, half = bytearray(path.read_bytes()), path.stat().st_size // 2
        content[half] ^= 64
        kinds = [b"", content[:10], content[:half], content, foreign[number]]
        path.write_bytes(kinds[number % len(kinds)])
    assert said(VALUE, PACKAGE.parent, tmp_path) == first
    with pytest.raises(AssertionError, match=f"OSError.*{files[0]}.*set AFTERPLY_CACHE"):
        said("import afterply.kernel", PACKAGE.parent, files[0])
