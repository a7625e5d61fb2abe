"""Of a notebook only what makes studies and runs is executed in a plan."""

import ast

import pytest

from afterstate.commands.planning import needed

SETTING = "import slow, study\nfrom a import Study, td\nepisodes = 5\nstudy = Study('x')\n"


@pytest.mark.parametrize(
    "cell, kept",
    [
        ("result = slow.everything()\nstudy.run('a', td)\nprint(result)", ["study.run('a', td)"]),
        (
            "arms = {'a': 1}\narms['b'] = 2\nother = [1]\nstudy.run('a', td, **arms)",
            ["arms = {", "arms[", "study"],
        ),
        ("kept = []\nkept.append(3)\nstudy.run('a', kept)", ["kept", "kept", "study"]),
        ("table = slow.table()\ntable = 3\nstudy.run('a', table)", ["table = 3", "study"]),
        ("n = 2\nn += 1\nstudy.run('a', n)", ["n = 2", "n += 1", "study"]),
        ("def f():\n    return best\nbest = 3\nstudy.run('a', f)", ["def f", "best", "study"]),
        ("for k in range(3):\n    study.run(k, td)\n    study.figure(k)", ["for k"]),
        ("rows = [k for episodes in slow.rows()]\nstudy.run('a', td)", ["study"]),
        ("game = study.load()\ngame.view(slow.state())\nstudy.run('a', game)", ["game =", "study"]),
    ],
)
def test_needed_statements(cell, kept):
    statements = [ast.unparse(s) for s in needed(ast.parse(SETTING + cell).body)]
    mine = [s for s in statements if s not in ast.unparse(ast.parse(SETTING)).splitlines()]
    assert len(mine) == len(kept), mine
    assert all(text.startswith(start) for text, start in zip(mine, kept)), mine


def test_nothing_is_needed_without_studies():
    assert needed(ast.parse("session = td.Session()\nsession.train(1000)").body) == []
