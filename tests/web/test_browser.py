"""A user at the page: Debian's chromium driven by playwright."""

import shutil

import numpy as np
import pytest

from softspread.votes.repeats import repeat_advice
from softspread.web.http.app import create_app, first_link
from softspread.web.log.answers import Choice
from softspread.web.log.entry import UNDO, VOTE
from softspread.web.project.items import ArrayItems, FileItems
from web.conftest import (
    CLASSES,
    N_ITEMS,
    PASSWORD,
    item_names,
    opened_world,
    running,
    served,
    three_clusters,
    vote,
    wait_until_applied,
)

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
PATIENCE = 60_000  # milliseconds; the machine may be busy


@pytest.fixture(scope="module")
def chromium():
    """One browser for all tests of this file."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Visitor:
    """A browser of one's own, and all that its console complained about."""

    def __init__(self, chromium, base, **options):
        self.context = chromium.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.base, self.complaints, self.dialogs = base, [], []
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def hear(self, note):
        # Plotly brings a sheet for maps of the world; the policy keeps it out and nothing here needs it.
        of_plotly = note.text.startswith("Applying inline style") and "plotly" in note.location["url"]
        if note.type == "error" and not of_plotly:
            self.complaints.append(note.text)

    def go(self, path):
        self.page.goto(self.base + path)
        return self.page

    def sign_in(self, name):
        self.go("/login")
        self.page.fill("[name=name]", name)
        self.page.fill("[name=password]", PASSWORD)
        self.page.press("[name=password]", "Enter")
        self.page.wait_for_url(lambda url: "/login" not in url)

    def ready(self):
        """Wait for an item; its name."""
        self.page.wait_for_selector("#figure:not([hidden])")
        return f"item-{int(self.page.get_attribute('#figure', 'data-row')):03d}"

    def saved(self):
        self.page.wait_for_selector("#line[data-state=on]")
        self.page.wait_for_function("() => Object.keys(localStorage).every((key) => !key.includes(':op:'))")


@pytest.fixture
def visit(chromium):
    """Opens visitors and closes them."""
    made = []

    def open_one(base, **options):
        made.append(Visitor(chromium, base, **options))
        return made[-1]

    yield open_one
    for visitor in made:
        visitor.context.close()


def small_pictures(n=N_ITEMS):
    return ArrayItems(item_names(n), np.random.default_rng(0).random((n, 8, 8)))


@pytest.fixture
def local(tmp_path):
    """A server without accounts, with pictures."""
    with (
        running(tmp_path, auth=False, items=small_pictures()) as service,
        served(create_app(service, stop_service=False)) as base,
    ):
        yield service, base


@pytest.fixture
def team(tmp_path):
    """A server with accounts."""
    with opened_world(tmp_path, items=small_pictures()) as world, served(world.app) as base:
        yield world, base


def test_a_whole_session_by_keyboard(local, visit):
    """Votes, unsure, skip, undo and help, without a mouse; the log holds what was pressed."""
    service, base = local
    me = visit(base)
    page = me.go("/vote")
    seen = []
    for key in ("1", "2", "3"):
        seen.append(me.ready())
        page.keyboard.press(key)
    assert len(set(seen)) == 3
    undone = seen[-1]
    page.keyboard.press("z")
    assert me.ready() == undone
    assert page.is_visible("text=You took back “cat”")
    page.keyboard.press("u")
    assert page.get_attribute("#unsure", "aria-pressed") == "true"
    page.keyboard.press("1")
    skipped = me.ready()
    page.keyboard.press("Space")
    assert me.ready() != skipped
    page.keyboard.press("?")
    assert page.is_visible("#help-dialog")
    page.keyboard.press("2")  # keys do nothing behind the dialog
    page.keyboard.press("Escape")
    me.saved()
    found = [(entry.kind, entry.item, entry.label, entry.weight) for entry in service.store.entries()]
    assert found == [
        (0, seen[0], "ant", 1.0),
        (0, seen[1], "bee", 1.0),
        (0, undone, "cat", 1.0),
        (1, undone, "cat", -1.0),
        (0, undone, "ant", 0.5),
        (2, skipped, None, 0.0),
    ]
    assert page.inner_text("#progress") == "3 votes"
    assert me.complaints == []


