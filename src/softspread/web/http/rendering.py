"""Pages from templates."""

from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from fastapi.templating import Jinja2Templates

templates = Jinja2Templates(Path(__file__).parent / "templates")


def page(request: Request, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A page with what all pages share; never cached."""
    context = request.app.state.context
    shared = {"title": context.service.settings.title, "with_accounts": context.accounts is not None}
    values = {"user": None, **shared, **values}
    made = templates.TemplateResponse(request, template, values, status_code=status)
    made.headers["Cache-Control"] = "no-store"
    return made


def message_page(request: Request, status: int, heading: str, text: str) -> HTMLResponse:
    """A page that says one thing."""
    return page(request, "message.html", status, heading=heading, text=text)
