"""Sentences that are written by hand say what the records say, and a moved number is noticed."""

import re

import pytest

from afterply.files import data_directory, read_json, read_yaml
from afterply.studies import notebooks
from afterply.studies.reports import sentences

SAID = {
    "p/s": "holds",
    "a study/hex, symmetries": "open 28",
    "a study/nim": "does not hold 34 [32, 36]",
    "othello/FARL, win_rate, opponent Rhino, level 4": "40.0",
}
FOUND = {
    "p/s": ("holds",),
    "a study/hex, symmetries": ("open", 27.6, -7.8, 63.0),
    "a study/nim": ("does not hold", 34.2, 32.1, 36.3),
    "othello/FARL, win_rate, opponent Rhino, level 4": ("", 39.96),
}


def test_what_is_as_said_has_not_moved():
    assert sentences.moved(SAID, FOUND) == []
    said = {"a": "-0.4", "b": "0", "c": "1,520", "d": 1520, "e": "+3 points"}
    found = {"a": ("", -0.44), "b": ("", -0.3), "c": ("", 1519.7), "d": ("", 1519.7)}
    assert sentences.moved(said, found | {"e": ("", 3.2)}) == []


@pytest.mark.parametrize(
    "name, now, told",
    [
        ("p/s", ("undecided",), "was 'holds' and is 'undecided' now"),
        ("a study/hex, symmetries", ("helps", 27.6), "was 'open 28' and is 'helps 28' now"),
        ("a study/hex, symmetries", ("open", 28.6), "was 'open 28' and is 'open 29' now"),
        ("a study/nim", ("does not hold", 34.2, 31.4, 36.3), "is 'does not hold 34, 31, 36' now"),
        ("othello/FARL, win_rate, opponent Rhino, level 4", ("", 39.94), "is '39.9' now"),
    ],
)
def test_a_result_that_moved_is_told(name, now, told):
    (late,) = sentences.moved(SAID, FOUND | {name: now})
    assert late.startswith(name) and late.endswith(told)
    (late,) = sentences.moved({"gone": "holds"}, FOUND)
    assert late == "gone was 'holds' and is not among the results now"


def answers():
    """All entries of answers.yaml."""
    linked = read_yaml(data_directory() / "papers" / "answers.yaml")
    return [linked["headline"], *linked["papers"].values(), *linked["studies"]]


@pytest.mark.parametrize("answer", answers(), ids=lambda answer: answer["answer"][:40])
def test_numbers_that_a_text_rests_on_stand_in_it(answer):
    # those of papers have more texts, as on their program
    text = " ".join(answer.get(name, "") for name in ("news", "answer", "program"))
    texts = {text: answer["rests_on"]}
    if "paragraphs" in answer:
        of_notebook = paragraphs(notebooks.find(answer["notebooks"])[0])
        assert set(of_notebook) == set(answer["paragraphs"])
        texts |= {of_notebook[lead]: on for lead, on in answer["paragraphs"].items()}
    for text, on in texts.items():
        written = {number.strip("+-,") for number in sentences.NUMBER.findall(text)}
        for name, said in on.items():
            numbers = {number.lstrip("+-") for number in sentences.parts_of(said)[1]}
            assert numbers <= written, f"{name}: {numbers - written} is not in: {text}"


def paragraphs(path) -> dict:
    """Emphasised words -> the paragraph that begins with them, in cells with the tag "answers"."""
    found = {}
    for cell in read_json(path)["cells"]:
        if "answers" in cell["metadata"].get("tags", []):
            for text in re.split(r"\n+", "".join(cell["source"])):
                if lead := re.match(r"(?:- )?(\*+)(.+?)\.?\1", text):
                    found[lead[2]] = text
    return found


def test_notebooks_whose_answers_are_checked_name_all_of_them():
    tagged = {path.stem for path in notebooks.find() if paragraphs(path)}
    named = {answer["notebooks"][0] for answer in answers() if "paragraphs" in answer}
    assert tagged == named and {"50_what_carries", "51_many_players"} <= named


STUDIES = [path for path in notebooks.find() if path.stem not in notebooks.WITHOUT_RECORDS]


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_study_begins_with_question_answer_and_one_picture(path):
    first, *others = read_json(path)["cells"]
    text = "".join(first["source"])
    opening = dict(re.findall(r"(?m)^\*(Question|Answer)\.\* (.+)$", text))
    assert list(opening) == ["Question", "Answer"]
    assert len(re.findall(r"[.!?](?=\s|$)", opening["Answer"])) <= 2
    (longer,) = [one["answer"] for one in answers() if path.stem in one.get("notebooks", ())]
    checked = set(sentences.NUMBER.findall(longer))
    assert set(sentences.NUMBER.findall(opening["Answer"])) <= checked
    for cell in others:
        tags = cell["metadata"].get("tags", ())
        if "picture" in tags:
            break
        assert cell["cell_type"] == "code"
        folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        assert folded or "parameters" in tags
    else:
        raise AssertionError('no cell has the tag "picture"')