def test_the_next_picture_is_loaded_before_it_is_needed(local, visit):
    """A vote shows an item whose picture came earlier."""
    _, base = local
    me = visit(base)
    page = me.go("/vote")
    me.ready()
    me.saved()
    page.wait_for_load_state("networkidle")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/picture" in request.url else None)
    page.keyboard.press("1")
    me.ready()
    shown = page.get_attribute("#picture", "src")
    page.wait_for_function("() => document.getElementById('picture').complete")
    assert not [url for url in asked if url.endswith(shown)]


def test_a_reload_shows_the_same_item_and_undo_still_works(local, visit):
    """Nothing is forgotten by closing the page."""
    service, base = local
    me = visit(base)
    page = me.go("/vote")
    first = me.ready()
    page.keyboard.press("2")
    second = me.ready()
    me.saved()
    page.reload()
    assert me.ready() == second
    page.keyboard.press("z")
    assert me.ready() == first
    me.saved()
    assert service.counts()["votes"] == 0


def test_votes_cast_offline_are_sent_later_exactly_once(local, visit):
    """Also over a lost answer: the server had written them, the page did not know."""
    service, base = local
    me = visit(base)
    page = me.go("/vote")
    me.ready()
    me.saved()
    lost = []

    def lose(route):
        if (
            "operations" in (route.request.post_data or "")
            and '"vote"' in route.request.post_data
            and not lost
        ):
            lost.append(route.fetch())  # the server got it ...
            route.abort()  # ... but the page never hears of it
        else:
            route.continue_()

    page.route("**/api/v1/sync", lose)
    page.keyboard.press("1")
    page.wait_for_function("() => document.getElementById('line').dataset.state === 'off'")
    me.context.set_offline(True)
    for key in ("2", "3"):
        me.ready()
        page.keyboard.press(key)
    page.wait_for_selector("text=3 votes waiting")
    assert service.counts()["votes"] == 1
    me.context.set_offline(False)
    me.saved()
    assert lost
    assert [entry.label for entry in service.store.entries()] == ["ant", "bee", "cat"]


def test_two_people_at_once_never_share_an_item(team, visit):
    """Both vote in turn; no item has two votes while others have none."""
    world, base = team
    people = [visit(base), visit(base)]
    for user, name in zip(people, ("ben", "eva"), strict=True):
        user.sign_in(name)
        user.go("/vote")
    for _ in range(6):
        for user in people:
            user.ready()
            user.page.keyboard.press("1")
    for user in people:
        user.saved()
    items = [entry.item for entry in world.service.store.entries()]
    assert len(items) == len(set(items)) == 12
    assert {entry.annotator for entry in world.service.store.entries()} == {"ben", "eva"}


def test_the_dashboard_moves_while_others_vote(team, visit):
    """Numbers come by themselves; the map, the charts and the reasons are there."""
    world, base = team
    lead = visit(base, viewport={"width": 1280, "height": 900})
    lead.sign_in("ada")
    page = lead.page
    page.wait_for_url("**/dashboard")
    page.wait_for_selector("#map-note", state="hidden")
    assert page.inner_text("#n-votes") == "0"
    truth = three_clusters()[1]
    for row in range(30):
        vote(world.service, ("ben", "eva")[row % 2], f"item-{row:03d}", CLASSES[int(truth[row])], f"k{row}")
    page.wait_for_function("() => document.getElementById('n-votes').textContent === '30'")
    page.wait_for_selector("#people >> text=eva")
    page.wait_for_selector(f"#verdict-why >> text={repeat_advice(0, N_ITEMS)}")
    page.wait_for_selector("#chart-time .main-svg")
    page.fill("#search-text", "item-004")
    page.press("#search-text", "Enter")
    page.wait_for_selector("#why >> text=evidence")
    assert CLASSES[int(truth[4])] in page.inner_text("#why .bar-row")
    page.click("[data-colour=uncertainty]")
    assert page.get_attribute("[data-colour=uncertainty]", "aria-pressed") == "true"
    drawn = """() => { const canvas = document.getElementById('map-canvas');
      return new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size; }"""
    assert page.evaluate(drawn) > 5
    assert lead.complaints == []


