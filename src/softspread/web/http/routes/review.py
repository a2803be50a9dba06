"""A second look: what people disagree about, skipped or flagged; decisions. For admins."""

import asyncio
import secrets
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response

from softspread.web.http import schemas
from softspread.web.http.access import AdminUser, Context, Project, admin_user
from softspread.web.http.problems import USUAL, documented
from softspread.web.project.review import answer_in_words

router = APIRouter(prefix="/api/v1", tags=["review"], responses=USUAL, dependencies=[Depends(admin_user)])


@router.get("/review")
def review(service: Project) -> dict[str, Any]:
    """Disagreements, surprising votes, items skipped, flagged or not shown; people and their agreement."""
    return service.review()


@router.put("/decisions", responses=documented(409))
async def decide(
    body: schemas.DecisionIn, request: Request, user: AdminUser, context: Context
) -> schemas.OutcomesOut:
    """Decide what an item is: a heavy vote and a known answer, in place of an earlier decision."""
    service, key = context.service, f"decision-{secrets.token_hex(12)}"
    said = body.said
    if said is None:
        entries = service.take_back_decision(body.item, key)
    else:
        entries = service.decide(user.name, body.item, said, key)
    if not entries:
        raise HTTPException(409, "there is no decision about this item")
    outcomes = await asyncio.wrap_future(service.submit(entries))
    if any(outcome.status == "refused" for outcome in outcomes):
        raise HTTPException(409, "someone decided about this item meanwhile; look again")
    decided = None if said is None else answer_in_words(said)
    context.note(request, user.name, "decide", f"{body.item}: {decided}")
    return schemas.OutcomesOut(outcomes=outcomes)


@router.post("/ask-again", status_code=204, response_class=Response)
def ask_again(body: schemas.ItemIn, service: Project) -> None:
    """Have someone who has not seen an item vote on it once more."""
    service.ask_again(body.item)
