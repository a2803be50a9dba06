"""The project's settings, changed while people vote. For admins."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from fastapi import APIRouter, Depends, HTTPException, Request, UploadFile

from softspread.web.http import schemas
from softspread.web.http.access import AdminUser, Context, Project, admin_user
from softspread.web.http.problems import USUAL, documented
from softspread.web.project.changes import ConflictError
from softspread.web.project.classes import WantedClass
from softspread.web.project.service import Service

router = APIRouter(prefix="/api/v1", tags=["project"], responses=USUAL)
LONGEST_ENDING = 10  # letters
ITEMS_PATH = "/api/v1/items"


def described(service: Service) -> schemas.ProjectOut:
    """The project as the API shows it."""
    settings = service.settings
    values = asdict(settings) | {
        "class_notes": [settings.note_of(name)._asdict() for name in settings.classes]
    }
    return schemas.ProjectOut(
        **values,
        items=len(service.items),
        preparing=service.preparing,
        revision=service.changes.revision,
    )


@router.post("/items", responses=documented(413), dependencies=[Depends(admin_user)])
def add_items(
    request: Request,
    user: AdminUser,
    context: Context,
    service: Project,
    embeddings: UploadFile,
    contents: UploadFile | None = None,
) -> schemas.ProjectOut:
    """Add items while people vote: embeddings with ids (.npz, .parquet), and what people see.

    Contents are a .zip of pictures, texts, sounds or films named by the ids, or a table with item and text;
    without them people see the ids. New items are handed out once the page has learned again.
    """
    with tempfile.TemporaryDirectory(prefix="softspread-added-") as folder:
        found = _saved(embeddings, Path(folder) / "embeddings")
        more = None if contents is None else _saved(contents, Path(folder) / "contents")
        number = service.add_items(found, more)
    context.note(request, user.name, "add items", f"{number:,}")
    return described(service)


def _saved(upload: UploadFile, path: Path) -> Path:
    """An upload as a file; of its name only the ending is used."""
    target = path.with_suffix(PurePosixPath(upload.filename or "").suffix.lower()[:LONGEST_ENDING])
    with target.open("wb") as file:
        shutil.copyfileobj(upload.file, file)
    return target


@contextmanager
def _conflicts_told() -> Iterator[None]:
    try:
        yield
    except ConflictError as error:
        raise HTTPException(409, str(error)) from error


@router.put("/classes", responses=documented(409), dependencies=[Depends(admin_user)])
def change_classes(
    body: schemas.ClassesIn, request: Request, user: AdminUser, context: Context, service: Project
) -> schemas.ProjectOut:
    """Rename, merge, order, add or describe classes. Votes move along once the page has learned again."""
    with _conflicts_told():
        wanted = [
            WantedClass(
                one.name,
                tuple(one.was),
                one.colour,
                one.description,
                None if one.examples is None else tuple(one.examples),
            )
            for one in body.classes
        ]
        service.change_classes(wanted, body.revision)
    said = (f"{one.name} ({', '.join(one.was)})" for one in body.classes)
    context.note(request, user.name, "change classes", ", ".join(said))
    return described(service)


@router.patch("/project", responses=documented(409), dependencies=[Depends(admin_user)])
def change_project(
    body: schemas.ProjectChange, request: Request, user: AdminUser, context: Context, service: Project
) -> schemas.ProjectOut:
    """Change settings; they take effect at once and are kept. 409 if someone changed them meanwhile."""
    values = body.model_dump(exclude_unset=True, exclude={"revision"})
    with _conflicts_told():
        service.change(values, body.revision)
    context.note(request, user.name, "change settings", ", ".join(f"{k}: {v}" for k, v in values.items()))
    return described(service)