def test_the_dashboard_counts_in_words_and_follows_the_colours_of_the_system(team, visit):
    """One vote by one person is said so; charts are drawn again when a phone turns dark in the evening."""
    world, base = team
    lead = visit(base, viewport={"width": 1280, "height": 900}, color_scheme="light")
    lead.sign_in("ada")
    page = lead.page
    vote(world.service, "ben", "item-000", CLASSES[0], "first")
    page.wait_for_function("() => document.getElementById('n-votes').textContent === '1'")
    assert [page.inner_text(f"#n-{what}-label") for what in ("votes", "people")] == ["vote", "person"]
    page.wait_for_selector("#chart-time .xtick text")
    ink = "getComputedStyle(document.querySelector('#chart-time .xtick text')).fill"
    light = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => {ink} !== '{light}'")


def test_an_admin_invites_someone_who_votes(tmp_path, visit):
    """From the first link to the first vote of a newcomer."""
    with running(tmp_path, items=small_pictures()) as service:
        app = create_app(service, stop_service=False)
        with served(app) as base:
            lead = visit(base)
            page = lead.go(first_link(app))
            for field, text in (("name", "Ada"), ("password", PASSWORD), ("again", PASSWORD)):
                page.fill(f"[name={field}]", text)
            page.click("text=Begin")
            page.wait_for_url("**/dashboard")
            page.click("text=People")
            page.fill("[name=note]", "Ben from the lab")
            page.click("text=Make a link")
            page.wait_for_selector("#link-line:not([hidden])")
            link = page.inner_text("#link")
            newcomer = visit(base, **PHONE)
            newcomer.page.goto(link)
            for field, text in (("name", "Ben"), ("password", PASSWORD), ("again", PASSWORD)):
                newcomer.page.fill(f"[name={field}]", text)
            newcomer.page.tap("text=Begin")
            newcomer.page.wait_for_url("**/vote")
            newcomer.ready()
            newcomer.page.tap("#classes >> text=bee")
            newcomer.saved()
            assert [(entry.annotator, entry.label) for entry in service.store.entries()] == [("Ben", "bee")]
            page.reload()
            page.wait_for_selector("#invitations >> text=used by Ben")
            assert lead.complaints == newcomer.complaints == []


def test_a_phone_shows_everything_without_scrolling(local, visit):
    """Picture, classes and actions fit a small screen, and fingers can hit them."""
    _, base = local
    me = visit(base, **PHONE)
    page = me.go("/vote")
    me.ready()
    size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert size[0] <= 360
    assert size[1] <= 640
    for selector in (".class", ".actions button"):
        for box in [element.bounding_box() for element in page.query_selector_all(selector)]:
            assert box["height"] >= 44
            assert box["y"] + box["height"] <= 640
    page.tap("#classes >> text=cat")
    me.ready()
    page.tap("#undo")
    me.saved()
    page = me.go("/dashboard")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_nasty_texts_and_names_run_nothing(tmp_path, visit):
    """Tags in item texts, ids, class names and titles are shown as they are."""
    nasty = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    X = three_clusters()[0]
    items = FileItems([f"{nasty}{row}" for row in range(len(X))], tmp_path, [None] * len(X), [nasty] * len(X))
    with (
        running(tmp_path, auth=False, items=items, classes=(nasty, "bee", "cat"), title=nasty) as service,
        served(create_app(service, stop_service=False)) as base,
    ):
        me = visit(base)
        page = me.go("/vote")
        me.ready()
        assert page.inner_text("#text") == nasty
        page.keyboard.press("1")
        me.saved()
        wait_until_applied(service)
        page = me.go("/dashboard")
        page.wait_for_selector("#least-known button")
        page.click("#least-known button")
        page.wait_for_selector("#why >> text=evidence")
        assert me.dialogs == []
        assert [text for text in me.complaints if "Content Security Policy" in text] == []


