"""``softspread dcic``: files that the benchmark opens, by one command."""

import json
from pathlib import Path

import numpy as np
import pytest

import command_line
from datasets_on_disk import write_dcic
from softspread.datasets.dcic import read_raw
from softspread.reproduce.dcic.files import input_dataset, write_dataset


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_dcic(tmp_path / "dcic")


def run(*words):
    return command_line.run("dcic", *words)


def empty_slice(root):
    """What lies in the benchmark's input_datasets: splits, and no annotation at all."""
    given = input_dataset(read_raw(root, "Toy"), 2, 1.0, 1)
    for image in given["images"]:
        image |= {"soft_gt": [], "gt": -1, "gt_verbose": "unknown", "split": image["info"]["original_split"]}
    path = root / "input_datasets" / "Toy" / "Toy-slice2.json"
    return write_dataset(path, given | {"budget": 0, "weighted_budget": 0})


def test_annotations_are_drawn_and_spread(root):
    """From the benchmark's own input file to an output with a soft label for every image."""
    done = run(empty_slice(root), "--share", "0.5", "--annotations", "1", "-o", "out.json", "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert (document["budget"], document["images"]) == (16, 40)
    made = json.loads(Path("out.json").read_text())
    assert made["v_fold"] == 2
    assert made["budget"] == 16
    assert all(len(image["soft_gt"]) == 2 for image in made["images"])
    for image in made["images"]:
        assert (root / "raw_datasets" / image["path"]).is_file()
    assert any("principal components" in text for text in document["warnings"])


def test_an_input_with_annotations_needs_nothing_else(root):
    """Also from another folder, with --root; the order of its images does not matter."""
    given = input_dataset(read_raw(root, "Toy"), 1, 1.0, 1)
    write_dataset(Path("in.json"), given)
    assert run("in.json", "--root", root, "-o", "a.json", "--alpha", "0.5", "-q").exit_code == 0
    write_dataset(Path("in.json"), given | {"images": given["images"][::-1]})
    assert run("in.json", "--root", root, "-o", "b.json", "--alpha", "0.5", "-q").exit_code == 0
    first, second = (json.loads(Path(name).read_text())["images"] for name in ("a.json", "b.json"))
    by_path = {image["path"]: image["soft_gt"] for image in second}
    for image in first:
        np.testing.assert_allclose(by_path[image["path"]], image["soft_gt"], atol=1e-6)


def test_the_benchmarks_folder_gives_all_outputs(root):
    """Three budgets, three slices, in the folders that the evaluation is asked for."""
    done = run(root, "--authors", "--json", "-q")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["folders"] == ["Toy-pls-01-0.10", "Toy-pls-01-1.00", "Toy-pls-10-1.00"]
    assert len(list((root / "output_datasets").rglob("*.json"))) == 9
    assert "--folders Toy-pls-01-0.10,Toy-pls-01-1.00,Toy-pls-10-1.00" in document["evaluate"]


def test_mistakes_are_explained(root):
    """No output, no annotations, annotations twice, no images, a folder without datasets."""
    path = empty_slice(root)
    command_line.refused(run(path), "Add -o OUTPUT.json")
    command_line.refused(run(path, "-o", "out.json"), "holds no annotations")
    command_line.refused(run(path, "--share", "2", "--annotations", "1", "-o", "out.json"), "at most 1")
    write_dataset(Path("in.json"), input_dataset(read_raw(root, "Toy"), 1, 1.0, 1))
    command_line.refused(run("in.json", "-o", "out.json"), "with --root")
    asked = ("--share", "1", "--annotations", "1")
    command_line.refused(
        run("in.json", "--root", root, *asked, "-o", "out.json"), "holds annotations already"
    )
    command_line.refused(run(root, "-o", "out.json"), "leave out --out")
    (root.parent / "empty").mkdir()
    command_line.refused(run(root.parent / "empty"), "zenodo")
    assert not Path("out.json").exists()
