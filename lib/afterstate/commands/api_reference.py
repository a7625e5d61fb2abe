"""Build the API reference, one page for each module, from the docstrings by pdoc.

``make docs`` does it: ``reports/api/index.html``. The pages fetch nothing from elsewhere, and their
search works without a server.
"""

import pkgutil
import re
import shutil
import warnings
from pathlib import Path

from ..files import reports_directory
from ..kernel.source import PACKAGE
from ..reports.templating import FOLDER

ROOT = "afterstate"


def public_modules() -> list[str]:
    """Return the names of all modules that have a page: all but those that begin with ``_``."""
    found = [module.name for module in pkgutil.walk_packages([str(PACKAGE)], f"{ROOT}.")]
    return [ROOT, *(name for name in found if "._" not in name)]


def as_pdoc_reads(docstring: str) -> str:
    r"""Return a docstring without the two marks of reStructuredText that pdoc would show as text.

    Examples
    --------
    >>> from afterstate.commands.api_reference import as_pdoc_reads
    >>> as_pdoc_reads("See :class:`~afterstate.games.Game`.\n\n::\n\n    s[0]   stones")
    'See :class:`afterstate.games.Game`.\n\n\n\n    s[0]   stones'
    """
    return re.sub(r"(?m)^( *)::$", r"\1", docstring).replace(":`~", ":`")


def build(target: Path, source: bool = True) -> list[str]:
    """Write the pages into a directory, which is emptied first; return the modules they describe.

    With `source` each function shows how it is written.

    Raises
    ------
    ImportError
        If pdoc is not installed.
    """
    try:
        import pdoc
    except ModuleNotFoundError as error:
        raise ImportError("the API reference needs pdoc: pip install 'afterstate[docs]'") from error
    names = public_modules()
    shutil.rmtree(target, ignore_errors=True)
    pdoc.render.configure(
        docformat="numpy", template_directory=FOLDER / "api", footer_text=ROOT, show_source=source
    )
    convert = pdoc.docstrings.convert
    pdoc.docstrings.convert = lambda text, *rest: convert(as_pdoc_reads(text), *rest)
    with warnings.catch_warnings():  # it finds modules twice: by their package, if it lists them
        warnings.filterwarnings("ignore", "The module specification")
        pdoc.pdoc(*names, r"!.*\._.*", output_directory=target)
    pdoc.docstrings.convert = convert
    return names


if __name__ == "__main__":
    folder = reports_directory() / "api"
    print(f"{len(build(folder))} modules: {folder / 'index.html'}")