CONTRAST = """(element) => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  let ground = element;
  const opacity = (node) => parse(getComputedStyle(node).backgroundColor)[3] ?? 1;
  while (ground && opacity(ground) < 1) ground = ground.parentElement;
  const text = light(parse(getComputedStyle(element).color));
  const behind = light(parse(getComputedStyle(ground ?? document.body).backgroundColor));
  return (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
}"""


def contrast(page, selector):
    """Contrast of an element's text against the first opaque ground behind it, as WCAG defines it."""
    return page.eval_on_selector(selector, CONTRAST)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_and_controls_have_names(local, visit, scheme):
    """WCAG AA: contrast of at least 4.5 in both colour schemes; every button says what it does."""
    _, base = local
    me = visit(base, color_scheme=scheme)
    page = me.go("/vote")
    me.ready()
    for selector in (
        "h1",
        ".class .name",
        ".class kbd",
        "#skip",
        "#caption",
        "#progress",
        "nav a",
        "nav a[aria-current]",
    ):
        assert contrast(page, selector) >= 4.5, selector
    page.keyboard.press("u")
    assert contrast(page, "#unsure") >= 4.5
    page = me.go("/dashboard")
    for selector in (
        ".tile span",
        ".muted",
        "h2",
        ".switch button[aria-pressed=true]",
        "th",
        ".exports a",
        ".flag",
    ):
        if page.query_selector(selector):
            assert contrast(page, selector) >= 4.5, selector
    name_of = "all => all.map(e => e.innerText || e.ariaLabel || e.labels?.[0]?.innerText || e.title)"
    names = page.eval_on_selector_all("button, a, input", name_of)
    assert all(name and name.strip() for name in names)


DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
THINGS = ("airplane", "automobile", "bird", "not a picture of any animal", "truck")


@pytest.mark.parametrize("classes", [DIGITS, THINGS], ids=["short", "longer"])
@pytest.mark.parametrize(
    ("width", "mode"), [(390, "blind"), (1280, "blind"), (390, "assisted"), (1280, "assisted")]
)
def test_no_word_of_a_class_is_broken(tmp_path, visit, classes, width, mode):
    """Every word of every name stands on one line, with its key beside it on a desk, and its share."""
    with (
        running(tmp_path, auth=False, items=small_pictures(), classes=classes, mode=mode) as service,
        served(create_app(service, stop_service=False)) as base,
    ):
        me = visit(base, viewport={"width": width, "height": 844})
        page = me.go("/vote")
        me.ready()
        if mode == "assisted":
            page.wait_for_selector(".hint-text:not([hidden])")
        lines = """all => all.flatMap(({firstChild: text}) => [...text.data.matchAll(/[^ ]+/g)].map(word => {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            return [word[0], new Set([...range.getClientRects()].map(one => one.top)).size];
        }))"""
        found = page.eval_on_selector_all(".class .name", lines)
        assert [count for _, count in found] == [1] * sum(len(name.split()) for name in classes), found
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert me.complaints == []


@pytest.fixture(params=["no", "nothing"])
def toggles(request, tmp_path):
    """A server without accounts, with pictures that may have several classes."""
    with (
        running(
            tmp_path, auth=False, items=small_pictures(), kind="multilabel", rest=request.param
        ) as service,
        served(create_app(service, stop_service=False)) as base,
    ):
        yield service, base


