"""What can be refused before the numerical libraries are loaded: missing options, files and endings."""

from softspread.cli.options import ItemOptions, VoteOptions
from softspread.cli.runs import needed
from softspread.io.tables import EMBEDDING_ENDINGS, VOTE_ENDINGS, check_source


def check_files(items: ItemOptions, votes: VoteOptions | None = None) -> None:
    """Refuse inputs that are not there, are empty or have another ending."""
    needed(items.embeddings, "--embeddings")
    if votes is not None:
        needed(votes.votes, "--votes")
    check_source(items.embeddings or "", EMBEDDING_ENDINGS, "embeddings")
    if votes is not None:
        check_source(votes.votes or "", VOTE_ENDINGS, "votes")
