"""The names of the interval methods, the default first; other packages add theirs by entry point."""

from typing import TYPE_CHECKING

from softspread._common.registry import Registry

if TYPE_CHECKING:
    from softspread.intervals.task import IntervalMethod

INTERVALS: "Registry[IntervalMethod]" = Registry(
    "method",
    "softspread.intervals",
    {
        "posterior": "softspread.intervals.methods:posterior_method",
        "wilson": "softspread.intervals.methods:wilson_method",
        "wilson_floor": "softspread.intervals.methods:wilson_floor_method",
        "hoeffding": "softspread.intervals.methods:hoeffding_method",
        "calibrated": "softspread.intervals.methods:calibrated_method",
        "goodman": "softspread.intervals.methods:goodman_method",
        "sison_glaz": "softspread.intervals.methods:sison_glaz_method",
        "dirichlet": "softspread.intervals.methods:dirichlet_method",
    },
    otherwise="or a function",
)
OF_ONE_ALPHA = ("hoeffding", "calibrated")  # need votes that were spread at one alpha, as the paper's are
