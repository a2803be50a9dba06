"""A workspace reuses what did not change, survives interruption and refuses a second run."""

import os
import subprocess
import sys

import pytest

from softspread._common.atomic import write_text
from softspread.errors import InputError, StoreError
from softspread.io.workspace import KEPT_ENTRIES, open_workspace


def remember(workspace, key, value="made"):
    """Make, store or load a small text."""
    return workspace.cached("thing", key, lambda path: path.read_text(), lambda _: value, write_text)


def test_an_entry_is_made_once(tmp_path):
    """The second run loads it and says so; another key makes another."""
    with open_workspace(tmp_path / "w") as first:
        assert remember(first, "1") == "made"
        assert (first.made, first.reused) == (["thing"], [])
    with open_workspace(tmp_path / "w") as second:
        assert remember(second, "1", "other") == "made"
        assert remember(second, "2", "other") == "other"
        assert (second.made, second.reused) == (["thing"], ["thing"])


def test_a_damaged_entry_is_made_again(tmp_path):
    """What cannot be loaded counts as absent."""

    def load(path):
        raise StoreError("damaged")

    with open_workspace(tmp_path / "w") as workspace:
        remember(workspace, "1")
        assert workspace.cached("thing", "1", load, lambda _: "again", write_text) == "again"
        assert workspace.reused == []
        assert remember(workspace, "1") == "again"


def test_a_failed_store_names_the_workspace(tmp_path):
    """A full disk is told, with the way out."""

    def store(path, value):
        raise StoreError("cannot write: No space left on device.")

    with (
        open_workspace(tmp_path / "w") as workspace,
        pytest.raises(
            StoreError, match=r"No space left on device\. The workspace is .*w; leave --workspace out"
        ),
    ):
        workspace.cached("thing", "1", None, lambda _: 1, store)


def test_the_oldest_unused_entries_go(tmp_path):
    """Loading counts as use; leftovers of killed runs go too."""
    with open_workspace(tmp_path / "w") as workspace:
        for number in range(KEPT_ENTRIES):
            remember(workspace, str(number))
            os.utime(workspace.entry("thing", str(number)), (number, number))
        (tmp_path / "w" / "cache" / ".half.123.tmp").write_text("")
        remember(workspace, "0")  # used last now
        remember(workspace, "new")
        names = sorted(os.listdir(tmp_path / "w" / "cache"))
    assert names == sorted(["thing-new", *(f"thing-{n}" for n in range(KEPT_ENTRIES) if n != 1)])


def test_a_second_run_is_refused_while_the_first_one_lasts(tmp_path):
    """Another process gets a message that names the holder; afterwards it may go in, also after a kill."""
    code = (
        "import sys, time\nfrom softspread.io.workspace import open_workspace\n"
        "with open_workspace(sys.argv[1]):\n    print('in', flush=True)\n    time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "w")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "in\n"
        with (
            pytest.raises(StoreError, match=rf"is in use by process {holder.pid}; wait for it to end"),
            open_workspace(tmp_path / "w"),
        ):
            pass
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    with open_workspace(tmp_path / "w") as workspace:
        assert remember(workspace, "1") == "made"


def test_settings_are_read_and_written_once(tmp_path):
    """A new workspace explains itself; settings are plain values."""
    folder = tmp_path / "w"
    with open_workspace(folder) as workspace:
        assert workspace.options == {}
    assert "# embeddings" in (folder / "softspread.toml").read_text()
    (folder / "softspread.toml").write_text('alpha = 0.5\nvotes = "v.csv"\n')
    with open_workspace(folder) as workspace:
        assert workspace.options == {"alpha": 0.5, "votes": "v.csv"}


@pytest.mark.parametrize(
    ("content", "message"), [("alpha =", "not valid TOML"), ("[a]\nb = [1]", "b must be a text")]
)
def test_bad_settings_are_refused(tmp_path, content, message):
    """The message names the file."""
    (tmp_path / "softspread.toml").write_text(content)
    with pytest.raises(InputError, match=rf"softspread\.toml.*{message}"), open_workspace(tmp_path):
        pass


def test_other_folders_are_not_taken_over(tmp_path):
    """A folder with somebody's files, or a file, is no workspace."""
    (tmp_path / "photo.jpg").write_text("")
    with (
        pytest.raises(InputError, match="is not a workspace: it holds other files"),
        open_workspace(tmp_path),
    ):
        pass
    with pytest.raises(InputError, match="is a file; name a folder"), open_workspace(tmp_path / "photo.jpg"):
        pass
    assert os.listdir(tmp_path) == ["photo.jpg"]
