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

    item_options.file()
    if graph_options.n_neighbors == "auto":
        raise InputError(
            "--n-neighbors must be a whole number here; 'auto' needs votes, see 'softspread tune'."
        )
    if out is not None:
        check_target(out)

    from softspread.cli.fitting import build_graph, load_items

    made: Any = build_graph(run, load_items(run, item_options), graph_options).X
    if out is not None:
        with run.stage("writing"):
            made.save(out)
    run.answer(
        _facts(made) | {"out": out, "reused": run.reused, "seconds": run.seconds},
        lambda console: _show(console, made, out),
    )


def _facts(graph: Any) -> dict[str, Any]:
    import numpy as np

    counts = graph.edges_per_item
    return {
        "n_items": graph.n_items,
        "n_neighbors": graph.n_neighbors,
        "edges": graph.n_edges // 2,
        "components": graph.n_components,
        "isolated": graph.n_isolated,
        "sigma2": graph.sigma2,
        "recall": graph.recall_,
        "index": graph.index,
        "edges_per_item": {"least": counts.min(), "median": np.median(counts), "most": counts.max()},
    }


def _show(console: Any, graph: Any, out: Path | None) -> None:
    from softspread.cli.fitting import describe_graph

    console.print(f"[bold]{graph.n_items:,} items[/]: {describe_graph(graph)}")
    if graph.n_components > 1:
        console.print("Votes cannot cross from one component to another: each needs votes of its own.")
    if out is not None:
        console.print(f"Saved: {out}", markup=False, soft_wrap=True)
