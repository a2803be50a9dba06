"""``softspread graph``: build the graph of nearest neighbours and describe it."""

from pathlib import Path
from typing import Annotated, Any

from softspread.cli.options import GraphOptions, ItemOptions, option
from softspread.cli.runner import Run, command


@command(own=("out",))
def graph(
    run: Run,
    item_options: ItemOptions,
    graph_options: GraphOptions,
    out: Annotated[Path | None, option("Save the graph here, for Python.", "--out", "-o")] = None,
) -> None:
    """Build the graph of nearest neighbours and describe it.

    Worth a look before collecting votes: votes cannot cross from one component to another, and an
    isolated item learns only from votes of its own.

    Example: softspread graph --embeddings X.npy --n-neighbors 20 --out graph.softspread
    """
    from softspread._common.atomic import check_target
    from softspread.errors import InputError

    item_options.files()
    if graph_options.n_neighbors == "auto":
        raise InputError(
            "--n-neighbors must be a whole number here; 'auto' needs votes, see 'softspread tune'."
        )
    if out is not None:
        check_target(out)

    import numpy as np

    from softspread.cli.items import build_graph, graph_facts, load_items

    made: Any = build_graph(run, load_items(run, item_options), graph_options).X
    if out is not None:
        with run.stage("writing"):
            made.save(out)
    counts = np.diff(made.indptr)
    document = {
        "n_items": made.n_items,
        "n_neighbors": made.n_neighbors,
        **graph_facts(made),
        "edges_per_item": {"least": counts.min(), "median": np.median(counts), "most": counts.max()},
        "out": out,
        "reused": run.reused,
        "seconds": run.seconds,
    }
    lines = [f"{made.n_items:,} items: {made.describe()}"]
    if made.n_components > 1:
        lines.append("Votes cannot cross from one component to another: each needs votes of its own.")
    if out is not None:
        lines.append(f"Saved: {out}")
    run.answer(document, "\n".join(lines))
