"""The project's settings, changed while people vote. For admins."""

from dataclasses import asdict

from fastapi import APIRouter, Depends, HTTPException, Request

from softspread.web.http import schemas
from softspread.web.http.access import AdminUser, Context, Project, admin_user
from softspread.web.http.problems import USUAL, documented
from softspread.web.project.changes import ConflictError
from softspread.web.project.service import Service

router = APIRouter(prefix="/api/v1", tags=["project"], responses=USUAL)


def described(service: Service) -> schemas.ProjectOut:
    """The project as the API shows it."""
    return schemas.ProjectOut(
        **asdict(service.settings), items=len(service.items), revision=service.changes.revision
    )


@router.patch("/project", responses=documented(409), dependencies=[Depends(admin_user)])
def change_project(
    body: schemas.ProjectChange, request: Request, user: AdminUser, context: Context, service: Project
) -> schemas.ProjectOut:
    """Change settings; they take effect at once and are kept. 409 if someone changed them meanwhile."""
    values = body.model_dump(exclude_unset=True, exclude={"revision"})
    try:
        service.change(values, body.revision)
    except ConflictError as error:
        raise HTTPException(409, str(error)) from error
    context.note(request, user.name, "change settings", ", ".join(f"{k}: {v}" for k, v in values.items()))
    return described(service)
