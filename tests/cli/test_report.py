"""The page of ``softspread spread --report``."""

import re

import pytest

from command_line import FILES, N, refused, run


def test_report_is_written_with_thumbnails(folder):
    """One page, with pictures where a folder has them."""
    image = pytest.importorskip("PIL.Image")
    (folder / "images").mkdir()
    for row in range(N):
        image.new("RGB", (9, 9)).save(folder / "images" / f"img_{row:03d}.png")
    result = run("spread", *FILES, "-o", "s.csv", "--report", "r.html", "--images", "images")
    assert result.exit_code == 0, result.output
    text = (folder / "r.html").read_text(encoding="utf-8")
    assert text.count("data:image/jpeg") >= 12
    assert "Why this alpha" in text
    refused(
        run("spread", *FILES, "-o", "s.csv", "--report", "r.html", "--images", "none"), "no folder of images"
    )


def test_the_page_says_what_went_in_and_what_was_chosen(folder):
    """Counts, names and settings, and how to get it again."""
    run("spread", *FILES, "-o", "s.csv", "--report", "r.html", "--alpha", 0.5, "--seed", 3)
    text = (folder / "r.html").read_text(encoding="utf-8")
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert facts["Items"].startswith(f"{N} in 3 dimensions")
    assert facts["Votes"] == "300 of 300 in votes.csv, format long"
    assert facts["Classes"] == "2: cat, dog"
    assert (facts["Alpha"], facts["Seed"]) == ("0.5 (given)", "3")
    assert "Left out" not in facts
    assert "Why this alpha" not in text
