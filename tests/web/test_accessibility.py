"""Every page, looked at by axe-core: what people with aids could not use."""

from contextlib import contextmanager

import pytest

from softspread.web.log.answers import Choice
from web.conftest import CLASSES, item_names, opened_world, served, vote, wait_until_applied
from web.test_browser import (  # noqa: F401 - fixtures
    CHROMIUM,
    PATIENCE,
    chromium,
    small_pictures,
    visit,
)

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
PAGES = ("/vote", "/dashboard", "/review", "/project", "/people", "/account")
READY = {
    "/vote": "#figure:not([hidden])",
    "/dashboard": "#people tr",
    "/review": "#people tr",
    "/people": "#accounts tr",
}


@contextmanager
def at_work(folder, said, **changes):
    """A project with votes, notes, a decision, guidelines, and someone whose verdict is known."""
    with opened_world(folder, items=small_pictures(), **changes) as world, served(world.app) as base:
        service = world.service
        for number, name in enumerate(("ben", "eva")):
            for row, item in enumerate(item_names()[:45]):
                label = CLASSES[(row + (number and row % 7 == 0)) % 3]
                vote(service, name, item, said(label), f"{name}-{row}")
        service.submit([service.flag("ben", "item-003", "Two insects?", "f")]).result(10)
        service.submit([service.broken("ben", "item-004", "b")]).result(10)
        service.submit([service.skip("ben", "item-050", "s")]).result(10)
        service.submit(service.decide("ada", "item-011", said("bee"), "d")).result(10)
        service.change(
            {"guidelines": "## Look twice\n\n| a | b |\n|---|---|\n| 1 | [2](https://example.org) |"}
        )
        wait_until_applied(service)
        service.state.learn()
        service.analyst.update_overview()
        service.analyst.update_quality()
        yield world, base


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """One class per vote."""
    with at_work(tmp_path_factory.mktemp("busy"), str) as found:
        yield found


@pytest.fixture(scope="module", params=["no", "nothing"])
def toggled(request, tmp_path_factory):
    """Several classes per item; what stays off is a no or nothing."""
    folder, rest = tmp_path_factory.mktemp("toggled"), request.param

    def said(label):
        return Choice([label, "ant"], [name for name in CLASSES if name not in (label, "ant")])

    with at_work(folder, said, kind="multilabel", rest=rest, mode="assisted") as found:
        yield found


def complaints(page):
    """What axe finds, in words."""
    found = axe.Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing(busy, visit, size, scheme):  # noqa: F811
    """On any page and in its dialogs; no page is wider than the screen."""
    world, base = busy
    someone = visit(base, viewport=SIZES[size], color_scheme=scheme)
    page = someone.go("/login")
    found = {"/login": complaints(page)}
    someone.sign_in("ada")
    for path in PAGES:
        someone.go(path)
        if path in READY:
            page.wait_for_selector(READY[path], timeout=PATIENCE)
        found[path] = complaints(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"], path
    someone.go("/vote")
    someone.ready()
    page.keyboard.press("?")
    found["help"] = complaints(page)
    assert page.evaluate("document.getElementById('help-dialog').scrollTop") == 0
    page.keyboard.press("Escape")
    page.keyboard.press("!")
    found["note"] = complaints(page)
    stranger = visit(base, viewport=SIZES[size], color_scheme=scheme)
    found["invite"] = complaints(stranger.go(f"/invite/{world.accounts.invite('annotator', 'ada', '')}"))
    found["no link"] = complaints(stranger.go("/invite/nothing"))
    assert {path: found for path, found in found.items() if found} == {}
    assert someone.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_where_items_may_have_several_classes(toggled, visit, size, scheme):  # noqa: F811
    """With toggles on, off and, where the rest says nothing, denied."""
    _, base = toggled
    someone = visit(base, viewport=SIZES[size], color_scheme=scheme)
    someone.sign_in("ada")
    found = {}
    for path in ("/vote", "/dashboard", "/review", "/project"):
        page = someone.go(path)
        if path in READY:
            page.wait_for_selector(READY[path], timeout=PATIENCE)
        if path == "/vote":
            someone.ready()
            for key in "122":
                page.keyboard.press(key)
        if path == "/dashboard":
            page.wait_for_selector("#by-class tr")
        found[path] = complaints(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"], path
    someone.go("/vote")
    someone.ready()
    page.keyboard.press("?")
    found["help"] = complaints(page)
    assert {path: found for path, found in found.items() if found} == {}
    assert someone.complaints == []
