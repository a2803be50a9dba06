"""A person at a real JupyterLab page: Debian's chromium driven by playwright."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from urllib.error import URLError

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium"),
    pytest.mark.skipif(importlib.util.find_spec("jupyterlab") is None, reason="needs jupyterlab"),
    pytest.mark.skipif(importlib.util.find_spec("anywidget") is None, reason="needs the extra notebook"),
]
TOKEN = "only-for-this-test"
PATIENCE = 120_000  # milliseconds; a kernel starts and compiles, and the machine may be busy
SETUP = """
import warnings; warnings.simplefilter("ignore")
from sklearn.datasets import load_digits
import numpy as np
from softspread import SoftLabeler
digits = load_digits(n_class=3)
y = np.full(len(digits.target), -1)
y[:30] = digits.target[:30]
lab = SoftLabeler(random_state=0).fit(digits.data, y)
before = lab.predict_proba()
voter = lab.vote_here(digits.images, which=[100, 101, 102, 103], annotator="ada")
voter
"""
RESULT = """
cast = voter.votes.to_frame()
print("cast", *(cast[name].tolist() for name in ("item", "label", "weight", "annotator")))
print("moved", bool(abs(lab.predict_proba() - before).max() > 0.01), "notes", voter.notes["note"].tolist())
"""


def notebook(*cells):
    """A notebook file's content."""
    parts = [
        {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": source.strip()}
        | {"outputs": [], "execution_count": None}
        for number, source in enumerate(cells)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": parts, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    )


@contextmanager
def jupyterlab(folder):
    """The address of a JupyterLab of our own, with nothing of the user's."""
    places = {
        name: str(folder / name.lower()) for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
    }
    places["JUPYTER_RUNTIME_DIR"] = str(folder / "runtime")
    home = folder / "notebooks"
    home.mkdir()
    (home / "vote.ipynb").write_text(notebook(SETUP, RESULT))
    options = [f"--ServerApp.root_dir={home}", f"--IdentityProvider.token={TOKEN}", "--ServerApp.port=0"]
    options += ["--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--LabApp.news_url=None"]
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            cwd=home,
            env={**os.environ, **places},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield address_of(server, folder)
        finally:
            server.terminate()
            server.wait(60)


def address_of(server, folder):
    """Where it listens, once it answers."""
    until = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until:
        assert server.poll() is None, (folder / "log").read_text()
        for facts in (folder / "runtime").glob("jpserver-*.json"):
            url = json.loads(facts.read_text() or "{}").get("url")
            with suppress(URLError):  # the file comes before the server listens
                if url and urllib.request.urlopen(f"{url}api?token={TOKEN}", timeout=60).status == 200:
                    return url
        time.sleep(0.2)
    raise AssertionError((folder / "log").read_text())


def run_first_cell(page):
    """Until it runs: on a busy machine JupyterLab loses what is asked while the kernel's line opens."""
    cell = page.locator(".jp-CodeCell").first
    for _ in range(12):
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        with suppress(AssertionError):
            playwright.expect(cell.locator(".jp-InputPrompt")).not_to_have_text("[ ]:", timeout=10_000)
            return
    raise AssertionError("JupyterLab does not run the cell")


@pytest.mark.timeout(900)
def test_votes_in_a_notebook_reach_the_estimator(tmp_path):
    """Keys, undo, an unsure vote, a note and a skip; the notebook's own shortcuts stay quiet meanwhile."""
    with jupyterlab(tmp_path) as base, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(PATIENCE)
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{base}lab/tree/vote.ipynb?token={TOKEN}")
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()  # the kernel is up
        run_first_cell(page)
        voter = page.locator(".softspread-voter")
        voter.wait_for()
        progress, picture = voter.locator(".count"), voter.locator(".frame img")
        playwright.expect(progress).to_have_text("0 votes · 4 items to go")
        playwright.expect(picture).to_be_visible()
        voter.locator(".stage").click()
        shown = picture.get_attribute("src")

        page.keyboard.press("1")  # names of one character are their own keys
        playwright.expect(progress).to_have_text("1 vote · 3 items to go")
        playwright.expect(voter.locator(".moved .row.chosen .which")).to_have_text("1")
        assert picture.get_attribute("src") != shown
        page.keyboard.press("z")
        playwright.expect(progress).to_have_text("0 votes · 4 items to go")
        playwright.expect(voter.locator(".note")).to_have_text("You took back “1”. Vote again, or skip.")
        assert picture.get_attribute("src") == shown
        page.keyboard.press("0")
        playwright.expect(progress).to_have_text("1 vote · 3 items to go")

        page.keyboard.press("!")
        page.keyboard.type("xz2 is not a vote")
        page.keyboard.press("Enter")
        page.keyboard.press("u")
        playwright.expect(voter.get_by_role("button", name="Unsure")).to_have_attribute(
            "aria-pressed", "true"
        )
        page.keyboard.press("2")
        page.keyboard.press("Space")
        playwright.expect(progress).to_have_text("2 votes · 1 item to go")
        voter.get_by_role("button", name="1", exact=True).click()
        playwright.expect(voter.locator(".waiting")).to_have_text("That was all. Thank you!")
        playwright.expect(voter.locator(".moved .row")).to_have_count(3)

        assert page.locator(".jp-CodeCell").count() == 2  # x, z, a, b and the rest did nothing to cells
        page.locator(".jp-CodeCell .cm-content").last.click()
        page.keyboard.press("Control+Enter")
        output = page.locator(".jp-CodeCell").last.locator(".jp-OutputArea-output")
        playwright.expect(output).to_contain_text("cast [100, 101, 103] [0, 2, 1] [1.0, 0.5, 1.0]")
        playwright.expect(output).to_contain_text("['ada', 'ada', 'ada']")
        playwright.expect(output).to_contain_text("moved True notes ['xz2 is not a vote']")
        assert complaints == []
        browser.close()
