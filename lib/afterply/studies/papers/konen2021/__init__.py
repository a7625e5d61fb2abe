"""What only [konen2021] needs: evaluators of its games, how games end, and arms of its readings."""

from ..claims import load

FARL = {"FARL": "on", "no-FARL": "off", "first part only": "first"}  # arm of the text -> its `farl`


def declare_reading(study, name, learner, setting, runs, **changed):
    """Declare the arms of a reading, `runs` trainings of each (0: none), and return the reading."""
    # setting: of the text's arms, under the reading's own and what is `changed`
    reading = load("konen2021").reading(name)
    for arm, own in reading.arms.items() if runs else ():
        more = reading.settings | reading.parameters | changed | {"runs": runs, "farl": FARL[arm]}
        study.arm(own, learner, **(setting | more))
    return reading
