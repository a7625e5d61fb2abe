"""``make again``: a recorded run, an arm, or a variant of one; see :mod:`.studies.question`."""

import re

import yaml

from ..files import reports_directory
from ..studies import question
from ..studies.reports import picture
from ..studies.sources import anchor
from . import pairs

USAGE = (
    "say which run or arm: make again RUN=connect4/FARL/3, or ARM=connect4/FARL, or"
    ' ARM=connect4/FARL SWITCH="alpha=0.5, tc=id" RUNS=3; the report names it in each row'
)


def again(what, switch="", runs="") -> int:
    """Make a recorded run again, or each of an arm, and compare all numbers with the record.

    With --switch the arm is trained with other parameters and fresh seeds instead, and the verdicts
    that rest on it stand beside the old ones. Nothing is recorded; a figure goes into reports/mine.
    The exit status is 1 if something differs from the record.

    what: STUDY/ARM/RUN, such as connect4/FARL/3, or STUDY/ARM, as each row of the report names it
    switch: parameters of the learner, such as "alpha=0.5, tc=id" (default: none)
    runs: how many trainings --switch makes; default: as many as are recorded if that takes minutes,
        else three
    Ctrl-C: Records and report are as they were, and the same command goes on.
    """
    if not what.strip():
        raise ValueError(USAGE)
    if not re.fullmatch(r"\d*", str(runs)):
        raise ValueError(f"RUNS={runs!r} must be a whole number, such as 3")
    if switch.strip():
        found = question.variant(what, runs=int(runs or 0), **_changes(what, switch))
    else:
        found = question.again(what)
    if found.figure:
        name = anchor(f"again-{what}" + (f"-{switch}" if switch else ""))
        folder = reports_directory() / "mine"
        picture.save(found.figure, folder, name, found.data, found.caption)
        print(folder / f"{name}.svg")
    return 1 if found.differs else 0


def _changes(what, switch):
    """Return name -> value of "alpha=0.5, epsilon=[0.1, 0.0], farl=off"."""
    study, arm, _ = question.named(what)
    declared = study.arms[arm][0].job.learner.PARAMETERS
    # a comma begins another parameter if a name and = follow
    given = pairs(re.split(r"\s*,\s*(?=\w+\s*=)", switch.strip()), str.strip)
    return {name.strip(): _value(declared.get(name.strip()), text) for name, text in given.items()}


def _value(declared, text):
    # words stay words: on and off are True and False in YAML
    return text if declared and declared.kind == "choice" else yaml.safe_load(text)
