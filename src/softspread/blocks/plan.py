"""How large blocks may be, and how much memory and disk a run needs: stated and checked before it starts.

memory limit  ->  items per block, room for vectors        n, d, k, classes  ->  bytes on disk
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from softspread.errors import InputError, StoreError

DEFAULT_LIMIT = "8GB"
LARGEST_CELL = 2.0  # times the mean size of a cell
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True, slots=True)
class NeedModel:
    """Bytes per item, on the safe side: the runs of docs/plan-to-a-billion.md stayed below them."""

    libraries: float = 0.6e9  # of one process, before it has read anything
    per_item: float = 3_000.0  # of a task, whatever the shape
    per_dimension: float = 40.0  # copies of vectors while neighbours are searched
    per_neighbor: float = 400.0  # a region of several blocks, while scales are found
    rows_per_neighbor: float = 16.0  # rows of S: edges lead both ways, 8 bytes each
    names: float = 150.0  # of an id, in the driver's process
    fewest: int = 2_000  # items of a block: smaller ones cost more than they save
    most: int = 100_000  # larger blocks take longer to lose than to make again
    chunk_items: int = 1_000_000  # at most read at once while items are sorted by cell
    group_cells: int = 64  # at most gathered at once: 10,000 cells are then 160 groups
    per_sorted: float = 150.0  # bytes of such an item beside its vector
    copies_sorted: float = 4.0  # of its vector
    share: float = 0.5  # of what is left beside libraries, for one task
    disk_per_neighbor: float = 130.0  # lists of both cells, merged, final, halves, affinity, operator
    disk_per_item: float = 120.0
    disk_per_class: float = 40.0  # two checkpoints of two vectors, and the results
    margin: float = 1.15


MODEL = NeedModel()


@dataclass(frozen=True, slots=True)
class Need:
    """Memory and disk that a run needs."""

    n_items: int
    block_items: int
    chunk_items: int
    group_cells: int
    memory_bytes: int
    disk_bytes: int
    room_bytes: int  # of the memory, for the vectors and rows of S that are kept


def parse_size(text: str | float) -> int:
    """Bytes from a number with a unit.

    Examples
    --------
    >>> parse_size("8GB"), parse_size("1.5 GiB"), parse_size(2e9)
    (8000000000, 1610612736, 2000000000)
    """
    if not isinstance(text, str):
        text = str(float(text))
    found = re.fullmatch(r"\s*([0-9.]+(?:e\+?[0-9]+)?)\s*([KMGT]?)(I?)B?\s*", text, re.IGNORECASE)
    try:
        if found is None:
            raise ValueError
        amount = float(found[1])
    except ValueError:
        raise InputError(f"a memory limit must be like 8GB or 512MB, got {text!r}.") from None
    unit = found[2].upper()
    size = 1024 ** "KMGT".index(unit) * 1024 if found[3] and unit else UNITS[unit]
    return int(amount * size)


def plan(
    n_items: int,
    n_dimensions: int,
    n_neighbors: int,
    n_classes: int,
    limit: int,
    *,
    has_ids: bool = False,
    itemsize: int = 4,
    model: NeedModel = MODEL,
) -> Need:
    """Items per block for a memory limit, and what the run then takes.

    Examples
    --------
    >>> small, large = (plan(10_000_000, 20, 20, 10, limit) for limit in (2 * 10**9, 8 * 10**9))
    >>> small.block_items < large.block_items, small.disk_bytes == large.disk_bytes
    (True, True)
    """
    fixed = model.libraries + (model.names * n_items if has_ids else 0.0)
    each = model.per_item + model.per_dimension * n_dimensions + model.per_neighbor * n_neighbors
    smallest = fixed + each * model.fewest / model.share
    if limit < smallest:
        raise InputError(
            f"{n_items:,} items of {n_dimensions} dimensions need a memory limit of at least "
            f"{smallest / 1e9:.1f}GB, got {limit / 1e9:.2g}GB; raise it."
        )
    block = int(min(model.most, model.share * (limit - fixed) / each))
    room = int((1 - model.share) * (limit - fixed))
    sorted_at_once = (
        model.share * (limit - fixed) / (model.per_sorted + model.copies_sorted * itemsize * n_dimensions)
    )
    chunk = int(min(model.chunk_items, sorted_at_once))
    group = int(min(model.group_cells, max(1, sorted_at_once / (LARGEST_CELL * block))))
    kept = min(8 * n_items * n_classes, room // 2) + min(
        model.rows_per_neighbor * n_neighbors * n_items, room // 2
    )
    memory = fixed + max(each * min(block, n_items), kept)
    disk = n_items * (
        model.disk_per_item
        + 2 * itemsize * n_dimensions
        + model.disk_per_neighbor * n_neighbors
        + model.disk_per_class * n_classes
    )
    return Need(n_items, block, chunk, group, int(memory), int(disk * model.margin), room)


def check_disk(folder: str, need: int, used: int = 0) -> None:
    """Refuse a local folder whose disk has too little room, before any work is done."""
    there = Path(folder)
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    if need - used > free:
        raise StoreError(
            f"the blocks need about {need / 1e9:.1f} GB in {folder}, of which {used / 1e9:.1f} GB are "
            f"there, and "
            f"{free / 1e9:.1f} GB are free. Free some, or name a folder on another disk as the work folder."
        )
