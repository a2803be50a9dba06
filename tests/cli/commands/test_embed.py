"""``softspread embed`` as a user runs it: files, tables, messages, exit codes."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import command_line
from paper_data import write_cifar
from softspread.embedding.result import Embedding

pytest.importorskip("PIL", reason="needs Pillow")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: command_line.run("embed", *arguments)


def test_a_folder_becomes_a_file(run, picture_folder, tmp_path):
    """The promised line and the promised file."""
    done = run(
        picture_folder, "--encoder", "pixels:4", "--reduce", "pca", "--dim", "3", "-o", "X.parquet", "-q"
    )
    assert done.exit_code == 0, done.output
    space = Embedding.load(tmp_path / "X.parquet")
    assert space.X.shape == (20, 3)
    assert (tmp_path / ".softspread-cache").is_dir()


def test_a_workspace_keeps_features_and_options(run, picture_folder, tmp_path):
    """Its own table says how; the features stay in the workspace."""
    (tmp_path / "ws").mkdir()
    table = '[embed]\nencoder = "pixels:4"\nreduce = "pca"\ndim = 3\nout = "X.parquet"\n'
    (tmp_path / "ws" / "softspread.toml").write_text(table + "batch-size = 4\n")
    done = run(picture_folder, "-w", "ws", "--json", "-q")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["command"] == "embed"
    assert Embedding.load(tmp_path / "ws" / "X.parquet").X.shape == (20, 3)
    assert (tmp_path / "ws" / ".softspread-cache").is_dir()
    assert not (tmp_path / ".softspread-cache").exists()


def test_it_says_what_it_did(run, picture_folder):
    """In one line, or as JSON."""
    common = (
        picture_folder,
        "--encoder",
        "pixels:4",
        "--reduce",
        "pca",
        "--dim",
        "3",
        "-o",
        "X.parquet",
        "--no-cache",
    )
    done = run(*common)
    assert "20 items in 3 dimensions by pixels:4 (48 features), pca: X.parquet" in done.stdout
    about = json.loads(run(*common, "--json", "-q").stdout)
    assert about["items"] == 20
    assert about["dim"] == 3
    assert about["how"]["reducer"] == "pca"
    assert about["skipped"] == []


def test_a_column_of_text_becomes_a_file(run, sentence_folder, tmp_path):
    """Any language, ids from the table."""
    pd.DataFrame({"id": ["x", "y", "z"], "text": ["a cat", "ein Schiff", "船"]}).to_csv(
        "texts.csv", index=False
    )
    done = run("texts.csv", "--encoder", sentence_folder, "--reduce", "none", "-o", "X.parquet", "-q")
    assert done.exit_code == 0, done.output
    assert Embedding.load(tmp_path / "X.parquet").item_ids.tolist() == ["x", "y", "z"]


def test_broken_images_end_the_run_or_are_left_out_by_name(run, picture_folder):
    """Exit code 2 with the list, or 0 with the list on standard error."""
    (picture_folder / "broken.png").write_bytes(b"no picture")
    common = (picture_folder, "--encoder", "pixels:4", "--reduce", "none", "-o", "X.parquet", "-q")
    done = run(*common)
    assert done.exit_code == 2
    assert "broken.png (not an image" in done.stderr
    done = run(*common, "--skip-corrupt")
    assert done.exit_code == 0
    assert "left out: broken.png (not an image" in done.stderr


def test_new_items_are_placed_in_an_old_space(run, picture_folder, tmp_path):
    """--like uses the encoder and the fitted reducer of the first run."""
    run(picture_folder, "--encoder", "pixels:4", "--reduce", "pca", "--dim", "3", "-o", "X.parquet", "-q")
    done = run(picture_folder, "--like", "X.parquet", "-o", "Y.parquet", "-q")
    assert done.exit_code == 0, done.output
    old, new = Embedding.load(tmp_path / "X.parquet"), Embedding.load(tmp_path / "Y.parquet")
    np.testing.assert_allclose(old.X, new.X, atol=1e-5)


def test_spaces_are_compared_by_a_table(run, picture_folder, tmp_path):
    """Encoders, reducers and dimensions by comma; classes from folders, votes from a file."""
    names = sorted(path.relative_to(picture_folder).as_posix() for path in picture_folder.rglob("*.png"))
    frame = pd.DataFrame({"item": names, "label": [name.split("/")[0] for name in names]})
    frame.to_csv("classes.csv", index=False)
    pd.concat([frame] * 4).to_csv("votes.csv", index=False)
    spaces = ("--encoder", "pixels:4,pixels:8", "--reduce", "pca,none", "--dim", "2,3")
    options = ("--check", "--votes", "votes.csv", "--classes", "folder", "-o", "table.csv")
    done = run(picture_folder, *options, *spaces)
    assert done.exit_code == 0, done.output
    table = pd.read_csv(tmp_path / "table.csv")
    assert len(table) == 6
    assert set(table["space"]) >= {"pixels:4", "pixels:8 + pca 3"}
    assert table["held_out_brier"].is_monotonic_increasing
    assert "held-out Brier" in done.stdout
    assert "only 20 items" in done.stderr
    rows = json.loads(
        run(picture_folder, "--check", "--classes", "classes.csv", *spaces, "--json", "-q").stdout
    )
    assert {row["space"] for row in rows} == set(table["space"])


def test_classes_may_be_a_column_of_the_table(run, picture_folder, tmp_path):
    """The table that lists the images also says what they are."""
    names = sorted(path.relative_to(picture_folder).as_posix() for path in picture_folder.rglob("*.png"))
    table = picture_folder / "table.csv"
    pd.DataFrame({"path": names, "place": [name.split("/")[0] for name in names]}).to_csv(table, index=False)
    spaces = ("--encoder", "pixels:4", "--reduce", "none")
    done = run(table, "--check", "--classes", "place", *spaces, "--json", "-q")
    assert done.exit_code == 0, done.output
    by_folder = run(picture_folder, "--check", "--classes", "folder", *spaces, "--json", "-q")
    assert json.loads(done.stdout)[0]["silhouette"] == json.loads(by_folder.stdout)[0]["silhouette"]


def test_a_prior_from_class_names_is_written_beside(run, clip_folder, picture_folder, tmp_path):
    """Classes by comma or by file; columns p_<class>, rows in the order of the embedding."""
    (tmp_path / "classes.txt").write_text("cat\ndog\nship\n")
    for number, classes in enumerate(("cat,dog,ship", "classes.txt")):
        out = f"X{number}.parquet"
        done = run(
            picture_folder,
            "--encoder",
            clip_folder,
            "--reduce",
            "none",
            "--zero-shot",
            classes,
            "-o",
            out,
            "-q",
        )
        assert done.exit_code == 0, done.output
    first, second = (pd.read_parquet(tmp_path / f"X{number}.zero_shot.parquet") for number in range(2))
    assert first.columns.tolist() == ["item", "p_cat", "p_dog", "p_ship"]
    pd.testing.assert_frame_equal(first, second)
    assert first["item"].tolist() == Embedding.load(tmp_path / "X0.parquet").item_ids.tolist()
    np.testing.assert_allclose(first.filter(like="p_").sum(axis=1), 1)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "Add -o X.parquet"),
        (("-o", "X.npy"), "must end in .parquet"),
        (("-o", "nowhere/X.parquet"), "no folder nowhere"),
        (("-o", "X.parquet", "--dim", "2,3"), "several only with --check"),
        (("-o", "X.parquet", "--dim", "0"), "at least 1"),
        (("-o", "X.parquet", "--reduce", "tsne"), "'umap', 'pca'"),
        (("-o", "X.parquet", "--zero-shot", "cat"), "at least 2 classes"),
        (("-o", "X.parquet", "--zero-shot", "a,b"), "such as 'clip'"),
        (("-o", "X.parquet", "--like", "old.parquet"), "no file"),
        (("--check",), "--votes votes.csv"),
        (("--check", "--votes", "none.csv"), "none.csv"),
        (("--check", "--classes", "colour"), "'folder'"),
    ],
)
def test_mistakes_cost_one_line(arguments, part, run, picture_folder):
    """Exit code 2 and what to do."""
    done = run(picture_folder, "--encoder", "pixels:4", "-q", *arguments)
    assert done.exit_code == 2, done.output
    assert part in done.stderr
    assert done.stdout == ""


def test_a_model_that_is_missing_says_how_to_get_it(run, picture_folder, tmp_path, monkeypatch):
    """The default encoder, offline."""
    pytest.importorskip("huggingface_hub", reason="needs softspread[embed]")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    done = run(picture_folder, "-o", "X.parquet", "-q")
    assert done.exit_code == 2
    assert "hf download openai/clip-vit-base-patch32" in done.stderr


def test_the_module_loads_nothing_heavy():
    """--help answers at once."""
    heavy = ("numpy", "pandas", "sklearn", "torch", "PIL", "pyarrow", "scipy")
    code = f"import sys, softspread.cli.commands.embed; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_dataset_by_name_gets_features_where_reproduce_looks(run, tmp_path, rng):
    """Unreduced beside reduced, by several encoders, reducers and dimensions; they load by name."""
    from softspread import datasets

    write_cifar(tmp_path / "data", rng)
    how = ("--encoder", "pixels:4,pixels:2", "--reduce", "pca", "--dim", "3,5")
    done = run("cifar10h", "--data", "data", *how, "--json", "-q")
    assert done.exit_code == 0, done.output
    names = [path.rpartition("/")[2] for path in json.loads(done.stdout)["written"]]
    assert names[:3] == ["features_pixels4.npy", "features_pixels4_pca3.npy", "features_pixels4_pca5.npy"]
    assert datasets.load("cifar10h", tmp_path / "data", features="pixels2_pca5").X.shape == (30, 5)
    assert not (tmp_path / "data" / "cifar10h" / "zero_shot.npy").exists()  # pixels know no words


def test_an_encoder_that_knows_words_also_predicts(run, tmp_path, rng, clip_folder):
    """zero_shot.npy, in the order of the dataset's classes."""
    write_cifar(tmp_path / "data", rng)
    done = run("cifar10", "--data", "data", "--encoder", clip_folder, "--reduce", "none", "-q")
    assert done.exit_code == 0, done.output
    assert np.load(tmp_path / "data" / "cifar10" / "zero_shot.npy").shape == (50, 10)


def test_a_dataset_without_its_place_is_explained(run, tmp_path):
    """Without --data; with options that belong to other inputs; with a dataset that is not there."""
    command_line.refused(run("cifar10"), "is the name of a dataset; add --data")
    command_line.refused(run("no-photos/", "--encoder", "none"), "there is nothing at no-photos/")
    (tmp_path / "data").mkdir()
    command_line.refused(run("cifar10", "--data", "data", "-o", "X.parquet"), "leave out --out")
    command_line.refused(run("cifar10", "--data", "data", "--normalize"), "leave out")
    command_line.refused(run("cifar10", "--data", "data"), "cifar-10-python.tar.gz")
