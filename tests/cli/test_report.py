"""The page of ``softspread spread --report``."""

import json
import re

import pandas as pd
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
    assert "What the votes taught" in text
    refused(
        run("spread", *FILES, "-o", "s.csv", "--report", "r.html", "--images", "none"), "no folder of images"
    )


def test_the_page_says_what_went_in_and_what_was_chosen(folder):
    """Counts, names and settings, and how to get it again."""
    run("spread", *FILES, "-o", "s.csv", "--report", "r.html", "--alpha", 0.5, "--seed", 3, "--method", "pls")
    text = (folder / "r.html").read_text(encoding="utf-8")
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert facts["Items"].startswith(f"{N} in 3 dimensions")
    assert facts["Votes"] == "300 of 300 in votes.csv, format long"
    assert facts["Classes"] == "2: cat, dog"
    assert (facts["Alpha"], facts["Seed"]) == ("0.5 (given)", "3")
    assert facts["Method"] == "probabilistic label spreading"
    assert "Left out" not in facts
    assert "Why this alpha" not in text
    assert "What the votes taught" not in text


def test_the_page_of_spreading_shows_the_choice_of_alpha(folder):
    """The curve of held-out scores."""
    run("spread", *FILES, "-o", "s.csv", "--report", "r.html", "--method", "pls")
    assert "Why this alpha" in (folder / "r.html").read_text(encoding="utf-8")


def test_the_page_of_a_blend_shows_weights_trust_and_advice(folder):
    """The same figures as the summary; the advice stands above everything else."""
    frame = pd.read_csv("votes.csv").drop_duplicates("item").head(60)
    frame.to_csv("votes.csv", index=False)
    result = run("spread", *FILES, "-o", "s.csv", "--report", "r.html", "--json")
    document = json.loads(result.stdout)
    text = (folder / "r.html").read_text(encoding="utf-8")
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text))
    assert facts["Method"] == "blend of experts (SoftLabeler)"
    assert facts["Alpha"] == "several, weighed by held-out votes"
    largest, share = max(document["weights"].items(), key=lambda entry: entry[1])
    assert f">{largest}</span>" in text
    assert f"<span class='number'>{share:.0%}</span>" in text
    assert text.index(document["advice"]) < text.index("Map of the items")
    assert "Quality, estimated without ground truth" in text
