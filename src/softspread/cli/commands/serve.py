"""``softspread serve``: read items and embeddings, start the server, say where it is."""

import logging
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softspread._common.extras import needs_extra
from softspread._common.kinds import MULTILABEL, SINGLE
from softspread.cli.options import ItemOptions, VoteOptions, auto_or_number, option
from softspread.cli.runner import Run, command
from softspread.errors import InputError

if TYPE_CHECKING:
    from softspread.web.log.store import Store
    from softspread.web.project.service import Service

LIBRARIES = (
    *(
        "alembic",
        "argon2",
        "fastapi",
        "jinja2",
        "krippendorff",
        "markdown_it",
        "PIL",
        "python_multipart",
        "sqlalchemy",
    ),
    "uvicorn",
)
QUESTIONS = "Which class is it?", "Which of these apply?"  # one class per vote, several
DATA_DIR, DEMO_DIR = Path("softspread-data"), Path("softspread-demo-data")


@dataclass(frozen=True, slots=True)
class DataOptions:
    """Where the server keeps its data."""

    data_dir: Annotated[
        Path | None, option("Where the vote log and caches live; default: softspread-data.")
    ] = None
    database_url: Annotated[str | None, option("PostgreSQL instead of SQLite in --data-dir.")] = None

    def open_store(self) -> "Store":
        """The database, not started."""
        with needs_extra("web", "the voting page needs further libraries"):
            from softspread.web.log.store import Store
            from softspread.web.project.settings import database_address
        return Store(database_address(self.database_url, self.data_dir or DATA_DIR))


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where the server listens and keeps its data."""

    data: DataOptions
    host: Annotated[str, option("Address to listen on; 0.0.0.0 for the whole network.")] = "127.0.0.1"
    port: Annotated[int, option("Port to listen on.", min=0, max=65535)] = 8000
    no_auth: Annotated[bool, option("No accounts, for this machine only.", "--no-auth")] = False
    proxy: Annotated[
        list[str] | None,
        option("Address or network of a proxy that may say where requests come from; repeats."),
    ] = None
    https: Annotated[bool, option("Behind a proxy with HTTPS: cookies for HTTPS only.", "--https")] = False

    def settings(self, demo: bool) -> dict[str, Any]:
        """The same as the project's settings name it."""
        return {
            "data_dir": self.data.data_dir or (DEMO_DIR if demo else DATA_DIR),
            "database_url": self.data.database_url,
            "host": self.host,
            "port": self.port,
            "auth": not (self.no_auth or demo),
            "secure_cookies": self.https,
            "proxies": tuple(self.proxy or ()),
        }


@dataclass(frozen=True, slots=True)
class VotingOptions:
    """The vote: its question, classes and mode; every field is one of the project's settings."""

    question: Annotated[
        str | None, option("What people are asked; default: Which class is it? Or: Which of these apply?")
    ] = None
    mode: Annotated[str, option("blind, or assisted: shows the soft label before the vote.")] = "blind"
    strategy: Annotated[str, option("Which items to ask about: {strategies}.")] = "uncertainty"
    uniform_share: Annotated[
        float, option("Share of the items drawn uniformly, by which quality is judged.", min=0, max=1)
    ] = 0.15
    overlap: Annotated[int, option("Hand out an item until this many people have voted on it.", min=1)] = 3
    alpha: Annotated[
        str, option("How far votes travel: 0 to 1, or auto: by held-out votes, as they come in.")
    ] = "auto"
    n_neighbors: Annotated[int, option("Neighbours per item.", min=1)] = 20


