"""Usual names of columns."""

from softspread._common import columns


def test_the_preferred_name_wins():
    """Whatever the order of the columns."""
    assert columns.first_of(("item", "id"), ["id", "item"]) == "item"
    assert columns.first_of(("item", "id"), ["x"]) is None


def test_each_name_means_one_thing():
    """A column cannot be both the ids and the text."""
    lists = (
        columns.ITEM_NAMES,
        columns.LABEL_NAMES,
        columns.ANNOTATOR_NAMES,
        columns.PATH_NAMES,
        columns.TEXT_NAMES,
    )
    names = [name for names in (*lists, columns.VECTOR_NAMES, columns.INDEX_NAMES) for name in names]
    assert len(set(names)) == len(names)
    assert set(columns.ITEM_NAMES) | set(columns.PATH_NAMES) <= set(columns.ID_NAMES)
