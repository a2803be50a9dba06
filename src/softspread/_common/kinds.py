"""The kinds of votes, by name."""

SINGLE, MULTILABEL, ORDINAL = "single", "multilabel", "ordinal"
KINDS = (SINGLE, MULTILABEL, ORDINAL)  # of soft labels
RATING = "rating"  # a number on a scale
VOTE_KINDS = (*KINDS, RATING)