def test_several_classes_are_toggles_and_one_answer(toggles, visit):
    """By keyboard: on, off, done, none of these, undo; the log holds one line for each answer."""
    service, base = toggles
    silent = service.settings.rest == "nothing"
    me = visit(base)
    page = me.go("/vote")

    def states():
        places = [f"#classes button:nth-child({place})" for place in (1, 2, 3)]
        return [page.get_attribute(place, "aria-checked") for place in places]

    off = "mixed" if silent else "false"
    me.ready()
    assert page.is_disabled("#done")
    page.keyboard.press("Enter")  # an answer that says nothing is none
    assert ("says nothing" if silent else "is a no") in page.inner_text("#rest")
    for key in "13":
        page.keyboard.press(key)
    assert states() == ["true", off, "true"]
    page.keyboard.press("3")
    assert states() == ["true", off, "false"]
    first = me.ready()
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.getElementById('figure').dataset.row !== '{int(first[-3:])}'")
    assert states() == [off] * 3
    second = me.ready()
    page.keyboard.press("0")
    page.wait_for_function(f"document.getElementById('figure').dataset.row !== '{int(second[-3:])}'")
    page.keyboard.press("z")
    assert me.ready() == second
    assert page.is_visible("text=You took back “none of these”")
    page.keyboard.press("z")
    assert me.ready() == first
    assert states() == ["true", off, "false"]
    page.focus("#classes button:nth-child(2)")
    page.keyboard.press("Space")
    assert page.get_attribute("#classes button:nth-child(2)", "aria-checked") == "true"
    page.keyboard.press("u")
    page.keyboard.press("Enter")
    me.saved()
    found = [(entry.kind, entry.item, entry.label, entry.weight) for entry in service.store.entries()]
    no = ["cat"] if silent else ["bee", "cat"]
    one, none, two = (
        service.history.answers.text_of(said)
        for said in (Choice(["ant"], no), Choice([], CLASSES), Choice(["ant", "bee"], ["cat"]))
    )
    assert found == [
        (VOTE, first, one, 1.0),
        (VOTE, second, none, 1.0),
        (UNDO, second, none, -1.0),
        (UNDO, first, one, -1.0),
        (VOTE, first, two, 0.5),
    ]
    assert me.complaints == []


def test_a_phone_toggles_and_a_lead_decides_about_several_classes(tmp_path, visit):
    """By touch; the review shows who said what class by class, and a decision ticks every class."""
    changes = {"items": small_pictures(), "kind": "multilabel", "overlap": 2}
    with opened_world(tmp_path, **changes) as world, served(world.app) as base:
        for name, label in (("ben", "ant"), ("eva", "bee")):
            vote(world.service, name, "item-005", Choice([label, "cat"]), f"{name}-5")
        wait_until_applied(world.service)
        ben = visit(base, **PHONE)
        ben.sign_in("ben")
        page = ben.go("/vote")
        ben.ready()
        page.tap("#classes button:nth-child(1)")
        page.tap("#classes button:nth-child(2)")
        page.tap("#done")
        ben.saved()
        assert world.service.store.entries()[-1].label == '{"yes":["ant","bee"],"no":["cat"]}'
        ada = visit(base)
        ada.sign_in("ada")
        page = ada.go("/review")
        card = page.wait_for_selector("#list li")
        assert "cat by 2 of 2" in card.inner_text()
        for box in card.query_selector_all("input[type=checkbox]"):
            box.set_checked(False)
        card.query_selector_all("input[type=checkbox]")[1].check()
        card.query_selector("button.main-button").click()
        page.wait_for_selector("#list li:has-text('decided: bee')")
        assert world.service.store.entries()[-1].label == '{"yes":["bee"],"no":["ant","cat"]}'
        assert ben.complaints == ada.complaints == []
