"""Sentences that are written by hand, and the results that they rest on.

What a sentence rests on is a mapping from results to what the sentence says of them::

    konen2021/farl-vital: undecided                          a statement: its verdict
    what-carries/hex, symmetries: open 28                    a study's cell: its word and number
    many-players/search-nim: does not hold 34 [32, 36]       the same with its interval
    othello/FARL, win_rate, opponent Rhino, level 4: 40.0    the mean over the runs of an arm

A number is compared with as many digits as the sentence has. If a result moves, the sentence has to
be read again: :func:`moved` says so, and the report has a gap.
"""

import re

from ..papers.compare import final_values
from ..results import in_words

NUMBER = re.compile(r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?")


def results_by_name(names, cells, found) -> dict:
    """Return name -> (word, *numbers) of those results that there are.

    Parameters
    ----------
    names : set
        Of all that sentences rest on.
    cells : dict
        "paper/id" of statements and "study/cell" -> (word, *numbers); the latter are `cells` of
        :class:`afterply.studies.Study`.
    found : dict
        Of :func:`afterply.studies.results.by_columns`; the word of a mean is empty.
    """
    means = {}
    for (study, arm, columns), rows in found.items():
        if (name := f"{study}/{arm}, {in_words(columns)}") in names:
            values = final_values(rows).values()
            means[name] = "", sum(values) / len(values)
    return cells | means


def moved(rests_on, results) -> list:
    """Return in words each result, of `results_by_name`, that is no longer as said."""
    late = []
    for name, said in rests_on.items():
        if name not in results:
            late.append(f"{name} was {said!r} and is not among the results now")
            continue
        word, numbers = parts_of(said)
        now, *more = results[name]
        digits = [_written(number, like) for number, like in zip(more, numbers)]
        if word != now or digits != [_plain(number) for number in numbers]:
            is_now = " ".join(filter(None, [now, ", ".join(digits)]))
            late.append(f"{name} was {str(said)!r} and is {is_now!r} now")
    return late


def parts_of(said) -> tuple:
    """Return the word and the written numbers of what a sentence says of a result.

    >>> parts_of("does not hold 34 [32, 36]")
    ('does not hold', ['34', '32', '36'])
    """
    return NUMBER.split(str(said))[0].strip(), NUMBER.findall(str(said))


def numbers_in(text) -> list:
    """Return the numbers at the beginning of what an outcome says: its mean and interval.

    >>> numbers_in("+249 [+188, +306] Elo (99.7% interval, p* < 0.001)")
    [249.0, 188.0, 306.0]
    """
    return [float(number.replace(",", "")) for number in NUMBER.findall(text.partition("(")[0])]


def _plain(number):
    return number.replace(",", "").lstrip("+")


def _written(number, like):
    # with as many decimals; 0 has no sign
    decimals = len(like.partition(".")[2])
    return f"{round(number, decimals) + 0.0:.{decimals}f}"


def texts_of(answer) -> list:
    """Return (text, what it rests on) of an entry of answers.yaml.

    These are its answer, and the paragraphs of its notebook, told by the words they begin with.
    """
    paragraphs = answer.get("paragraphs", {})
    named = [(f"{answer['notebooks'][0]}, {lead}", on) for lead, on in paragraphs.items()]
    return [(answer["answer"], answer["rests_on"]), *named]
