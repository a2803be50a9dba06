"""A bar on standard error with items a second and the time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def items_bar(text: str, total: int, show: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that moves the bar on by some items; without ``show`` it does nothing."""
    if not show:
        yield lambda n_items: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Speed(ProgressColumn):
        """Items a second, over the last while."""

        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            return Text(
                "" if speed is None else f"{speed:,.0f} items/s" if speed >= 10 else f"{speed:.1f} items/s"
            )

    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        MofNCompleteColumn(),
        Speed(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(text, total=total)
        yield lambda n_items: progress.advance(task, n_items)


@contextmanager
def wait_note(text: str, show: bool) -> Iterator[None]:
    """A turning wheel for a step whose length is unknown."""
    if not show:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
