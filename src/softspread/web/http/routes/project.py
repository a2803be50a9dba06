"""The project's settings, changed while people vote. For admins."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from fastapi import APIRouter, Depends, HTTPException, Request

from softspread.web.http import schemas
from softspread.web.http.access import AdminUser, Context, Project, admin_user
from softspread.web.http.problems import USUAL, documented
from softspread.web.project.changes import ConflictError
from softspread.web.project.classes import WantedClass
from softspread.web.project.service import Service

router = APIRouter(prefix="/api/v1", tags=["project"], responses=USUAL)


def described(service: Service) -> schemas.ProjectOut:
    """The project as the API shows it."""
    return schemas.ProjectOut(
        **asdict(service.settings),
        items=len(service.items),
        preparing=service.preparing,
        revision=service.changes.revision,
    )


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
    """Rename, merge, order or add classes; votes move along. In force once the page has learned again."""
    with _conflicts_told():
        wanted = [WantedClass(one.name, tuple(one.was)) for one in body.classes]
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
