"""The reference of Python names, written from the map in the package's docstring.

groups of softspread.__doc__ and the names in __all__  ->  reference/api.md, one table per group
"""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

import softspread

HEAD = """\
# Python

Every public name. Its page shows parameters, an example, and the examples of the gallery that use it.
"""


def groups() -> dict[str, list[str]]:
    """Public names under the headings of the docstring, each once, where it comes first."""
    found: dict[str, list[str]] = {}
    left = set(softspread.__all__)
    for line in (softspread.__doc__ or "").splitlines():
        if re.match(r"[A-Z][a-z ]+( \(.*\))?$", line):
            names = found.setdefault(line.partition(" (")[0], [])
        elif found and line.startswith("    "):
            new = [word for word in re.findall(r"\w+", line) if word in left]
            names += list(dict.fromkeys(new))
            left -= set(new)
    if left:
        raise ValueError(f"the docstring of softspread does not name {sorted(left)}")
    return found


def table(title: str, names: list[str]) -> str:
    """A heading and the list that autosummary turns into pages."""
    lines = ["   :toctree: api", "   :nosignatures:", "", *[f"   {name}" for name in names]]
    head = ["```{eval-rst}", ".. currentmodule:: softspread", ".. autosummary::"]
    return "\n".join([f"## {title}", *head, *lines, "```", ""])


def write(app: Sphinx, config: Config) -> None:
    """Write the page unless it is as it should be."""
    page = HEAD + "\n" + "\n".join(table(title, names) for title, names in groups().items())
    target = Path(app.srcdir) / "reference" / "api.md"
    if not target.exists() or target.read_text() != page:
        target.write_text(page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before autosummary looks for names."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
