"""The map from the paper to the source: names exist and cite, and citations are in the map."""

import pytest

from afterstate.reports import correspondence, page

MODULE = '''
"""Module. Source: [konen2021] Sec. 3.1."""
ALPHA, BETA = 1, 2
DEFAULTS = {"epsilon": 0.1}

class Learner:
    """A learner."""
    step: float

    def update(self):
        """Update. Source: [konen2021] Alg. 7, lines 3-9; Eq. (3) and (5). Deviations: D1 of A9."""

def episode():
    """Play.

    Source: [other] Alg. 8; [konen2021] Alg. 1, 2 and App. A.6.7
    """
'''


def entry(cite, *names, status="built"):
    return correspondence.Entry("group", status, "line 1", cite, "says", names, "", "")


@pytest.fixture
def found(tmp_path):
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "chess.py").write_text(MODULE.strip())
    return correspondence.definitions(tmp_path)


def test_the_map_fits_the_source():
    assert correspondence.problems(correspondence.load()) == []


def test_the_map_holds_all_algorithms_and_equations():
    cited = " ".join(f"{entry.group} {entry.at} {entry.cite}" for entry in correspondence.load())
    assert all(
        place in cited
        for place in [f"Alg. {number}" for number in range(1, 8)]
        + [f"Eq. ({number})" for number in range(1, 6)]
    )


def test_definitions_hold_members_constants_and_keys(found):
    names = {
        "games.chess",
        "games.chess.ALPHA",
        "games.chess.BETA",
        "games.chess.DEFAULTS['epsilon']",
        "games.chess.Learner.step",
        "games.chess.Learner.update",
        "games.chess.episode",
    }
    assert names <= set(found)


def test_citations_are_read_one_by_one(found):
    assert correspondence.citations(found["games.chess"][0]) == {"Sec. 3.1"}
    assert correspondence.citations(found["games.chess.Learner.update"][0]) == {
        "Alg. 7",
        "Eq. (3)",
        "Eq. (5)",
    }
    assert correspondence.citations(found["games.chess.episode"][0]) == {
        "Alg. 1",
        "Alg. 2",
        "App. A.6.7",
    }


def test_every_kind_of_misfit_is_reported(found):
    complete = [
        entry("Sec. 3.1", "games.chess"),
        *(entry(place, "games.chess.Learner.update") for place in ("Alg. 7", "Eq. (3)", "Eq. (5)")),
        *(entry(place, "games.chess.episode") for place in ("Alg. 1", "Alg. 2", "App. A.6.7")),
    ]
    assert correspondence.problems(complete, found) == []
    assert (
        "games.chess.episode cites Alg. 2"
        in correspondence.problems(complete[:5] + complete[6:], found)[0]
    )
    assert (
        "has no games.chess.gone"
        in correspondence.problems([*complete, entry("Alg. 2", "games.chess.gone")], found)[0]
    )
    assert (
        "does not say Source: [konen2021] Alg. 5"
        in correspondence.problems([*complete, entry("Alg. 5", "games.chess.episode")], found)[0]
    )
    assert "names no function" in correspondence.problems([*complete, entry("Alg. 3")], found)[0]
    assert correspondence.problems([*complete, entry("Alg. 3", status="planned")], found) == []


@pytest.mark.parametrize(
    "text, words",
    [
        ("groups: [{title: t, cite: Alg. 1, status: bulit, rows: []}]", "bulit"),
        (
            "groups: [{title: t, cite: Alg. 1, status: built, rows: [{at: a, say: b, ours: []}]}]",
            "unknown field 'say'",
        ),
        (
            "groups: [{title: t, cite: Alg. 1, status: built, rows: [{at: a, ours: []}]}]",
            "lacks the field 'says'",
        ),
    ],
)
def test_a_wrong_map_is_refused(tmp_path, text, words):
    path = tmp_path / "map.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        correspondence.load(path)


@pytest.mark.slow
def test_the_page_is_written_twice_with_its_drawings(tmp_path):
    correspondence.build("paper", tmp_path)
    html, markdown = (
        (tmp_path / "paper" / f"correspondence.{kind}").read_text() for kind in ("html", "md")
    )
    for name in ("td.td_farl_episode", "NTuple2ValueFunc.update()", "sarsa.sarsa_farl_episode"):
        assert name in html and name in markdown
    assert html.count("<img src=\"schematic-") == 2
    assert all(
        page.is_svg((tmp_path / "paper" / f"schematic-{name}.svg").read_text())
        for name in ("afterstate", "networks")
    )
    assert (
        "../../lib/afterstate/learners/td.py" in html
        and "../../lib/afterstate/games/rules/nim.py" in markdown
    )


def test_a_misfit_is_told_on_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(correspondence, "problems", lambda entries: ["a | gap"])
    correspondence.build("paper", tmp_path)
    assert 'class="gap"><strong>Gap:</strong> a | gap' in (tmp_path / "paper" / "correspondence.html").read_text()
