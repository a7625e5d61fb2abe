"""Who is this? Things of one name and another content have other identities, equal ones the same.

A row of the first table is a way to hide a content behind a name. Files are written, imported, and
written again, as somebody edits them.
"""

import importlib
import json
import sys
from functools import partial

import numpy as np
import pytest

from afterply import arena, games, players
from afterply.identity import content_hash, identity, sources_behind_file
from afterply.kernel import kernel
from afterply.learners import td
from afterply.opponents.player_file import PlayerFile
from afterply.studies import records, runs
from afterply.studies.evaluators import Matches, OfFunction, as_evaluator

NIM = games.load("nim", heaps=1, stones=3)
ONE, OTHER = "return 1", "return 2"


def imported(folder, monkeypatch, **sources):
    """Write modules and import them anew; return the first."""
    # compiled files are told apart by second and size, and these are edited within one second
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(folder))
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text)
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return importlib.import_module(next(iter(sources)))


MODULES = {  # the first module's `thing`; "@" is what is edited
    "its own code": {"main": "def thing(s):\n    @"},
    "a lambda": {"main": "f = lambda: '@'\nthing = lambda s: f()"},
    "a helper module by attribute": {
        "main": "import helper\ndef thing(s):\n    return helper.best(s)",
        "helper": "def best(s):\n    @",
    },
    "a name from a helper": {
        "main": "from helper import best\ndef thing(s):\n    return best(s)",
        "helper": "def best(s):\n    @",
    },
    "a helper's helper": {
        "main": "import helper\ndef thing(s):\n    return helper.best(s)",
        "helper": "import deep\ndef best(s):\n    return deep.best(s)",
        "deep": "def best(s):\n    @",
    },
    "an import within a function": {
        "main": "def thing(s):\n    from helper import best\n    return best(s)",
        "helper": "def best(s):\n    @",
    },
    "a base class": {
        "main": "import helper\nclass thing(helper.Base):\n    pass",
        "helper": "class Base:\n    def choose(self, s):\n        @",
    },
    "a base class of a base class": {
        "main": "class A:\n    def f(self):\n        @\nclass B(A):\n    n = 1\n"
        "class thing(B):\n    pass"
    },
    "a property": {"main": "class thing:\n    @property\n    def f(self):\n        @"},
    "a static method": {"main": "class thing:\n    @staticmethod\n    def f():\n        @"},
    "a special method": {"main": "class thing:\n    def __call__(self):\n        @"},
    "an object of a class": {"main": "class A:\n    def f(self):\n        @\nthing = A()"},
    "a constant of the module": {"main": "N = '@'\ndef thing(s):\n    return N"},
    "a nested function": {"main": "def thing(s):\n    def g():\n        @\n    return g()"},
    "a partial of a function": {
        "main": "from functools import partial\ndef f(n):\n    @\nthing = partial(f, 1)"
    },
    "a learner's helper": {
        "main": "import helper, sys\nNAME, VERSION, Session = 'mine', 1, helper.S\n"
        "thing = sys.modules[__name__]",
        "helper": "class S:\n    def train(self):\n        @",
    },
}


def edited(sources, text):
    # decorators of the rows are no places to edit
    keep = {"@property": "#p", "@staticmethod": "#s"}
    for name, source in sources.items():
        for word, sign in keep.items():
            source = source.replace(word, sign)
        source = source.replace("@", text)
        for word, sign in keep.items():
            source = source.replace(sign, word)
        yield name, source


@pytest.mark.parametrize("sources", MODULES.values(), ids=MODULES)
def test_edited_code_is_another_thing_wherever_it_stands(tmp_path, monkeypatch, sources):
    found = []
    for text in (ONE, OTHER, ONE):
        main = imported(tmp_path, monkeypatch, **dict(edited(sources, text)))
        found.append(json.dumps(identity(main.thing)))
    assert found[0] == found[2] != found[1]


def opponent(depth):
    return players.MaxN(depth)


class Thinker:
    version = 1

    def __init__(self, **state):
        vars(self).update(state)


@kernel
def first(x):
    return x + 1.0


@kernel
def second(x):
    return x + 2.0


def calling(function):
    return lambda s: function(s)


def annotated(level):
    def player(state):
        return 0

    player.level = level
    return player


CONTENTS = {
    "partial": (partial(players.MaxN, 3), partial(players.MaxN, 4)),
    "partial by name": (partial(players.MinMax, depth=3), partial(players.MinMax, depth=4)),
    "partial of one's own": (partial(opponent, 3), partial(opponent, 4)),
    "partial of a partial's argument": (
        partial(players.Careless, players.MaxN(3)),
        partial(players.Careless, players.MaxN(4)),
    ),
    "lambda": (lambda: players.Random(), lambda: players.MaxN(9)),
    "closure": (calling(len), calling(sum)),
    "kernel": (calling(first), calling(second)),
    "function's attribute": (annotated(1), annotated(2)),
    "number": (Thinker(depth=1), Thinker(depth=9)),
    "array": (Thinker(table=np.arange(3)), Thinker(table=np.arange(4))),
    "set": (Thinker(words={"a", "b"}), Thinker(words={"a", "c"})),
    "which of two": (Thinker(pair=[A := [1], [2], A]), Thinker(pair=[A, B := [2], B])),
    "game": (Thinker(game=NIM), Thinker(game=games.load("nim", heaps=2, stones=3))),
    "search": (players.MCTS(20), players.MCTS(20, k=1.0)),
    "evaluator's opponent": (
        Matches("rival", lambda: players.Random()),
        Matches("rival", lambda: players.MaxN(9)),
    ),
}


