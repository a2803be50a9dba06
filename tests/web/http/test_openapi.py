"""The API keeps what its OpenAPI document promises, whatever is sent (schemathesis)."""

import pytest
from hypothesis import HealthCheck, given, settings

from softspread.web.http.access import RateLimits
from web.conftest import opened_world

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ENDLESS = "/api/v1/events"  # a stream has no end to check
EXAMPLES = settings(
    max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True
)


@pytest.fixture(scope="module")
def known_world(tmp_path_factory):
    """A world whose limits do not get in the way."""
    limits = RateLimits(votes=(1e9, 1e9), requests=(1e9, 1e9))
    with opened_world(tmp_path_factory.mktemp("schema"), limits) as world:
        yield world


def test_answers_are_as_described(known_world):
    """No accident, only documented codes, types and shapes, for every operation."""
    headers = {"Authorization": known_world.program("ada").headers["Authorization"]}
    document = schemathesis.openapi.from_asgi("/openapi.json", known_world.app)
    operations = [found.ok() for found in document.exclude(path=ENDLESS).get_all_operations()]
    assert len(operations) > 20
    for operation in operations:

        @EXAMPLES
        @given(case=operation.as_strategy())
        def check(case):
            case.call_and_validate(base_url="http://127.0.0.1", headers=headers, checks=CHECKS)

        check()


def test_the_document_names_every_part_of_the_api(known_world):
    """Items, votes, soft labels, intervals, queries, exports, undo and Label Studio's four."""
    paths = known_world.browser().get("/openapi.json").json()["paths"]
    wanted = (
        "items",
        "votes",
        "soft-labels",
        "queries",
        "export/{name}",
        "undo",
        "sync",
        "items/{row}/why",
        "events",
    )
    assert {f"/api/v1/{name}" for name in wanted} | {"/health", "/setup", "/predict", "/webhook"} <= set(
        paths
    )
