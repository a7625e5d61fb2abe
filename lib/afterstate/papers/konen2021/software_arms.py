"""Arms that follow another reading of [konen2021], such as "as the original software"."""

from ..claims import load

FARL = {"FARL": "on", "no-FARL": "off", "first part only": "first"}  # arm of the text -> its `farl`


def declare_reading(study, name, learner, setting, runs, **changed):
    """Declare the arms of a reading, `runs` trainings of each (0: none), and return the reading.

    setting: of the text's arms, by name of the arguments of ``Study.arm``; the reading's own come
    on top of it, and then what is `changed`.
    """
    reading = load("konen2021").reading(name)
    for arm, own in reading.arms.items() if runs else ():
        more = reading.settings | reading.parameters | changed | {"runs": runs, "farl": FARL[arm]}
        study.arm(own, learner, **(setting | more))
    return reading
