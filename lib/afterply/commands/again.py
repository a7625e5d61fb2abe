"""``make again``: a recorded run, an arm, or a variant of one; see :mod:`.studies.question`."""

import re

from ..files import parse_yaml, reports_directory
from ..studies import question
from ..studies.reports import picture
from ..studies.sources import anchor
from . import add_command, pairs

USAGE = (
    "say which run or arm: make again RUN=connect4/FARL/3, or ARM=connect4/FARL, or"
    ' ARM=connect4/FARL SWITCH="alpha=0.5, tc=id" RUNS=3; the report names it in each row'
)


def add_again(commands):
    """Declare the command ``again``."""
    parser = add_command(
        commands, again, "Records and report are as they were, and the same command goes on."
    )
    parser.add_argument(
        "what",
        help="STUDY/ARM/RUN, such as connect4/FARL/3, or STUDY/ARM, as each row of the report names"
        " it",
    )
    parser.add_argument(
        "--switch",
        default="",
        help='parameters of the learner, such as "alpha=0.5, tc=id" (default: none)',
    )
    parser.add_argument(
        "--runs",
        default="",
        help="how many trainings --switch makes; default: as many as are recorded if that takes"
        " minutes, else three",
    )


def again(what, switch, runs) -> int:
    """Make a recorded run again, or each of an arm, and compare all numbers with the record.

    With --switch the arm is trained with other parameters and fresh seeds instead, and the verdicts
    that rest on it stand beside the old ones. Nothing is recorded; a figure goes into reports/mine.
    The exit status is 1 if something differs from the record.
    """
    if not what.strip():
        raise ValueError(USAGE)
    if not re.fullmatch(r"\d*", runs):
        raise ValueError(f"RUNS={runs!r} must be a whole number, such as 3")
    if switch.strip():
        answer = question.variant(what, runs=int(runs or 0), **_changes(what, switch))
        name = anchor(f"again-{what}-{switch}")
    else:
        answer = question.again(what)
        name = anchor(f"again-{what}")
    if answer.figure:
        folder = reports_directory() / "mine"
        picture.save(answer.figure, folder, name, answer.data, answer.caption)
        print(folder / f"{name}.svg")
    return 1 if answer.differs else 0


def _changes(what, switch):
    """Return name -> value of "alpha=0.5, epsilon=[0.1, 0.0], farl=off"."""
    study, arm, _ = question.named(what)
    declared = study.arms[arm][0].job.learner.PARAMETERS
    # a comma begins another parameter if a name and = follow
    assignments = re.split(r"\s*,\s*(?=\w+\s*=)", switch.strip())
    changes = {}
    for name, text in pairs(assignments, str.strip).items():
        name = name.strip()
        changes[name] = _value(declared.get(name), text)
    return changes


def _value(declared, text):
    # words stay words: on and off are True and False in YAML
    return text if declared and declared.kind == "choice" else parse_yaml(text)
