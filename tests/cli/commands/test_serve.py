"""``softspread serve`` as typed: what it reads, what it refuses, and a server that really answers."""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pandas as pd
import pytest

import command_line
from softspread.cli.commands.serve import open_service
from softspread.cli.options import CommonOptions, ItemOptions, VoteOptions
from softspread.cli.runner import Run
from softspread.errors import InputError
from softspread.io.workspace import open_workspace

pytest.importorskip("fastapi", reason="needs the extra web")
from command_line import refused
from softspread.web.log.accounts import Accounts
from softspread.web.log.answers import Choice
from softspread.web.log.store import Store
from softspread.web.project.settings import database_address

Image = pytest.importorskip("PIL.Image", reason="needs Pillow")

CLASSES = ("ant", "bee", "cat")


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """Run serve with arguments in an empty folder; what it printed."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: command_line.run("serve", *arguments)


def make_files(folder):
    """Photos, embeddings with ids, gold and votes."""
    (folder / "photos").mkdir()
    names = [f"{number:02d}.png" for number in range(12)]
    for name in names:
        Image.new("RGB", (20, 20), "red").save(folder / "photos" / name)
    X = 6.0 * np.eye(3)[np.arange(12) % 3] + np.random.default_rng(0).normal(size=(12, 3))
    np.savez(folder / "X.npz", X=X, ids=np.array(names))
    (folder / "gold.csv").write_text("item,label\n00.png,ant\n")
    (folder / "votes.csv").write_text("item,label,annotator\n01.png,bee,zoe\n02.png,cat,\n")


def test_files_become_a_project(tmp_path):
    """Items by id, classes in order, gold answers, a title from the folder."""
    make_files(tmp_path)
    service = open_service(
        Run("serve", CommonOptions(quiet=True)),
        ItemOptions(embeddings=[tmp_path / "X.npz"]),
        VoteOptions(classes=",".join(CLASSES)),
        tmp_path / "photos",
        tmp_path / "gold.csv",
        {"data_dir": tmp_path / "data", "auth": False, "n_neighbors": 3},
    )
    assert service.items.ids[:2].tolist() == ["00.png", "01.png"]
    assert service.classes == list(CLASSES)
    assert service.settings.gold == (("00.png", "ant"),)
    assert service.settings.title == "photos"


def test_known_answers_may_be_about_several_classes(tmp_path):
    """A list says no to the rest, as on the page."""
    make_files(tmp_path)
    (tmp_path / "gold.csv").write_text("item,label\n00.png,ant;cat\n01.png,\n")
    service = open_service(
        Run("serve", CommonOptions(quiet=True)),
        ItemOptions(embeddings=[tmp_path / "X.npz"]),
        VoteOptions(classes=",".join(CLASSES), kind="multilabel"),
        None,
        tmp_path / "gold.csv",
        {"data_dir": tmp_path / "data", "auth": False, "kind": "multilabel"},
    )
    gold = ("00.png", Choice(["ant", "cat"], ["bee"])), ("01.png", Choice([], ["ant", "bee", "cat"]))
    assert service.settings.gold == gold


def test_predictions_become_the_prior(tmp_path):
    """Matched by id and class; of another shape they are refused."""
    make_files(tmp_path)
    p = np.full((12, 3), 0.1) + 0.7 * np.eye(3)[np.arange(12) % 3]
    frame = pd.DataFrame(p[:, ::-1], columns=[f"p_{name}" for name in CLASSES[::-1]])
    frame.insert(0, "item", [f"{row:02d}.png" for row in range(12)])
    frame[::-1].to_csv(tmp_path / "zero_shot.csv", index=False)
    np.save(tmp_path / "short.npy", p[:5])

    def opened(prior):
        return open_service(
            Run("serve", CommonOptions(quiet=True)),
            ItemOptions(embeddings=[tmp_path / "X.npz"]),
            VoteOptions(classes=",".join(CLASSES)),
            None,
            None,
            {"data_dir": tmp_path / "data", "auth": False, "n_neighbors": 3},
            tmp_path / prior,
        )

    np.testing.assert_allclose(opened("zero_shot.csv")._prior, p)
    with pytest.raises(InputError, match="prior"):
        opened("short.npy")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "serve --demo"),
        (("--demo", "--prior", "p.npy"), "leave out --prior"),
        (("--demo", "--kind", "ordinal"), "leave out --kind"),
        (("--embeddings", "X.npz", "--classes", "a,b", "--kind", "rating"), "softspread spread"),
        (("--embeddings", "X.npz", "--classes", "a,b", "--rest", "nothing"), "add --kind multilabel"),
        (("--embeddings", "none.npy", "--classes", "a,b"), "no file at none.npy"),
        (("--embeddings", "X.npz", "--classes", "a"), "2 to 1000 classes"),
        (("--embeddings", "X.npz", "--classes", "a,b", "--items", "nowhere"), "no folder or table"),
        (("--embeddings", "X.npz", "--classes", "a,b", "--no-auth", "--host", "0.0.0.0"), "--no-auth"),
        (("--embeddings", "X.npz", "--classes", "a,b", "--mode", "loud"), "mode"),
        (("--embeddings", "X.npz", "--classes", "a,b", "--database-url", "mysql://x"), "database"),
    ],
)
def test_mistakes_are_explained(typed, tmp_path, arguments, words):
    """In one message, before anything is written."""
    make_files(tmp_path)
    done = typed(*arguments)
    assert done.exit_code == 2
    assert words in done.output


def test_help_shows_an_example(typed):
    """And every option."""
    text = typed("--help").output
    assert "softspread serve --items photos/" in text
    for option in (
        "--embeddings",
        "--classes",
        "--demo",
        "--no-auth",
        "--database-url",
        "--overlap",
        "--gold",
        "--votes",
    ):
        assert option in text


def test_a_real_server_prints_its_links_and_stops_cleanly(tmp_path):
    """First admin's link, votes taken in once, pages that answer, the log kept."""
    make_files(tmp_path)
    arguments = [
        "serve",
        "--items",
        "photos",
        "--embeddings",
        "X.npz",
        "--classes",
        ",".join(CLASSES),
        "--port",
        "0",
    ]
    arguments += ["--n-neighbors", "3", "--votes", "votes.csv"]
    for taken in ("2 votes taken in", "are in already"):
        process = subprocess.Popen(
            [sys.executable, "-m", "softspread", *arguments], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        text = ""
        while "Stop with Ctrl-C" not in text:
            line = process.stdout.readline()
            assert line, text
            text += line
        assert taken in text
        assert "12 items, 3 classes, 2 votes so far" in text
        link = re.search(r"http://127.0.0.1:\d+/invite/\S+", text).group()
        with urllib.request.urlopen(link, timeout=20) as page:
            assert b"Welcome" in page.read()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(link.split("/invite")[0] + "/api/v1/project", timeout=20)
        assert refused.value.code == 401
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert time.monotonic() - begin < 30


def test_a_real_server_takes_answers_about_several_classes(tmp_path):
    """Those of a file count once per person and item; the page asks what applies, and says what off means."""
    make_files(tmp_path)
    (tmp_path / "votes.csv").write_text("item,label,annotator\n01.png,bee;cat,zoe\n02.png,,zoe\n")
    arguments = ["--embeddings", "X.npz", "--classes", ",".join(CLASSES), "--port", "0", "--n-neighbors", "3"]
    arguments += ["--kind", "multilabel", "--votes", "votes.csv", "--no-auth", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "softspread", "serve", *arguments], cwd=tmp_path, stdout=subprocess.PIPE
    )
    try:
        document = json.loads(b"".join(iter(process.stdout.readline, b"}\n")) + b"}")
        assert document["taken_in"] == [{"file": "votes.csv", "votes": 2}]
        with urllib.request.urlopen(document["vote"], timeout=20) as page:
            text = page.read().decode()
        assert "Which of these apply?" in text
        assert "A class that stays off is a no." in text
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_json_names_the_addresses_and_the_workspace_is_free_again(tmp_path):
    """A script finds the server; another command may use the workspace while it runs."""
    make_files(tmp_path)
    (tmp_path / "ws").mkdir()
    lines = [
        'embeddings = "../X.npz"',
        f'classes = "{",".join(CLASSES)}"',
        "n-neighbors = 3",
        "[serve]",
        'items = "../photos"',
        'data-dir = "data"',
        "port = 0",
    ]
    (tmp_path / "ws" / "softspread.toml").write_text("\n".join(lines))
    command = [sys.executable, "-m", "softspread", "serve", "-w", "ws", "--json", "-q"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    text = ""
    while not text.endswith("\n}\n"):
        line = process.stdout.readline()
        assert line, text
        text += line
    document = json.loads(text)
    assert (document["command"], document["items"], document["votes"]) == ("serve", 12, 0)
    with urllib.request.urlopen(document["admin"], timeout=20) as page:
        assert b"Welcome" in page.read()
    with open_workspace(tmp_path / "ws") as workspace:
        assert workspace.options["n-neighbors"] == 3
    assert (tmp_path / "ws" / "data").is_dir()
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    process.stdout.close()


def test_backup_restore_and_reset_from_the_command_line(tmp_path, monkeypatch):
    """A new folder holds the same votes; a link opens the account; options may not stand in front."""
    monkeypatch.chdir(tmp_path)
    refused(command_line.run("serve", "backup", "b.zip"), "there is no database")
    store = Store(database_address(None, tmp_path / "old"))
    store.start()
    accounts = Accounts(store, time.time)
    accounts.create("ada", "a long password", "admin")
    done = command_line.run("serve", "backup", "b.zip", "--data-dir", "old", "--json")
    assert json.loads(done.stdout)["rows"]["accounts"] == 1
    refused(command_line.run("serve", "--data-dir", "old", "backup", "b.zip"), "comes after the name")
    refused(command_line.run("serve", "restore", "b.zip", "--data-dir", "old"), "another softspread serve")
    assert command_line.run("serve", "restore", "b.zip", "--data-dir", "new").exit_code == 0
    refused(command_line.run("serve", "reset-password", "eva", "--data-dir", "new"), "the accounts are: ada")
    done = command_line.run("serve", "reset-password", "ada", "--data-dir", "old", "--json")
    secret = json.loads(done.stdout)["path"].rsplit("/", 1)[1]
    assert accounts.accept(secret, "", "another password").is_admin
    store.close()


def test_a_table_of_the_workspace_is_for_the_commands_below_too(tmp_path, monkeypatch):
    """[serve] names the data folder once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "softspread.toml").write_text('[serve]\ndata_dir = "votes"\nport = 0\n')
    done = command_line.run("serve", "backup", "b.zip", "-w", "ws")
    refused(done, f"there is no database {tmp_path / 'ws' / 'votes'}")
