"""One progress bar on standard error, and a spinner for a step of unknown length."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Advance = Callable[[int], None]
SLOW = 10  # below this many a second, the speed is shown with a decimal


@contextmanager
def progress_bar(text: str, total: int | None, show: bool, unit: str = "") -> Iterator[Advance]:
    """Yield a function that advances a bar by some steps; without ``show`` it does nothing.

    Parameters
    ----------
    total : number of steps; None where it is unknown
    unit : what a step is, such as "items"; adds the speed to the bar
    """
    if not show:
        yield lambda steps: None
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.text import Text

    class Speed(rich.ProgressColumn):
        """Steps per second over the last seconds."""

        def render(self, task: Any) -> Text:
            return Text(speed_in_words(task.finished_speed or task.speed, unit))

    columns = (
        rich.TextColumn("{task.description:<22}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        *([Speed()] if unit else []),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    # a finished bar of a notebook would stay behind as an empty widget, one per step
    with rich.Progress(*columns, console=console, transient=console.is_jupyter) as bar:
        task = bar.add_task(text, total=total)
        yield lambda steps: bar.advance(task, steps)


def speed_in_words(speed: float | None, unit: str) -> str:
    """Steps per second; empty while unknown.

    Examples
    --------
    >>> speed_in_words(1234.5, "items"), speed_in_words(0.26, "items")
    ('1,234 items/s', '0.3 items/s')
    """
    return "" if speed is None else f"{speed:,.{0 if speed >= SLOW else 1}f} {unit}/s"


@contextmanager
def spinner(text: str, show: bool) -> Iterator[None]:
    """A spinner for a step whose length is unknown."""
    if not show:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
