"""``softspread serve``: read items and embeddings, start the server, say where it is."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softspread.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from softspread.web.project.service import Service

Guarded = Callable[[Callable[..., None]], Callable[..., None]]
DEMO_CLASSES = tuple("0123456789")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for on the command line."""

    items: Path | None
    embeddings: Path | None
    ids: Path | None
    classes: str | None
    votes: Path | None
    gold: Path | None
    demo: bool
    settings: dict[str, Any]


def add_commands(app: typer.Typer, guard: Guarded) -> None:
    """Register ``serve`` on a command line; ``guard`` explains errors."""

    @app.command()
    @guard
    def serve(
        items: Annotated[Path | None, typer.Option(help="Folder with pictures or texts, or a table.")] = None,
        embeddings: Annotated[
            Path | None, typer.Option(help="Embeddings of the items: .npy, .npz, .parquet.")
        ] = None,
        classes: Annotated[
            str | None, typer.Option(help="Class names: a,b,c, or a .txt with one a line.")
        ] = None,
        ids: Annotated[
            Path | None, typer.Option(help="Ids of the embeddings' rows, where they hold none.")
        ] = None,
        demo: Annotated[
            bool, typer.Option("--demo", help="Handwritten digits; nothing else needed.")
        ] = False,
        data_dir: Annotated[Path, typer.Option(help="Where the vote log and caches live.")] = Path(
            "softspread-data"
        ),
        database_url: Annotated[
            str | None, typer.Option(help="PostgreSQL instead of SQLite in --data-dir.")
        ] = None,
        host: Annotated[
            str, typer.Option(help="Address to listen on; 0.0.0.0 for the whole network.")
        ] = "127.0.0.1",
        port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
        no_auth: Annotated[
            bool, typer.Option("--no-auth", help="No accounts, for this machine only.")
        ] = False,
        https: Annotated[
            bool, typer.Option("--https", help="Behind a proxy with HTTPS: cookies for HTTPS only.")
        ] = False,
        title: Annotated[str | None, typer.Option(help="Shown on top of the pages.")] = None,
        question: Annotated[str, typer.Option(help="What people are asked.")] = "Which class is it?",
        mode: Annotated[
            str, typer.Option(help="blind, or assisted: shows the soft label before the vote.")
        ] = "blind",
        strategy: Annotated[
            str, typer.Option(help="Which items to ask about, as in softspread query.")
        ] = "uncertainty",
        overlap: Annotated[
            int, typer.Option(min=1, help="Hand out an item until so many have voted on it.")
        ] = 3,
        gold: Annotated[
            Path | None, typer.Option(help="Items with known answers: a table with item, label.")
        ] = None,
        votes: Annotated[Path | None, typer.Option(help="Votes to begin with; taken in once.")] = None,
        alpha: Annotated[float, typer.Option(help="How far votes travel.")] = 0.9,
        n_neighbors: Annotated[int, typer.Option(min=1, help="Neighbours per item.")] = 20,
        debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    ) -> None:
        """Let people vote in the browser and watch the soft labels move.

        Prints a one-time link for the first admin, who invites the others. The vote log in --data-dir is the
        truth; stop and start at will.

        Example: softspread serve --items photos/ --embeddings X.npy --classes cat,dog
        """
        settings = {
            "data_dir": data_dir
            if not demo or data_dir != Path("softspread-data")
            else Path("softspread-demo-data"),
            "database_url": database_url,
            "host": host,
            "port": port,
            "auth": not (no_auth or demo),
            "secure_cookies": https,
            "question": question,
            "mode": mode,
            "strategy": strategy,
            "overlap": overlap,
            "alpha": alpha,
            "n_neighbors": n_neighbors,
        }
        if title is not None:
            settings["title"] = title
        wishes = Wishes(items, embeddings, ids, classes, votes, gold, demo, settings)
        logging.basicConfig(
            level=logging.DEBUG if debug else logging.WARNING, format="%(levelname)s %(message)s"
        )
        run(wishes)


