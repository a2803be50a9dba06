"""A lead at the pages: Debian's chromium driven by playwright."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from web.conftest import running, vote
from web.test_browser import (  # noqa: F401 - fixtures
    CHROMIUM,
    chromium,
    contrast,
    team,
    visit,
)

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
OPERATORS_WORDS = re.compile(r"lease|latency|log entr|applied|\bms\b|refin|queue|snapshot", re.IGNORECASE)


@needs_chromium
def test_the_top_of_the_dashboard_speaks_a_leads_language(team, visit):  # noqa: F811
    """Votes, items, people; nothing that only an operator needs."""
    _, base = team
    lead = visit(base, viewport=DESK)
    lead.sign_in("ada")
    page = lead.page
    page.wait_for_function("() => document.getElementById('n-votes').textContent === '0'")
    words = page.inner_text(".tiles")
    assert "votes" in words
    assert not OPERATORS_WORDS.search(words)


@needs_chromium
def test_a_lead_changes_the_question_and_an_open_vote_page_follows(team, visit):  # noqa: F811
    """Without a restart; guidelines appear in the help, and a pause is said."""
    world, base = team
    lead, ben = visit(base, viewport=DESK), visit(base, viewport=PHONE)
    ben.sign_in("ben")
    ben.go("/vote")
    ben.ready()
    lead.sign_in("ada")
    page = lead.go("/project")
    page.fill("[name=question]", "Which insect is it?")
    page.fill("[name=guidelines]", "## Look twice\n\n- <script>alert(1)</script> is no insect")
    page.fill("[name=overlap]", "2")
    page.fill("[name=uniform_share]", "30")
    page.click("text=Save")
    page.wait_for_selector("#saved >> text=Saved.")
    page.wait_for_selector(".guidelines >> text=Look twice")
    found = world.service.settings
    assert (found.question, found.overlap, found.uniform_share) == ("Which insect is it?", 2, 0.3)
    assert found.strategy == "uncertainty"
    ben.page.keyboard.press("1")
    ben.page.wait_for_selector("h1 >> text=Which insect is it?")
    ben.ready()
    ben.page.keyboard.press("?")
    ben.page.wait_for_selector("#help-dialog >> text=is no insect")
    ben.page.keyboard.press("Escape")
    page.click("text=Pause")
    page.wait_for_selector("text=Voting is paused")
    ben.page.keyboard.press("1")
    ben.page.wait_for_selector("#waiting >> text=Voting is paused")
    assert [entry.label for entry in world.service.store.entries()] == ["ant", "ant"]
    page.click("text=Open again")
    page.wait_for_selector("text=Voting is running")
    assert lead.dialogs == ben.dialogs == lead.complaints == []


@needs_chromium
def test_what_a_lead_is_writing_survives_the_end_of_a_preparation(team, visit, monkeypatch):  # noqa: F811
    """The page looks whether a change is in force, and reloads only where nothing was typed."""
    world, base = team
    monkeypatch.setattr(type(world.service), "preparing", True)
    lead, idle = visit(base, viewport=DESK), visit(base, viewport=DESK)
    for someone in (lead, idle):
        someone.sign_in("ada")
        someone.go("/project").wait_for_selector("#preparing:not([hidden])")
    lead.page.fill("[name=guidelines]", "A long text")
    monkeypatch.setattr(type(world.service), "preparing", False)
    lead.page.wait_for_selector("#preparing >> text=in force")
    assert lead.page.input_value("[name=guidelines]") == "A long text"
    idle.page.wait_for_selector("#preparing[hidden]", state="attached")
    assert lead.complaints == idle.complaints == []


@needs_chromium
def test_asking_someone_else_is_said_and_done_once(team, visit):  # noqa: F811
    """The button stays off after the lists are shown again."""
    world, base = team
    for name, label in (("ben", "ant"), ("eva", "bee")):
        vote(world.service, name, "item-007", label, f"{name}-7")
    lead = visit(base, viewport=PHONE)
    lead.sign_in("ada")
    page = lead.go("/review")
    page.click("text=Ask someone else")
    page.wait_for_selector("button:disabled >> text=Someone else is asked")
    assert world.service.queue._again == {7}
    assert lead.complaints == []


@needs_chromium
def test_a_lead_describes_a_class_and_annotators_find_it(team, visit):  # noqa: F811
    """Its colour on the button; description and example pictures in the help, as text that cannot run."""
    world, base = team
    lead = visit(base, viewport=PHONE)
    lead.sign_in("ada")
    page = lead.go("/project")
    row = page.locator(".class-row").first
    row.locator("summary").click()
    row.locator("[data-field=colour]").fill("#aa00ff")
    row.locator("[data-field=description]").fill("Six legs. <b>No wings.</b>")
    row.locator("[data-field=examples]").fill("item-003\nitem-005")
    page.click("text=Save classes")
    page.wait_for_selector("#saved >> text=Saved.")
    assert world.service.settings.note_of("ant").examples == ("item-003", "item-005")
    ben = visit(base, viewport=PHONE)
    ben.sign_in("ben")
    ben.go("/vote")
    ben.ready()
    colour = "element => getComputedStyle(element).borderLeftColor"
    assert ben.page.eval_on_selector(".class >> nth=0", colour) == "rgb(170, 0, 255)"
    ben.page.click("#help")
    assert "Six legs. <b>No wings.</b>" in ben.page.inner_text("#help-dialog .about-classes")
    for picture in ben.page.query_selector_all("#help-dialog .examples img"):
        picture.scroll_into_view_if_needed()
        ben.page.wait_for_function("picture => picture.naturalWidth > 0", arg=picture)
    assert lead.complaints == ben.complaints == []


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_leads_pages_fit_a_phone_and_can_be_read(team, visit, scheme):  # noqa: F811
    """No page is wider than 390 px; contrast is at least 4.5; every control has a name."""
    world, base = team
    world.service.change({"guidelines": "Some *words*.", "status": "paused"})
    lead = visit(base, viewport=PHONE, color_scheme=scheme)
    lead.sign_in("ada")
    # textContent: what is folded away has no innerText
    name_of = "all => all.map(e => e.textContent || e.ariaLabel || e.labels?.[0]?.textContent || e.title)"
    for path in ("/project",):
        page = lead.go(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        for selector in ("h1", "h2", "label", ".muted", "button", "nav a", ".main-button"):
            if page.query_selector(selector):
                assert contrast(page, selector) >= 4.5, (path, selector)
        names = page.eval_on_selector_all("button, a, input:not([type=hidden]), select, textarea", name_of)
        assert all(name and name.strip() for name in names), path
    assert lead.complaints == []


SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
import uvicorn
from web.conftest import make_service
from softspread.web.http.app import create_app
service = make_service(sys.argv[2], database_url=sys.argv[3])
service.start()
app = create_app(service)
accounts = app.state.context.accounts
config = uvicorn.Config(app, port=0, log_level="error")
socket = config.bind_socket()
socket.listen(100)
print(socket.getsockname()[1], accounts.make_token(accounts.create("ada", "a long password", "admin"), "t"),
      flush=True)
uvicorn.Server(config).run(sockets=[socket])
"""


def ask(port, word, method, path, body):
    """One request to a server in another process; what it answers."""
    headers = {"Authorization": f"Bearer {word}", "Content-Type": "application/json"}
    address = f"http://127.0.0.1:{port}/api/v1/{path}"
    request = urllib.request.Request(address, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")


def test_what_a_lead_changed_survives_a_kill(tmp_path, database):
    """A change that was acknowledged stands after kill -9 and a restart."""
    command = [sys.executable, "-c", SERVER, str(Path(__file__).parents[1]), str(tmp_path), database]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    port, word = process.stdout.readline().split()
    ask(port, word, "PATCH", "project", {"question": "Kept?", "overlap": 5, "status": "paused"})
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with running(tmp_path, database_url=database) as service:
        found = service.settings
        assert (found.question, found.overlap, found.status) == ("Kept?", 5, "paused")
