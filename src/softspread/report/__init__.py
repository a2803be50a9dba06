"""Pages that open offline in any browser: blocks, charts, maps, and the page of a run.

values  ->  heading, cards, table, histograms, item_map, point_map, facts  ->  page  ->  write_text
"""

from softspread._common.atomic import check_target, write_text
from softspread.report.charts import CurvePoint, curve, histograms, share_histograms
from softspread.report.maps import MAP_SIZE, ItemMap, View, class_colors, item_map
from softspread.report.markup import (
    Card,
    Cell,
    bullets,
    cards,
    code,
    embed_json,
    escape,
    facts,
    heading,
    page,
    paragraph,
    section,
    table,
)
from softspread.report.points import PointMap, point_map

__all__ = [
    "MAP_SIZE",
    "Card",
    "Cell",
    "CurvePoint",
    "ItemMap",
    "PointMap",
    "View",
    "bullets",
    "cards",
    "check_target",
    "class_colors",
    "code",
    "curve",
    "embed_json",
    "escape",
    "facts",
    "heading",
    "histograms",
    "item_map",
    "page",
    "paragraph",
    "point_map",
    "section",
    "share_histograms",
    "table",
    "write_text",
]
