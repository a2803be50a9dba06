"""``softspread plan``: how many items and votes the theory asks for."""

import dataclasses
from typing import Annotated

from softspread.cli.options import option
from softspread.cli.runner import Run, command


@command()
def plan(
    run: Run,
    dimension: Annotated[int, option("Dimension of the embedding.", "--dimension", "-d", min=1)],
    epsilon: Annotated[float, option("Largest error of a soft label.")] = 0.1,
    delta: Annotated[float, option("Probability with which it may be exceeded.")] = 0.05,
    n_classes: Annotated[int, option("Number of classes.", min=2)] = 2,
    lipschitz: Annotated[float, option("How fast soft labels change per unit of distance.")] = 1.0,
    n_items: Annotated[int | None, option("Items; else the smallest number that works.", min=2)] = None,
    n_votes: Annotated[int | None, option("Votes; else the theorem's budget.", min=1)] = None,
    bound: Annotated[str, option("Which form of the bound: see docs/guarantees.md.")] = "theorem",
) -> None:
    """Say how many items and votes the theory asks for.

    A worst case over all data: practice needs far less, see 'softspread quality'.

    Example: softspread plan --dimension 2 --epsilon 0.2 --n-classes 3
    """
    from softspread.guarantees.theorem import plan as make_plan

    found = make_plan(
        dimension=dimension,
        epsilon=epsilon,
        delta=delta,
        n_classes=n_classes,
        lipschitz=lipschitz,
        n_items=n_items,
        n_votes=n_votes,
        bound=bound,
    )
    derived = ("holds", "alpha", "radius", "failure", "votes_per_item")
    document = dataclasses.asdict(found) | {name: getattr(found, name) for name in derived}
    run.answer(document | {"summary": found.summary()}, found.summary())
