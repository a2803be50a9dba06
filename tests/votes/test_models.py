"""Which votes are people's and which are models'."""

import numpy as np
import pytest

from softspread import InputError, Votes
from softspread.votes.models import check_models, names_of_models, said_by, split_votes

VOTES = Votes.from_pairs([0, 1, 1, 2], ["a", "b", "b", "c"], ["ann", "gpt", "gpt", None])


def test_votes_are_split_and_keep_all_classes():
    """Samples of a model all count; of a person's the last stands as before."""
    people, models = split_votes(VOTES, ("gpt",))
    assert people.annotators.tolist() == ["ann", None]
    assert models.items.tolist() == [1, 1]
    assert people.classes.tolist() == models.classes.tolist() == ["a", "b", "c"]
    assert (people.repeats, models.repeats) == ("last", "keep")


def test_nobody_is_a_model_where_nobody_is_named():
    """Unnamed votes are people's."""
    assert not said_by(None, ["gpt"], 3).any()


def test_names_stand_once_and_are_plain():
    """Also those of a numpy array."""
    assert names_of_models(np.array(["gpt", "claude", "gpt"])) == ("gpt", "claude")
    assert names_of_models(()) == ()


@pytest.mark.parametrize("given", ["gpt", 3])
def test_one_name_alone_is_refused(given):
    """Its letters would be names."""
    with pytest.raises(InputError, match="list of names"):
        names_of_models(given)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], "names nobody"),
        (Votes.from_pairs([0], [1]), "names nobody"),
        (VOTES, "'gtp', by whom there is no"),
    ],
)
def test_a_model_that_cast_no_vote_is_refused(y, message):
    """A misspelt one would count as a person."""
    with pytest.raises(InputError, match=message):
        check_models(y, ("gtp",))
