"""Markdown as a lead writes it -> HTML that is safe to show to everybody.

Tags in the text stay text, links lead only to web and mail addresses, and pictures become links: nothing of
what a lead writes can run, or tell another server who reads it.
"""

from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

KEPT = 8  # renderings
ALLOWED = ("http://", "https://", "mailto:")


@lru_cache(maxsize=KEPT)
def render(text: str) -> Markup:
    """HTML of a text in Markdown (CommonMark, with tables).

    Examples
    --------
    >>> print(render("*Look* <b>twice</b>").strip())
    <p><em>Look</em> &lt;b&gt;twice&lt;/b&gt;</p>
    """
    return Markup(_renderer().render(text))


@lru_cache(maxsize=1)
def _renderer() -> MarkdownIt:
    made = _Careful("commonmark", {"html": False}).enable("table").disable(["image"])
    made.add_render_rule("link_open", _open_elsewhere)
    return made


class _Careful(MarkdownIt):
    """Follows no link but to web and mail addresses."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the name that the library calls
        return url.strip().lower().startswith(ALLOWED)


def _open_elsewhere(renderer: Any, tokens: Any, place: int, options: Any, _env: Any) -> str:
    """Links open in another tab: the vote page stays where it is."""
    tokens[place].attrSet("target", "_blank")
    tokens[place].attrSet("rel", "noopener noreferrer nofollow")
    return str(renderer.renderToken(tokens, place, options, _env))
