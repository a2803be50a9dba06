"""Which files are images."""

from softspread.io.images import BROWSER_TYPES, IMAGE_ENDINGS, list_files


def test_files_below_a_folder_are_listed_in_order(tmp_path):
    """Relative paths in the order of their text; hidden files and folders and other endings are left out."""
    for name in ("b.PNG", "a/c.tif", "a-b/d.jpg", ".e.jpg", ".cache/f.jpg", "g.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert list_files(tmp_path) == ["a-b/d.jpg", "a/c.tif", "b.PNG"]
    assert list_files(tmp_path, [".txt"]) == ["g.txt"]


def test_endings_are_distinct_and_lower_case():
    """One list; those that browsers show come with their media type."""
    assert len(set(IMAGE_ENDINGS)) == len(IMAGE_ENDINGS)
    assert all(ending == ending.lower() and ending.startswith(".") for ending in IMAGE_ENDINGS)
    assert set(BROWSER_TYPES) <= set(IMAGE_ENDINGS)
    assert all(kind.startswith("image/") for kind in BROWSER_TYPES.values())
    assert ".svg" not in IMAGE_ENDINGS  # it may hold scripts