@command()
def serve(
    run: Run,
    item_options: ItemOptions,
    vote_options: VoteOptions,
    server: ServerOptions,
    voting: VotingOptions,
    items: Annotated[Path | None, option("Folder with pictures or texts, or a table.")] = None,
    demo: Annotated[bool, option("Handwritten digits; nothing else needed.", "--demo")] = False,
    title: Annotated[str | None, option("Shown on top of the pages.")] = None,
    gold: Annotated[Path | None, option("Items with known answers: a table with item, label.")] = None,
    prior: Annotated[
        Path | None, option("A model's predictions: .npy (items x classes) or a soft-label file.")
    ] = None,
) -> None:
    """Let people vote in the browser and watch the soft labels move.

    Prints a one-time link for the first admin, who invites the others. The vote log in --data-dir is the
    truth; stop and start at will. Votes given by --votes are imported once. backup, restore and
    reset-password work without a running server, backup and reset-password also beside one.

    Example: softspread serve --items photos/ --embeddings X.npy --classes cat,dog
    """
    with needs_extra("web", "the voting page needs further libraries"):
        for name in LIBRARIES:
            import_module(name)
    level = logging.DEBUG if run.common.debug else logging.WARNING
    logging.basicConfig(level=level, format="%(levelname)s %(message)s")
    logging.getLogger("softspread.web").setLevel(min(level, logging.INFO))  # such as a new alpha
    settings = server.settings(demo) | asdict(voting) | ({} if title is None else {"title": title})
    settings |= {"seed": run.seed, "kind": vote_options.kind, "rest": vote_options.rest}
    settings["question"] = voting.question or QUESTIONS[vote_options.kind == MULTILABEL]
    settings["alpha"] = auto_or_number("alpha", voting.alpha, float)
    vote_options.check_kind()
    if demo and prior is not None:
        raise InputError("--demo brings its own items: leave out --prior, or leave out --demo.")
    if demo and vote_options.kind != SINGLE:
        raise InputError(f"every item of --demo is one digit: leave out --kind {vote_options.kind}.")
    if demo:
        from softspread.web.project.demo import open_demo

        service = open_demo(**settings)
    else:
        service = open_service(run, item_options, vote_options, items, gold, settings, prior)
    _run(run, service, vote_options)


def open_service(
    run: Run,
    item_options: ItemOptions,
    vote_options: VoteOptions,
    items: Path | None,
    gold: Path | None,
    settings: dict[str, Any],
    prior: Path | None = None,
) -> "Service":
    """A service on the files that were named, not started yet."""
    import numpy as np

    from softspread.cli.items import load_items
    from softspread.io.matching import read_classes
    from softspread.io.soft_labels import read_prior
    from softspread.web.project.items import read_items
    from softspread.web.project.service import Service
    from softspread.web.project.settings import Settings

    classes = read_classes(vote_options.classes)
    if not item_options.embeddings or classes is None:
        raise InputError(
            "serve needs --embeddings and --classes, and --items for something to look at; "
            "or try: softspread serve --demo"
        )
    found: Any = load_items(run, item_options)
    known = () if gold is None else _known_answers(gold, replace(vote_options, votes=[gold]), classes)
    named = {"title": (items or item_options.embeddings[0]).stem} | settings
    names = tuple(classes)
    table = None if prior is None else read_prior(prior, found.names, np.array(names, dtype=object))
    return Service(
        Settings(classes=names, gold=tuple(known), **named),
        read_items(items, found.item_ids, found.n_items),
        found.X,
        prior=table,
    )


def _known_answers(path: Path, options: VoteOptions, classes: list[str]) -> list[tuple[str, Any]]:
    """(item, class) of a file, or (item, yes and no) where items may have several classes."""
    from softspread.io.votes import read_vote_files
    from softspread.web.log.answers import Choice

    file = read_vote_files(path, how=options.reading(), classes=classes)
    found = zip(map(str, file.items), map(str, file.labels), strict=True)
    if file.answers is None:
        return list(found)
    said: dict[str, tuple[list[str], list[str]]] = {}
    for (item, label), yes in zip(found, file.answers.tolist(), strict=True):
        said.setdefault(item, ([], []))[0 if yes else 1].append(label)
    return [(item, Choice(*lists)) for item, lists in said.items()]


