"""What only [konen2021] needs: evaluators of its games, how games end, and arms of its readings."""

from ..claims import load

FARL = {"FARL": "on", "no-FARL": "off", "first part only": "first"}  # arm of the text -> its `farl`


def declare_reading(study, name, learner, setting, runs, **changed):
    """Declare the arms of a reading, and return the reading.

    Parameters
    ----------
    study : Study
        The study that gets the arms.
    name : str
        The reading, as in ``data/papers/konen2021.yaml``.
    learner : module
        What trains.
    setting : dict
        The arguments of the text's arms. The reading's own settings replace them.
    runs : int
        Trainings of each arm; with 0 nothing is declared.
    changed
        Arguments that replace those of the reading, too.
    """
    reading = load("konen2021").reading(name)
    if not runs:
        return reading
    settings = setting | reading.settings | reading.parameters | changed
    for arm_of_text, arm in reading.arms.items():
        study.arm(arm, learner, **(settings | {"runs": runs, "farl": FARL[arm_of_text]}))
    return reading
