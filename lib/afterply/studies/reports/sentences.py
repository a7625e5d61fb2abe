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


def results_by_name(names, cells, results) -> dict:
    """Return name -> (word, *numbers) of those results that there are.

    Parameters
    ----------
    names : set
        Of all that sentences rest on.
    cells : dict
        "paper/id" of statements and "study/cell" -> (word, *numbers); the latter are `cells` of
        :class:`afterply.studies.Study`.
    results : dict
        Of :func:`afterply.studies.results.by_columns`; the word of a mean is empty.
    """
    means = {}
    for study, arm, columns in results:
        name = f"{study}/{arm}, {in_words(columns)}"
        if name in names:
            values = final_values(results[study, arm, columns]).values()
            means[name] = ("", sum(values) / len(values))
    return cells | means


def moved(rests_on, results) -> list:
    """Return in words each result, of `results_by_name`, that is no longer as a sentence says."""
    changes = []
    for name, words in rests_on.items():
        if name not in results:
            changes.append(f"{name} was {words!r} and is not among the results now")
            continue
        written_word, written_numbers = parts_of(words)
        word, *numbers = results[name]
        # Further numbers of the result, which the sentence does not write, are not compared.
        now = [_written_like(example, number) for number, example in zip(numbers, written_numbers)]
        if word != written_word or now != [_without_commas(number) for number in written_numbers]:
            words_now = " ".join(filter(None, [word, ", ".join(now)]))
            changes.append(f"{name} was {str(words)!r} and is {words_now!r} now")
    return changes


def parts_of(words) -> tuple:
    """Return the word and the written numbers of what a sentence says of a result.

    >>> parts_of("does not hold 34 [32, 36]")
    ('does not hold', ['34', '32', '36'])
    """
    text = str(words)
    return NUMBER.split(text)[0].strip(), NUMBER.findall(text)


def numbers_in(text) -> list:
    """Return the numbers at the beginning of what an outcome says: its mean and interval.

    >>> numbers_in("+249 [+188, +306] Elo (99.7% interval, p* < 0.001)")
    [249.0, 188.0, 306.0]
    """
    numbers = NUMBER.findall(text.partition("(")[0])
    return [float(number.replace(",", "")) for number in numbers]


def _without_commas(number):
    """Return a written number without commas and the sign plus."""
    return number.replace(",", "").lstrip("+")


def _written_like(example, number):
    """Return a number with as many decimals as a written one has."""
    decimals = len(example.partition(".")[2])
    rounded = round(number, decimals) + 0.0  # 0 has no sign
    return f"{rounded:.{decimals}f}"


def texts_of(answer) -> list:
    """Return (text, what it rests on) of an entry of answers.yaml.

    These are its answer, and the paragraphs of its notebook, told by the words they begin with.
    """
    texts = [(answer["answer"], answer["rests_on"])]
    for first_words, rests_on in answer.get("paragraphs", {}).items():
        texts.append((f"{answer['notebooks'][0]}, {first_words}", rests_on))
    return texts
