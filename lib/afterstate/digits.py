"""How numbers are written in texts, tables and figures.

Thousands have a comma; win : draw : loss has colons with room around; a mean and both ends of its
interval have the same decimals.
"""

import math
import re

CELL = re.compile(r"(\d+(?:\.\d+)?) ?[:/] ?(\d+(?:\.\d+)?) ?[:/] ?(\d+(?:\.\d+)?)")
BLANKS = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))")
WHOLE = re.compile(r"(?<![\w.,])\d{4,}(?!\w)")


def thousands(text):
    """Return a number, or a text with numbers, with commas between thousands.

    >>> thousands(4211), thousands("142 000 ± 1000"), thousands("0.05184 of 10000")
    ('4,211', '142,000 ± 1,000', '0.05184 of 10,000')
    """
    text = BLANKS.sub(",", str(text))
    return WHOLE.sub(lambda found: f"{int(found[0]):,}", text)


def printed(text):
    """Return a printed value as ours are written.

    >>> printed("99/0/1"), printed("0:75:25"), printed("1243")
    ('99 : 0 : 1', '0 : 75 : 25', '1,243')
    """
    found = CELL.fullmatch(text)
    return cell(found.groups()) if found else thousands(text)


def cell(texts):
    """Return the numbers of a cell in one text: win : draw : loss."""
    return " : ".join(texts)


def plain(number, sign=""):
    """Return a number to three digits, whole and with commas from a hundred on.

    >>> plain(21113.2, "+"), plain(0.02473), plain(-17.875), plain(-1.8)
    ('+21,113', '0.0247', '-17.9', '-1.8')
    """
    return f"{number:{sign},.0f}" if abs(number) >= 100 else f"{number:{sign}.3g}"


def together(numbers, sign="", decimals=None):
    """Return numbers that belong together, such as a mean and its interval, as texts.

    They have the same decimals: `decimals`, or as many as give half of the span two digits, at most
    three digits for numbers from one on; none from a hundred on. Equal numbers are `plain`.

    >>> together([-1.04, -1.8, -0.273]), together([37, 29.1, 44.9], "+")
    (['-1.04', '-1.80', '-0.27'], ['+37.0', '+29.1', '+44.9'])
    >>> together([-45.7, -156, 64.9]), together([21113, 9000.3, 30000])
    (['-46', '-156', '65'], ['21,113', '9,000', '30,000'])
    """
    if decimals is None:
        half, most = (max(numbers) - min(numbers)) / 2, max(map(abs, numbers))
        if not half > 1e-9 * most:
            return [plain(number, sign) for number in numbers]
        decimals = 1 - math.floor(math.log10(half))
        if most >= 1:
            decimals = min(decimals, 2 - math.floor(math.log10(most)))
        decimals = max(0, decimals)
    return [fixed(number, decimals, sign) for number in numbers]


def with_interval(mean, low, high, unit="", decimals=None):
    """Return a mean and its interval in one text, with the decimals that :func:`together` gives.

    >>> with_interval(37, 29.1, 44.9, "%")
    '37.0% [29.1%, 44.9%]'
    """
    mean, low, high = (text + unit for text in together((mean, low, high), decimals=decimals))
    return f"{mean} [{low}, {high}]"


def fixed(number, decimals, sign=""):
    """Return a number with `decimals` decimals, with commas, and no minus before a zero.

    >>> fixed(-0.04, 1), fixed(1243, 0)
    ('0.0', '1,243')
    """
    return f"{round(number, decimals) + 0.0:{sign},.{decimals}f}"
