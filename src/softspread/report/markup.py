"""Text blocks of a page: each function turns plain values into one piece of markup, `page` joins them.

    values  ->  heading, cards, table, facts, ...  ->  page

A page needs no network: style, script and data stand inside it, and its content policy forbids loading
anything. Every text is escaped where it enters.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape as _escape
from typing import Any

from softspread.report.script import ITEM_MAPS, POINT_MAPS
from softspread.report.style import STYLE


@dataclass(frozen=True, slots=True)
class Card:
    """One figure that a reader should take away."""

    title: str
    figure: str
    text: str
    good: bool = True


@dataclass(frozen=True, slots=True)
class Cell:
    """One entry of a table."""

    text: str
    detail: str = ""
    best: bool = False
    color: str = ""  # of a dot before the text


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a bar chart."""

    name: str
    share: float  # of the full width, 0 to 1
    text: str
    color: str = "var(--accent)"


def escape(value: Any) -> str:
    """Turn any value into text that is safe between tags and inside quoted attributes.

    Examples
    --------
    >>> escape('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return _escape(str(value), quote=True)


def heading(title: str, lead: str) -> str:
    """The page's title and a sentence about its contents."""
    return f"<header><h1>{escape(title)}</h1><p class='lead'>{escape(lead)}</p></header>"


def section(title: str, *blocks: str, note: str = "") -> str:
    """A titled part of the page; ``blocks`` are markup, the note is text."""
    remark = f"<p class='note'>{escape(note)}</p>" if note else ""
    return f"<section><h2>{escape(title)}</h2>{remark}{''.join(blocks)}</section>"


def paragraph(text: str) -> str:
    """Plain text."""
    return f"<p>{escape(text)}</p>"


def bullets(texts: Sequence[str]) -> str:
    """A list of sentences."""
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def code(text: str) -> str:
    """A command to type."""
    return f"<pre><code>{escape(text)}</code></pre>"


def cards(items: Sequence[Card]) -> str:
    """A row of figures."""
    parts = [
        f"<div class='card {'good' if card.good else 'plain'}'><div "
        f"class='card-title'>{escape(card.title)}</div><div class='figure'>{escape(card.figure)}</div><div "
        f"class='card-text'>{escape(card.text)}</div></div>"
        for card in items
    ]
    return f"<div class='cards'>{''.join(parts)}</div>"


def bar_list(items: Sequence[Bar]) -> str:
    """Names, bars and figures, one line each."""
    lines = "".join(
        f"<li><span title='{escape(bar.name)}'>{escape(bar.name)}</span><span class='track'>"
        f"<i style='width:{100 * bar.share:.1f}%;background:{escape(bar.color)}'></i></span>"
        f"<span class='number'>{escape(bar.text)}</span></li>"
        for bar in items
    )
    return f"<ol class='shares'>{lines}</ol>"


def bars(title: str, items: Sequence[Bar]) -> str:
    """A titled bar chart, as one of several :func:`panels`."""
    return f"<div class='panel'><strong>{escape(title)}</strong>{bar_list(items)}</div>"


def panels(*blocks: str) -> str:
    """Blocks side by side where there is room."""
    return f"<div class='panels'>{''.join(blocks)}</div>"


def facts(values: Mapping[str, Any]) -> str:
    """Names and values, one pair per line."""
    parts = [f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in values.items()]
    return f"<dl>{''.join(parts)}</dl>"


def table(header: Sequence[str], rows: Sequence[Sequence[Cell]], caption: str = "") -> str:
    """A table whose first column names the rows.

    The best entries stand out by weight and a mark, not by colour alone.
    """
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in header)
    body = "".join(
        f"<tr>{_cell(row[0], 'th')}{''.join(_cell(cell, 'td') for cell in row[1:])}</tr>" for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f"<div class='scroll'><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(cell: Cell, tag: str) -> str:
    scope = " scope='row'" if tag == "th" else ""
    mark = " class='best'" if cell.best else ""
    detail = f"<span class='detail'>{escape(cell.detail)}</span>" if cell.detail else ""
    star = "<span class='star' title='lowest in its column'>★</span>" if cell.best else ""
    dot = f"<i class='key' style='background:{escape(cell.color)}'></i>" if cell.color else ""
    return f"<{tag}{scope}{mark}>{star}{dot}{escape(cell.text)}{detail}</{tag}>"


def embed_json(name: str, data: Any) -> str:
    """Data for the page's script; nothing in it can end the script element early."""
    text = (
        json.dumps(data, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )
    return f"<script type='application/json' id='{escape(name)}'>{text}</script>"


def page(title: str, *blocks: str, footer: str = "") -> str:
    """A whole document; ``blocks`` are markup, title and footer are text."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='color-scheme' content='light dark'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(blocks)
        + f"\n<footer>{escape(footer)}</footer></main>\n"
        f"<script>{ITEM_MAPS}{POINT_MAPS}</script></body></html>\n"
    )
