"""One offline HTML page from blocks: each function turns plain values into one piece of markup, `page` joins them.

    values  ->  heading, cards, table, histograms, item_map, facts  ->  page  ->  write_text

A page needs no network: style, script and data stand inside it, and its content policy forbids loading anything. Every
text is escaped where it enters. Colours are variables, so that light, dark and print differ only in the style sheet.
"""

import base64
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape as _escape
from pathlib import Path
from typing import Any

import numpy as np

from softspread.data import AnyArray, FloatArray
from softspread.errors import InputError, StoreError

PALETTE = (
    "#4269d0",
    "#efb118",
    "#ff725c",
    "#6cc5b0",
    "#3ca951",
    "#ff8ab7",
    "#a463f2",
    "#97bbf5",
    "#9c6b4e",
    "#9498a0",
)  # fmt: skip  - ten hues that stay apart on white and on black
GOLDEN_ANGLE = 137.508  # degrees; hues in these steps never come close to each other
MAP_SIZE = 1000  # units of the square that a map is drawn in
LEAST_EVIDENCE = 1e-3  # less than a thousandth of a vote is drawn as that
HISTOGRAM_BINS = 32


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


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Soft labels and evidence of all items at one moment."""

    name: str
    p: FloatArray  # (n, n_classes)
    evidence: FloatArray  # (n,)
    n_votes: AnyArray  # (n,) votes on the item itself


@dataclass(frozen=True, slots=True, eq=False)
class ItemMap:
    """Items in the plane, and what is known about them at one or several moments."""

    positions: FloatArray  # (n, 2)
    classes: Sequence[Any]
    views: Sequence[View]
    start: int = 0  # the view shown first
    p_true: FloatArray | None = None  # (n, n_classes)
    images: AnyArray | None = None  # (n, height, width) grey, larger is darker
    marks: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # texts to write into the plane


# --------------------------------------------------------------------------------------------------------- text blocks
def escape(value: Any) -> str:
    """Any value as text that is safe between tags and inside quoted attributes.

    Examples
    --------
    >>> escape('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return _escape(str(value), quote=True)


def heading(title: str, lead: str) -> str:
    """The page's title and the sentence that says what it shows."""
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
    """Something to type."""
    return f"<pre><code>{escape(text)}</code></pre>"


def cards(items: Sequence[Card]) -> str:
    """A row of figures."""
    parts = [
        f"<div class='card {'good' if card.good else 'plain'}'><div class='card-title'>{escape(card.title)}</div>"
        f"<div class='figure'>{escape(card.figure)}</div><div class='card-text'>{escape(card.text)}</div></div>"
        for card in items
    ]
    return f"<div class='cards'>{''.join(parts)}</div>"


def facts(values: Mapping[str, Any]) -> str:
    """Names and values, one pair a line."""
    parts = [f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in values.items()]
    return f"<dl>{''.join(parts)}</dl>"


def table(header: Sequence[str], rows: Sequence[Sequence[Cell]], caption: str = "") -> str:
    """A table whose first column names the rows; the best entries stand out by weight and a mark, not colour alone."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{_cell(row[0], 'th')}{''.join(_cell(cell, 'td') for cell in row[1:])}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<div class='scroll'><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _cell(cell: Cell, tag: str) -> str:
    scope = " scope='row'" if tag == "th" else ""
    mark = " class='best'" if cell.best else ""
    detail = f"<span class='detail'>{escape(cell.detail)}</span>" if cell.detail else ""
    star = "<span class='star' title='lowest in its column'>★</span>" if cell.best else ""
    return f"<{tag}{scope}{mark}>{star}{escape(cell.text)}{detail}</{tag}>"


# ------------------------------------------------------------------------------------------------------------ pictures
def histograms(series: Mapping[str, FloatArray], unit: str) -> str:
    """How values are spread, one small chart for each series, on one shared logarithmic scale with the median marked.

    Parameters
    ----------
    series : name -> (n,) values; below 0.001 they count as that
    unit : what the values are
    """
    if not series or any(len(values) == 0 for values in series.values()):
        raise InputError("histograms need at least one series, each with at least one value.")
    logs = {name: np.log10(np.maximum(values, LEAST_EVIDENCE)) for name, values in series.items()}
    low = np.floor(min(values.min() for values in logs.values()))
    high = max(np.ceil(max(values.max() for values in logs.values())), low + 1)
    edges = np.linspace(low, high, HISTOGRAM_BINS + 1)
    charts = [_histogram(name, values, edges, unit) for name, values in logs.items()]
    return f"<div class='charts'>{''.join(charts)}</div>"


def _histogram(name: str, logs: FloatArray, edges: FloatArray, unit: str) -> str:
    width, height, base = 320.0, 150.0, 122.0  # of the drawing; bars stand on ``base``, tick labels below it
    left, top = 8.0, 40.0
    counts = np.histogram(logs, bins=edges)[0]
    span = edges[-1] - edges[0]
    step = (width - 2 * left) / len(counts)
    bars = []
    for column, count in enumerate(counts.tolist()):
        size = (base - top) * count / max(1, counts.max())
        text = f"{10 ** edges[column]:.3g} to {10 ** edges[column + 1]:.3g} {unit}: {count} items"
        bars.append(
            f"<rect class='bar' x='{left + column * step + 0.5:.1f}' y='{base - size:.1f}' width='{step - 1:.1f}' "
            f"height='{size:.1f}'><title>{escape(text)}</title></rect>"
        )
    ticks = []
    for power in range(int(edges[0]), int(edges[-1]) + 1):
        x = left + (power - edges[0]) / span * (width - 2 * left)
        anchor = "start" if power == edges[0] else "end" if power == edges[-1] else "middle"
        ticks.append(f"<line class='axis' x1='{x:.1f}' x2='{x:.1f}' y1='{base}' y2='{base + 4}'/>")
        ticks.append(f"<text class='tick' x='{x:.1f}' y='{base + 17}' text-anchor='{anchor}'>{10.0**power:g}</text>")
    median = float(np.median(logs))
    x = left + (median - edges[0]) / span * (width - 2 * left)
    anchor = "end" if x > width / 2 else "start"
    line = (
        f"<line class='median' x1='{x:.1f}' x2='{x:.1f}' y1='{top - 16}' y2='{base}'/>"
        f"<text class='tick' x='{x + (-5 if anchor == 'end' else 5):.1f}' y='{top - 8}' text-anchor='{anchor}'>"
        f"median {10**median:.2g}</text>"
    )
    return (
        f"<svg class='chart' viewBox='0 0 {width:g} {height:g}' role='img' aria-label='{escape(name)}: {escape(unit)}'>"
        f"<text class='chart-title' x='{left}' y='12'>{escape(name)}</text>{''.join(bars)}"
        f"<line class='axis' x1='{left}' x2='{width - left}' y1='{base}' y2='{base}'/>{''.join(ticks)}{line}</svg>"
    )


def item_map(data: ItemMap, name: str = "items") -> str:
    """Two maps of all items, by most probable class and by evidence; pointing at an item shows what is known of it."""
    options = "".join(
        f"<button type='button' data-view='{number}' aria-pressed='{str(number == data.start).lower()}'>"
        f"{escape(view.name)}</button>"
        for number, view in enumerate(data.views)
    )
    legend = "".join(
        f"<span><i style='background:{color}'></i>{escape(label)}</span>"
        for label, color in zip(data.classes, class_colors(len(data.classes)), strict=True)
    )
    maps = "".join(
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f"<svg class='map' data-kind='{kind}' viewBox='0 0 {MAP_SIZE} {MAP_SIZE}' role='img' "
        f"aria-label='{escape(title)}'></svg>{key}</figure>"
        for kind, title, key in (
            (
                "class",
                "Most probable class; paler is less certain, rings are votes",
                f"<div class='legend'>{legend}</div>",
            ),
            (
                "evidence",
                "Evidence: how many votes' worth has reached each item",
                "<div class='legend scale'><span class='least'></span><b></b><span class='most'></span></div>",
            ),
        )
    )
    return (
        f"<div class='item-map' data-source='{escape(name)}'>"
        f"<div class='switch' role='group' aria-label='votes so far'>{options}</div>"
        f"<div class='maps'>{maps}</div><div class='tip' hidden></div>"
        "<noscript><p class='note'>The maps are drawn by the page's own script; allow it.</p></noscript></div>"
        + embed_json(name, _map_data(data))
    )


def _map_data(data: ItemMap) -> dict[str, Any]:
    centre = (data.positions.min(axis=0) + data.positions.max(axis=0)) / 2
    half = float(np.abs(data.positions - centre).max()) or 1.0
    room = 0.47 * MAP_SIZE  # a margin for the size of the dots

    def place(points: AnyArray) -> AnyArray:
        return np.asarray(np.round((points - centre) / half * [1, -1] * room + MAP_SIZE / 2))

    return {
        "classes": [str(label) for label in data.classes],
        "colors": class_colors(len(data.classes)),
        "start": data.start,
        "xy": _packed(place(data.positions), "<u2"),
        "truth": None if data.p_true is None else _packed(np.round(255 * data.p_true), "<u1"),
        "images": None if data.images is None else _packed(_shades(data.images), "<u1"),
        "image_shape": None if data.images is None else list(data.images.shape[1:]),
        "marks": [[text, *place(np.array(position)).tolist()] for text, position in data.marks.items()],
        "views": [
            {
                "name": view.name,
                "p": _packed(np.round(255 * view.p), "<u1"),
                "evidence": _packed(view.evidence, "<f4"),
                "range": np.log10(np.maximum([view.evidence.min(), view.evidence.max()], LEAST_EVIDENCE)).tolist(),
                "votes": _packed(np.minimum(view.n_votes, 65535), "<u2"),
            }
            for view in data.views
        ],
    }


def _shades(images: AnyArray) -> AnyArray:
    return np.asarray(np.round(255 * (images - images.min()) / max(float(np.ptp(images)), np.finfo(float).tiny)))


def _packed(values: AnyArray, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(dtype).tobytes()).decode()


def class_colors(n_classes: int) -> list[str]:
    """One colour per class: ten that were chosen by eye, beyond that evenly turning hues."""
    if n_classes <= len(PALETTE):
        return list(PALETTE[:n_classes])
    return [f"hsl({number * GOLDEN_ANGLE % 360:.0f} 60% {(45, 60)[number % 2]}%)" for number in range(n_classes)]


def embed_json(name: str, data: Any) -> str:
    """Data for the page's script; nothing in it can end the script element early."""
    text = (
        json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )
    return f"<script type='application/json' id='{escape(name)}'>{text}</script>"


# ------------------------------------------------------------------------------------------------------------ the page
def page(title: str, *blocks: str, footer: str = "") -> str:
    """A whole document; ``blocks`` are markup, title and footer are text."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='color-scheme' content='light dark'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body><main>\n"
        + "\n".join(blocks)
        + f"\n<footer>{escape(footer)}</footer></main>\n<script>{_SCRIPT}</script></body></html>\n"
    )


def check_target(path: str | Path) -> Path:
    """Refuse a path that cannot be written, before any work is done for it."""
    target = Path(path)
    if "\0" in str(target):
        raise StoreError(f"cannot write {str(target)!r}: no file can have this name. Name another.")
    folder = target.absolute().parent
    if target.is_dir():
        raise StoreError(f"cannot write {target}: it is a folder. Name a file in it.")
    if not folder.is_dir():
        raise StoreError(f"cannot write {target}: there is no folder {target.parent}. Create it, or name another.")
    if not os.access(folder, os.W_OK):
        raise StoreError(f"cannot write {target}: no permission in {folder}. Name another folder.")
    return target


def write_text(path: str | Path, text: str) -> None:
    """Write a file in one step that either happens or does not; a reader sees the old file or the new one."""
    target = check_target(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(f"cannot write {target}: {reason}. Check the folder and the free space.") from error
    finally:
        temporary.unlink(missing_ok=True)


_STYLE = """
:root{--paper:#fbfaf7;--panel:#fff;--ink:#1f2430;--soft:#626a79;--rule:#e3e0d8;--accent:#3457b2;--good:#1b7f4b;
--wash:#eef6f0;--low:#e4e9f5;--high:#16307c;--faint:#d9d6ce}
@media(prefers-color-scheme:dark){:root{--paper:#12151b;--panel:#1a1e26;--ink:#e8eaef;--soft:#9aa3b2;--rule:#2c323d;
--accent:#8fb0ff;--good:#69d29a;--wash:#17261f;--low:#27324f;--high:#ffe9a8;--faint:#39404d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{max-width:1080px;margin:0 auto;padding:40px 24px 32px}
h1{font-size:2.1rem;line-height:1.15;margin:0 0 10px;letter-spacing:-.02em}
h2{font-size:1.2rem;margin:0 0 4px;letter-spacing:-.01em}
.lead{font-size:1.08rem;color:var(--soft);max-width:68ch;margin:0}
section{margin-top:36px}
p{max-width:80ch;margin:6px 0}
.note{color:var(--soft);font-size:.92rem;margin:0 0 14px}
ul{margin:14px 0 0;padding-left:20px;max-width:95ch}li{margin:5px 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(240px,1fr));gap:16px;margin-top:28px}
.card{background:var(--panel);border:1px solid var(--rule);border-radius:14px;padding:16px 18px}
.card.good{background:var(--wash);border-color:color-mix(in srgb,var(--good) 35%,var(--rule))}
.card-title{color:var(--soft);font-size:.9rem}
.figure{font-size:1.9rem;font-weight:650;letter-spacing:-.02em;margin:2px 0 4px;font-variant-numeric:tabular-nums}
.good .figure{color:var(--good)}
.card-text{font-size:.92rem}
.scroll{overflow-x:auto;background:var(--panel);border:1px solid var(--rule);border-radius:14px;padding:6px 0}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:9px 18px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child{text-align:left}
thead th{font-size:.85rem;color:var(--soft);font-weight:600}
tbody th{font-weight:500}tbody tr:last-child>*{border-bottom:0}
.detail{display:block;font-size:.8rem;line-height:1.3;color:var(--soft);font-weight:400}
td.best{font-weight:700;color:var(--good)}.star{margin-right:6px;font-size:.85em}
.switch{display:inline-flex;border:1px solid var(--rule);border-radius:10px;overflow:hidden;background:var(--panel);
margin-bottom:14px}
.switch button{font:inherit;font-size:.92rem;color:var(--ink);background:none;border:0;
border-right:1px solid var(--rule);padding:7px 16px;cursor:pointer}
.switch button:last-child{border-right:0}
.switch button[aria-pressed=true]{background:var(--accent);color:var(--panel);font-weight:600}
.switch button:focus-visible{outline:2px solid var(--accent);outline-offset:-4px}
.item-map{position:relative}
.maps{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:18px}
figure{margin:0;background:var(--panel);border:1px solid var(--rule);border-radius:14px;padding:14px 16px 12px}
figcaption{font-size:.9rem;color:var(--soft)}
.map{display:block;width:100%;height:auto;margin:4px 0}
.map text{font:700 34px system-ui,sans-serif;fill:var(--ink);text-anchor:middle;dominant-baseline:central;
paint-order:stroke;stroke:var(--panel);stroke-width:9px;stroke-linejoin:round;pointer-events:none}
.map circle.voted{stroke:var(--ink);stroke-width:2}
.map circle.here{stroke:var(--ink);stroke-width:5}
.legend{display:flex;flex-wrap:wrap;gap:4px 14px;font-size:.85rem;color:var(--soft);min-height:24px;align-items:center}
.legend i{display:inline-block;width:11px;height:11px;border-radius:50%;margin-right:5px;vertical-align:-1px}
.legend.scale{flex-wrap:nowrap}.legend.scale b{flex:1;height:10px;border-radius:5px;
background:linear-gradient(to right in oklab,var(--low),var(--high))}
.tip{position:absolute;z-index:2;pointer-events:none;background:var(--panel);border:1px solid var(--rule);
border-radius:12px;padding:10px 12px;box-shadow:0 8px 28px #0004;font-size:.82rem;width:250px}
.tip canvas{width:56px;height:56px;image-rendering:pixelated;border-radius:6px;float:right;background:#fff}
.tip ol{list-style:none;margin:8px 0 0;padding:0;clear:both}
.tip li{display:grid;grid-template-columns:34px 1fr 40px;gap:6px;align-items:center;margin:2px 0}
.tip .track{position:relative;height:9px;background:var(--faint);border-radius:4px;overflow:visible}
.tip .track i{position:absolute;inset:0 auto 0 0;border-radius:4px}
.tip .track u{position:absolute;top:-3px;bottom:-3px;width:2px;background:var(--ink)}
.tip .number{text-align:right;font-variant-numeric:tabular-nums}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:16px}
.chart{background:var(--panel);border:1px solid var(--rule);border-radius:14px;padding:12px 10px 4px;width:100%;
height:auto}
.bar{fill:var(--accent)}.axis{stroke:var(--soft);stroke-width:1}.median{stroke:var(--ink);stroke-width:1.5;
stroke-dasharray:4 3}
.tick{font:11px system-ui,sans-serif;fill:var(--soft)}.chart-title{font:600 13px system-ui,sans-serif;fill:var(--ink)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));gap:0 40px;
margin:8px 0 16px;font-size:.92rem}
dl div{display:flex;gap:14px;padding:6px 0;border-bottom:1px solid var(--rule)}
dt{color:var(--soft);flex:0 0 118px}dd{margin:0;min-width:0;overflow-wrap:anywhere}
pre{background:var(--panel);border:1px solid var(--rule);border-radius:10px;padding:12px 16px;overflow-x:auto;
margin:8px 0;font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
footer{margin-top:36px;color:var(--soft);font-size:.85rem}
@media print{:root{--paper:#fff;--panel:#fff;--ink:#1f2430;--soft:#5b6270;--rule:#d8d8d8;--accent:#3457b2;
--good:#1b7f4b;--wash:#f1f8f3;--low:#e4e9f5;--high:#16307c;--faint:#ddd}
html{font-size:9.5px}main{padding:0;max-width:none}section{margin-top:18px}.cards{margin-top:14px;gap:10px}
.cards,.charts{grid-template-columns:repeat(3,1fr)}.maps,dl{grid-template-columns:1fr 1fr}
.card,figure,table,.chart,dl div,li,.note{break-inside:avoid}h2,.note{break-after:avoid}th,td{padding:4px 12px}
.switch button[aria-pressed=false],.tip{display:none}
footer{margin-top:12px}@page{margin:12mm}}
"""

_SCRIPT = """
'use strict';
for (const root of document.querySelectorAll('.item-map')) {
  const data = JSON.parse(document.getElementById(root.dataset.source).textContent);
  const unpack = (text, Kind) => new Kind(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const xy = unpack(data.xy, Uint16Array), n = xy.length / 2, C = data.classes.length;
  const truth = data.truth && unpack(data.truth, Uint8Array);
  const images = data.images && unpack(data.images, Uint8Array);
  const views = data.views.map(v => ({range: v.range, p: unpack(v.p, Uint8Array),
    evidence: unpack(v.evidence, Float32Array), votes: unpack(v.votes, Uint16Array)}));
  const tip = root.querySelector('.tip');
  const make = (tag, parent, values, text) => {
    const node = document.createElementNS(parent.namespaceURI, tag);
    for (const key in values) node.setAttribute(key, values[key]);
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  };
  const show = value => value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : String(+value.toPrecision(2));
  const radius = n > 4000 ? 4 : n > 800 ? 7 : 10;
  const maps = [...root.querySelectorAll('.map')].map(svg => {
    const dots = Array.from({length: n}, (_, i) =>
      make('circle', svg, {cx: xy[2 * i], cy: xy[2 * i + 1], r: radius, 'data-item': i}));
    for (const [text, x, y] of data.marks) make('text', svg, {x, y}, text);
    return {kind: svg.dataset.kind, dots, svg};
  });
  let now = views[data.start];
  const best = i => {
    let c = 0;
    for (let k = 1; k < C; k++) if (now.p[i * C + k] > now.p[i * C + c]) c = k;
    return c;
  };
  const paint = () => {
    const [low, high] = now.range;
    root.querySelector('.least').textContent = show(10 ** low);
    root.querySelector('.most').textContent = show(10 ** high) + ' votes';
    for (const {kind, dots} of maps) dots.forEach((dot, i) => {
      const c = best(i), sure = Math.max(0, (now.p[i * C + c] / 255 - 1 / C) / (1 - 1 / C));
      const share = (Math.log10(Math.max(now.evidence[i], 10 ** low)) - low) / (high - low || 1);
      dot.style.fill = kind === 'class' ? data.colors[c]
        : `color-mix(in oklab, var(--low), var(--high) ${(100 * share).toFixed(1)}%)`;
      dot.style.fillOpacity = kind === 'class' ? 0.15 + 0.85 * sure : 1;
      dot.classList.toggle('voted', kind === 'class' && now.votes[i] > 0);
    });
  };
  root.querySelector('.switch').addEventListener('click', event => {
    const button = event.target.closest('button');
    if (!button) return;
    for (const other of root.querySelectorAll('.switch button')) other.setAttribute('aria-pressed', other === button);
    now = views[button.dataset.view];
    paint();
  });
  let marked = -1;
  const mark = i => {
    for (const {dots} of maps) {
      if (marked >= 0) dots[marked].classList.remove('here');
      if (i >= 0) dots[i].classList.add('here');
    }
    marked = i;
  };
  const describe = i => {
    tip.replaceChildren();
    if (images) {
      const [height, width] = data.image_shape;
      const canvas = make('canvas', tip, {width, height}), pen = canvas.getContext('2d');
      const shades = pen.createImageData(width, height);
      for (let k = 0; k < width * height; k++)
        shades.data.set([0, 0, 0, images[i * width * height + k]], 4 * k);
      pen.putImageData(shades, 0, 0);
    }
    make('strong', tip, {}, `item ${i}`);
    make('div', tip, {}, `evidence ${show(now.evidence[i])}`);
    make('div', tip, {}, `own votes ${now.votes[i]}`);
    const list = make('ol', tip, {});
    const order = [...Array(C).keys()].sort((a, b) => now.p[i * C + b] - now.p[i * C + a]);
    for (const c of order.slice(0, 5)) {
      const line = make('li', list, {}), value = now.p[i * C + c] / 255;
      make('span', line, {}, data.classes[c]);
      const track = make('span', line, {class: 'track'});
      const bar = make('i', track, {});
      bar.style.width = 100 * value + '%';
      bar.style.background = data.colors[c];
      if (truth) make('u', track, {}).style.left = `calc(${100 * truth[i * C + c] / 255}% - 1px)`;
      make('span', line, {class: 'number'}, (100 * value).toFixed(0) + ' %');
    }
    if (truth) make('div', tip, {}, 'the upright line marks the truth');
  };
  root.addEventListener('pointermove', event => {
    const item = event.target.dataset && event.target.dataset.item;
    if (item === undefined) { tip.hidden = true; mark(-1); return; }
    if (+item !== marked) { mark(+item); describe(+item); }
    tip.hidden = false;
    const frame = root.getBoundingClientRect();
    const x = event.clientX - frame.left, y = event.clientY - frame.top;
    tip.style.left = (x + 270 > frame.width ? x - 266 : x + 16) + 'px';
    tip.style.top = Math.min(y + 14, frame.height - tip.offsetHeight) + 'px';
  });
  root.addEventListener('pointerleave', () => { tip.hidden = true; mark(-1); });
  paint();
}
"""
