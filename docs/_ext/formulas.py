"""Names of formulas as links: ``[posterior]`` on any page leads to where theory.md defines it.

**[posterior]** in theory.md  ->  a target;   [posterior] elsewhere, outside code  ->  a link to it
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

PAGE = "theory"
DEFINED = re.compile(r"^\*\*\[([a-z][a-z -]*)\]\*\*", flags=re.MULTILINE)
CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", flags=re.MULTILINE | re.DOTALL)


def target(name: str) -> str:
    """The label of a formula."""
    return f"formula-{name.replace(' ', '-')}"


def with_targets(text: str) -> str:
    r"""The page of formulas, each with a label.

    Examples
    --------
    >>> with_targets("**[mass]** is a sum.")
    '(formula-mass)=\n**[mass]** is a sum.'
    """
    return DEFINED.sub(lambda found: f"({target(found[1])})=\n{found[0]}", text)


def with_links(text: str, names: set[str]) -> str:
    """A page whose names of formulas are links; code and other brackets stay.

    Examples
    --------
    >>> with_links("see [mass], `[mass]`, [mass](a.md)", {"mass"})
    'see {ref}`[mass] <formula-mass>`, `[mass]`, [mass](a.md)'
    """
    known = "|".join(sorted(map(re.escape, names)))
    name = re.compile(rf"(?<![\[!*\w])\[({known})\](?![\[(:*])")

    def link(found: re.Match[str]) -> str:
        return f"{{ref}}`[{found[1]}] <{target(found[1])}>`"

    parts = CODE.split(text)
    return "".join(part if place % 2 else name.sub(link, part) for place, part in enumerate(parts))


def connect_names(app: Sphinx, docname: str, source: list[str]) -> None:
    """Change the text of a page before it is parsed."""
    if docname == PAGE:
        source[0] = with_targets(source[0])
    elif "/" not in docname or docname.startswith("tutorials/"):
        names = set(DEFINED.findall((Path(app.srcdir) / f"{PAGE}.md").read_text()))
        source[0] = with_links(source[0], names)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the links."""
    app.connect("source-read", connect_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