def _run(run: Run, service: "Service", vote_options: VoteOptions) -> None:
    """Start, serve until interrupted, stop."""
    from softspread._common.digests import hash_file
    from softspread.cli.fitting import load_votes
    from softspread.web.http.app import create_app, first_link
    from softspread.web.http.server import run_server

    known = service.items.ids, len(service.items), service.classes
    files = {path: replace(vote_options, votes=[path]) for path in vote_options.votes or ()}
    found = {path: load_votes(run, options, *known) for path, options in files.items()}
    votes = {path: one.votes if one.whole is None else one.whole for path, one in found.items()}
    taken_in = dict.fromkeys(votes, 0)
    run.release_workspace()  # other commands may use it while the server runs
    service.start()

    def announce(base: str) -> None:
        link = first_link(app)
        if service.history.unknown:
            run.warn(f"{service.history.unknown:,} log entries name unknown items or classes; left out")
        document = {
            "items": len(service.items),
            "classes": len(service.classes),
            "votes": service.counts()["votes"],
            "taken_in": [{"file": path, "votes": count} for path, count in taken_in.items()],
            "admin": None if link is None else f"{base}{link}",
            "vote": f"{base}/vote",
            "dashboard": f"{base}/dashboard",
        }
        run.answer(document, _in_words(document))

    try:
        for path, cast in votes.items():
            parts = cast.items, cast.labels, cast.annotators, cast.weights
            taken_in[path] = service.import_votes(*parts, hash_file(path), cast.answers)
        app = create_app(service, stop_service=False)
        run_server(app, service.settings, announce)
    except KeyboardInterrupt:
        run.note("Stopped.")
    finally:
        service.stop()


def _in_words(document: dict[str, Any]) -> str:
    lines = [
        f"{document['items']:,} items, {document['classes']} classes, {document['votes']:,} votes so far"
    ]
    for number, taken in enumerate(document["taken_in"]):
        path, new = taken["file"], taken["votes"]
        text = f"{new:,} votes taken in from {path}" if new else f"the votes of {path} are in already"
        lines.insert(number, text)
    if document["admin"]:
        lines.append(f"First admin, valid for a day and once: {document['admin']}")
    lines += [f"Vote:      {document['vote']}", f"Dashboard: {document['dashboard']}"]
    return "\n".join([*lines, "Stop with Ctrl-C; nothing is lost."])


# ------------------------------------------------------------------------------------------- further commands
@command()
def backup(
    run: Run,
    data: DataOptions,
    out: Annotated[Path, typer.Argument(help="The file to write, such as votes.zip.")],
) -> None:
    """Write votes, accounts and settings into one file, also while the server runs.

    The file holds what --database-url or --data-dir hold at one moment, whichever database it is. Keep it
    safe: it holds names and password hashes. Pictures and embeddings are not in it.

    Example: softspread serve backup votes.zip --data-dir softspread-data
    """
    store = data.open_store()
    from softspread.web.log.backup import write_backup

    try:
        counts = write_backup(store, out)
    finally:
        store.close()
    run.answer({"file": out, "rows": counts}, f"{out}: {_counts_in_words(counts)}")


@command()
def restore(
    run: Run,
    data: DataOptions,
    file: Annotated[Path, typer.Argument(help="What softspread serve backup wrote.")],
) -> None:
    """Fill a new data folder or an empty database from a backup, all of it or nothing.

    A backup of SQLite can be restored into PostgreSQL and the other way round.

    Example: softspread serve restore votes.zip --data-dir new-data
    """
    store = data.open_store()
    from softspread.web.log.backup import restore_backup

    store.start()
    try:
        counts = restore_backup(store, file)
    finally:
        store.close()
    run.answer({"database": store.shown_url, "rows": counts}, f"restored {_counts_in_words(counts)}")


def _counts_in_words(counts: dict[str, int]) -> str:
    return f"{counts['log']:,} lines of the log, {counts['accounts']:,} accounts"


@command()
def reset_password(
    run: Run,
    data: DataOptions,
    name: Annotated[str, typer.Argument(help="Whose password.")],
) -> None:
    """Print a link by which someone chooses another password; also for a sole admin, also while it runs.

    The link works once and for a day. A closed account is opened again.

    Example: softspread serve reset-password ada --data-dir softspread-data
    """
    store = data.open_store()
    import time

    from softspread.web.log.accounts import Accounts

    try:
        with store.snapshot() as connection:
            store.revision(connection)  # or there is no project here
        path = f"/invite/{Accounts(store, time.time).invite_to_reset(name, 'softspread')}"
    finally:
        store.close()
    run.answer({"name": name, "path": path}, f"Open this path on the server, once, within a day: {path}")


FURTHER = (("backup", backup), ("restore", restore), ("reset-password", reset_password))
