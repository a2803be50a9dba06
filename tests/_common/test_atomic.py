"""Files and folders appear whole or not at all."""

import errno
import os

import pytest

from softspread._common import atomic
from softspread.errors import StoreError


def full(*_):
    raise OSError(28, "No space left on device")


def test_write_text_replaces_a_file_and_leaves_nothing_else(tmp_path):
    """The folder holds exactly the new file."""
    target = tmp_path / "a.html"
    target.write_text("old")
    atomic.write_text(target, "new é")
    assert target.read_text(encoding="utf-8") == "new é"
    assert os.listdir(tmp_path) == ["a.html"]


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_full_disk_keeps_the_old_file(tmp_path, monkeypatch, step):
    """When a step fails, the old file stands, no temporary one is left, and the message says why."""
    target = tmp_path / "a.html"
    target.write_text("old")
    monkeypatch.setattr(atomic.os, step, full)
    with pytest.raises(
        StoreError, match=r"cannot write .*a\.html: No space left on device\. Check .* free space"
    ):
        atomic.write_text(target, "new")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.html"]


def test_an_error_inside_the_block_passes_and_leaves_nothing(tmp_path):
    """What goes wrong while writing is not hidden, and no part of the file is seen."""

    def fail_half_way():
        with atomic.replaced_file(tmp_path / "a") as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert os.listdir(tmp_path) == []


def test_leftovers_of_dead_processes_are_removed(tmp_path):
    """The next write of the same target cleans up; files of living processes and of other targets stay."""
    dead, alive, other = ".a[1].999999999.tmp", f".a[1].{os.getppid()}.tmp", ".b.999999999.tmp"
    for name in (dead, alive, other):
        (tmp_path / name).write_text("half")
    atomic.write_text(tmp_path / "a[1]", "whole")
    assert sorted(os.listdir(tmp_path)) == sorted([alive, other, "a[1]"])


@pytest.mark.parametrize("name", ["", "missing/a.html", "file/a.html", "bad\0name", "x" * 240])
def test_targets_that_cannot_be_written_are_refused(tmp_path, name):
    """A folder, a folder that is not there, a file in place of a folder, impossible names."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        atomic.check_target(tmp_path / name)
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_without_permission_is_refused(tmp_path, monkeypatch):
    """The message names the folder."""
    monkeypatch.setattr(atomic.os, "access", lambda *_: False)
    with pytest.raises(StoreError, match="no permission in"):
        atomic.check_target(tmp_path / "a")


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    """Files of the old folder do not survive in the new one."""
    target = tmp_path / "data"
    for part in ("old", "new"):
        with atomic.replaced_folder(target, "mark") as folder:
            (folder / "mark").write_text("")
            (folder / part).write_text("")
    assert sorted(os.listdir(target)) == ["mark", "new"]
    assert os.listdir(tmp_path) == ["data"]


def test_a_failed_folder_keeps_the_old_one(tmp_path, monkeypatch):
    """The old folder is there after a failure, with its content."""
    target = tmp_path / "data"
    with atomic.replaced_folder(target, "mark") as folder:
        (folder / "mark").write_text("old")
    real = os.replace

    def fail_on_new(source, goal):
        if str(goal) == str(target) and str(source).endswith(f"{os.getpid()}.tmp"):
            full()
        real(source, goal)

    monkeypatch.setattr(atomic.os, "replace", fail_on_new)
    with pytest.raises(StoreError, match="No space left"), atomic.replaced_folder(target, "mark") as folder:
        (folder / "mark").write_text("new")
    monkeypatch.setattr(atomic.os, "replace", real)
    assert (target / "mark").read_text() == "old"
    assert os.listdir(tmp_path) == ["data"]


def test_a_folder_with_other_files_is_never_replaced(tmp_path):
    """Somebody's photos are not ours to delete."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("")
    with pytest.raises(StoreError, match="holds other files"):
        atomic.check_folder_target(tmp_path / "photos", "mark")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="a file of that name"):
        atomic.check_folder_target(tmp_path / "file", "mark")


def test_a_folder_that_takes_no_file_is_refused_before_any_work(tmp_path, monkeypatch):
    """Permission alone does not tell: a full disk is found by trying, and nothing is left behind."""

    def full(**_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    atomic.check_target(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(atomic.tempfile, "TemporaryFile", full)
    with pytest.raises(StoreError, match="No space left"):
        atomic.check_target(tmp_path / "out.csv")