@pytest.mark.parametrize("one, other", CONTENTS.values(), ids=CONTENTS)
def test_one_name_and_two_contents_are_two_things(one, other):
    assert json.loads(json.dumps(identity(one))) == identity(one)
    assert identity(one) != identity(other)


def test_what_has_no_content_states_a_version_or_is_refused():
    odd = Thinker(rows=(k for k in range(3)))
    del Thinker.version
    try:
        with pytest.raises(ValueError, match="needs a version.*set its attribute version"):
            identity(odd)
        odd.version = 2
        assert identity(odd) == {"name": "Thinker", "version": 2, "content": None}
    finally:
        Thinker.version = 1


def test_the_package_stands_in_a_hash_by_name_and_version_not_by_its_place(monkeypatch):
    before = content_hash(opponent)
    monkeypatch.setattr(players.MaxN, "__module__", "afterply.players.basic")
    assert content_hash(opponent) == before
    monkeypatch.setattr(players.MaxN, "version", 7)
    assert content_hash(opponent) != before


def test_a_function_that_measures_is_told_by_its_code():
    def measure(game, net, seed):
        return {"one": 1.0}

    first = as_evaluator(measure)

    def measure(game, net, seed):
        return {"one": 2.0}

    assert isinstance(first, OfFunction) and first.name == "measure"
    assert identity(first) != identity(as_evaluator(measure))


def test_a_home_made_game_is_told_by_rules_and_tables_also_if_it_states_a_version():
    from sample_games import race

    stated = race(version=3).identity
    assert stated["version"] == 3 and stated["content"].startswith("source-")
    assert race(version=3, score_range=(-2.0, 2.0)).identity != stated
    assert race().identity["version"] == stated["content"]


# ------------------------------------------------------------ files of matches, and a league


class Deep:
    """A player that takes its strength when a match begins."""

    name = "deep"

    def __init__(self, wanted):
        self.wanted = wanted

    def new_match(self, game, actions, seat, seed):
        self.game, self.depth = game, self.wanted

    def choose(self, state):
        return int(self.game.legal(state)[min(self.depth, len(self.game.legal(state)) - 1)])


def test_a_file_of_matches_tells_what_a_player_assigns_when_a_match_begins(tmp_path):
    def table(player):
        path, both = tmp_path / "nim.jsonl", {"one": player, "Random": players.Random()}
        return arena.matches(NIM, both, path=path)

    player = Deep(0)
    assert table(player).equals(table(player)) and table(Deep(0)).equals(table(player))
    with pytest.raises(ValueError, match="no file of these matches"):
        table(Deep(1))


def test_a_players_file_is_another_one_when_a_module_beside_it_changes(tmp_path):
    path = tmp_path / "anna.py"
    path.write_text("def player(s):\n    import helper\n    return helper.best(s)\n")
    found = []
    for text in (ONE, OTHER, ONE):
        (tmp_path / "helper.py").write_text(f"from deep import *\ndef best(s):\n    {text}\n")
        (tmp_path / "deep.py").write_text("import json\n")
        found.append(identity(PlayerFile(path)))
    assert found[0] == found[2] != found[1]
    assert set(found[0]["sources"]) == {"anna.py", "helper.py", "deep.py"}
    (tmp_path / "deep.py").write_text("import helper, numpy\n")  # a circle ends
    assert sources_behind_file(path) != found[0]["sources"]


# ------------------------------------------------------------ keys of records


def job(parameters, learner=td, final=()):
    full = records.learner_parameters(learner, parameters, 100)
    return runs.Job("s", "a", "a", 0, NIM, learner, full, 100, 100, (), final, None)


@pytest.mark.parametrize("name, value", [("alpha", 0.75), ("lambda_", 0.5), ("trace", "RESET")])
def test_a_changed_default_is_another_key_and_the_old_one_is_still_found(monkeypatch, name, value):
    usual, old = job({}).key, job({name: td.DEFAULTS[name]}).key
    assert usual == old
    monkeypatch.setitem(td.DEFAULTS, name, value)
    assert job({}).key == job({name: value}).key != usual
    assert job({name: td.PARAMETERS[name].default}).key == usual


def test_another_version_of_a_learner_leaves_nothing_out_of_its_keys(monkeypatch):
    full = records.learner_parameters(td, {}, 100)
    assert records.parameters_in_key(td, full) == {"episodes": 100}
    monkeypatch.setattr(td, "VERSION", 99)
    assert records.parameters_in_key(td, full) == full


def test_an_edited_list_of_n_tuples_is_another_key(tmp_path, monkeypatch):
    before = job({"tuples": "nim-1x3"}).key
    text = "nim-1x3: {tuples: [[0, 1, 2]]}\nmine: {tuples: [[0]]}\n...\n"
    monkeypatch.setenv("AFTERPLY_DATA", str(tmp_path))
    keys = []
    for text in (text, text.replace("[[0, 1, 2]]", "[[0, 1]]"), text.replace("[[0]]", "[[1]]")):
        (tmp_path / "ntuples.yaml").write_text(text)
        keys.append([job({"tuples": name}).key for name in ("nim-1x3", "mine")])
    assert keys[0][0] == before == keys[2][0] != keys[1][0]
    assert keys[0][1] == keys[1][1] != keys[2][1]


def test_a_file_that_an_evaluator_reads_is_in_its_key_once_it_is_another(tmp_path, monkeypatch):
    from afterply.studies.papers.mandziuk2004.giveaway_points import AgainstLinear

    file = "models/giveaway-learners.npz"
    reading = AgainstLinear(file)
    before = list(job({}, final=(reading,)).evaluations)
    assert records.contents_in_key(records.contents_of_files([file])) == {}
    monkeypatch.setitem(records.frozen()["contents"], file, "another")
    assert list(job({}, final=(reading,)).evaluations) != before
