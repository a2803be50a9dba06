"""Names in a labelling setup, items behind tasks, choices of annotations."""

import pytest

from softspread.web.project.items import BareItems
from softspread.web.project.label_studio import Setup, annotator_of, answer_of, candidates, setup_of
from web.conftest import N_ITEMS, opened_world


def chosen(*choices, from_name="kind"):
    return {"from_name": from_name, "type": "choices", "value": {"choices": list(choices)}}


@pytest.mark.parametrize(
    ("config", "setup"),
    [
        ("", Setup()),
        ("<View><Text name='t' value='$body'/><Choices toName='t' name='c'>", Setup("c", "t", "body")),
        ('<Choices name="c" toName="t"/><Text value="$body" name="t"/>', Setup("c", "t", "body")),
        ('<Text name="t" value="fixed"/><Choices name="c" toName="t"/>', Setup("c", "t", "item")),
        ('<Rating name="r" toName="t"/><Text name="t" value="$x"/>', Setup()),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><Choices name=&a;>", Setup()),
    ],
)
def test_names_are_read_from_the_setup(config, setup):
    """Whatever the quotes and the order of the tags; the usual names where it has none."""
    assert setup_of(config) == setup


def test_a_path_is_tried_from_its_longest_end():
    """So that the item with more folders in its name wins."""
    assert list(candidates("https://example.org/a/b%20c/d.png?x=1"))[1:] == [
        "/a/b c/d.png",
        "a/b c/d.png",
        "b c/d.png",
        "d.png",
    ]


@pytest.mark.parametrize(
    ("results", "choice"),
    [
        ([chosen("bee")], "bee"),
        ([chosen("bee", "ant")], None),
        ([chosen("bee"), chosen("blurred", from_name="quality")], "bee"),
        ([chosen("bee", from_name="other")], "bee"),
        ([{"from_name": "kind", "value": 3}, "nonsense"], None),
        (None, None),
    ],
)
def test_one_choice_of_the_right_set_counts(results, choice):
    """Other sets of choices in the setup do not make an annotation ambiguous."""
    assert answer_of({"result": results}, "kind", several=False) == choice


def test_people_are_named_by_their_number():
    """Also where Label Studio sends the whole person."""
    assert annotator_of({"completed_by": {"id": 5, "email": "a@b.c"}}) == "ls:5"
    assert annotator_of({}) == "ls:unknown"


def test_an_upload_is_found_by_its_file_name(tmp_path):
    """Label Studio drops the folders and odd letters; a name that two items share names neither."""
    names = ["cats/my cat (1).png", "cats/a.png", "dogs/a.png", "d.png"]
    ids = [*names, *(f"i{row}" for row in range(N_ITEMS - len(names)))]
    with opened_world(tmp_path, items=BareItems(ids)) as world:
        studio = world.app.state.context.label_studio
        found = [
            studio.row_of({"id": number, "data": {"image": f"/data/upload/1/3eb3f4dd-{name}"}})
            for number, name in enumerate(("my_cat_1.png", "a.png", "d.png", "e.png"))
        ]
        assert found == [0, None, 3, None]
        assert studio.seen() == {"matched": 2, "unmatched": 2, "example": "/data/upload/1/3eb3f4dd-a.png"}
        dashboard = world.program("ada").get("/api/v1/dashboard").json()
        assert dashboard["label_studio"]["unmatched"] == 2