def run(wishes: Wishes) -> None:
    """Start, serve until interrupted, stop."""
    _check_extra()
    from softspread.web.http.app import create_app, first_link
    from softspread.web.http.server import run_server

    service = open_service(wishes)
    service.start()

    def announce(base: str) -> None:
        votes = service.counts()["votes"]
        typer.echo(f"{len(service.items):,} items, {len(service.classes)} classes, {votes:,} votes so far")
        if service.history.unknown:
            typer.echo(
                f"note: {service.history.unknown:,} log entries name items or classes not here; left out"
            )
        link = first_link(app)
        if link is not None:
            typer.echo(f"First admin, valid for a day and once: {base}{link}")
        typer.echo(f"Vote:      {base}/vote")
        typer.echo(f"Dashboard: {base}/dashboard")
        typer.echo("Stop with Ctrl-C; nothing is lost.")

    try:
        _import_votes(service, wishes.votes)
        app = create_app(service, stop_service=False)
        run_server(app, service.settings.host, service.settings.port, announce)
    except KeyboardInterrupt:
        typer.echo("Stopped.")
    finally:
        service.stop()


def open_service(wishes: Wishes) -> "Service":
    """Read what was named; the service is not started yet."""
    _check_extra()
    from softspread.io.embeddings import read_embeddings
    from softspread.io.matching import read_classes
    from softspread.web.project.items import read_items
    from softspread.web.project.service import Service
    from softspread.web.project.settings import Settings

    if wishes.demo:
        return demo_service(wishes.settings)
    if wishes.embeddings is None or wishes.classes is None:
        raise InputError(
            "serve needs --embeddings and --classes, and --items for something to look at; "
            "or try: softspread serve --demo"
        )
    found = read_embeddings(wishes.embeddings, ids=wishes.ids)
    classes = tuple(read_classes(wishes.classes) or ())
    items = read_items(wishes.items, found.item_ids, len(found.X))
    named = {"title": (wishes.items or wishes.embeddings).stem} | wishes.settings
    settings = Settings(classes=classes, gold=_read_gold(wishes.gold), **named)
    return Service(settings, items, found.X)


def demo_service(settings: dict[str, Any]) -> "Service":
    """Handwritten digits that ship with scikit-learn."""
    from sklearn.datasets import load_digits

    from softspread.datasets.synthetic import DIGITS_DIMENSION, LARGEST_GREY
    from softspread.web.project.item_map import principal_components
    from softspread.web.project.items import ArrayItems
    from softspread.web.project.service import Service
    from softspread.web.project.settings import Settings

    pixels = load_digits().data / LARGEST_GREY
    items = ArrayItems([f"digit-{row:04d}" for row in range(len(pixels))], pixels.reshape(-1, 8, 8))
    named = {"title": "Handwritten digits", "classes": DEMO_CLASSES}
    settings = settings | {"question": "Which digit is it?"}
    return Service(Settings(**(named | settings)), items, principal_components(pixels, DIGITS_DIMENSION))


def _read_gold(path: Path | None) -> tuple[tuple[str, str], ...]:
    if path is None:
        return ()
    from softspread.io.votes import read_votes

    answers = read_votes(path)
    return tuple((str(item), str(label)) for item, label in zip(answers.items, answers.labels, strict=True))


def _import_votes(service: "Service", path: Path | None) -> None:
    if path is None:
        return
    from softspread._common.digests import hash_file
    from softspread.io.matching import match_votes
    from softspread.io.votes import read_votes

    found = match_votes(read_votes(path), service.items.ids, len(service.items), service.classes).votes
    new = service.import_votes(
        found.items, found.labels, found.annotators, found.weights, hash_file(path)[:16]
    )
    typer.echo(f"{new:,} votes taken in from {path}" if new else f"the votes of {path} are in already")


def _check_extra() -> None:
    try:
        import alembic
        import argon2
        import fastapi
        import jinja2
        import PIL
        import python_multipart
        import sqlalchemy
        import uvicorn
    except ImportError as error:
        raise MissingExtraError(
            f"the voting page needs {error.name}: pip install 'softspread[web]'"
        ) from error
    del alembic, argon2, fastapi, jinja2, PIL, python_multipart, sqlalchemy, uvicorn
