"""Words of others, such as those of a file from elsewhere, where they are shown."""

import re
import unicodedata


def texts_in(value):
    """Yield all texts of a value that was read from JSON, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield name
            yield from texts_in(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from texts_in(entry)


def unprintable(text: str) -> str:
    """Return the first character of a text that steers a terminal, or is half of one; "" if none.

    Ends of lines and tabs are none.
    """
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t":
            return character
    return ""


def printable(text: str) -> str:
    """Return a text with what is :func:`unprintable` in it as Python writes it."""
    while found := unprintable(text):
        text = text.replace(found, ascii(found)[1:-1])
    return text


def as_markdown(text: str) -> str:
    """Return a text as Markdown that shows exactly this text, in one line."""
    text = re.sub(r"([\\`*<>\[\]|~$]|&(?=#?\w+;))", r"\\\1", text.strip())
    text = re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)  # inside a word it is no mark
    return re.sub(r"\s*\n\s*", "<br>", text)


def as_code(text: str, language: str = "") -> str:
    """Return a text as a block of code in Markdown, which no line of it ends."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
