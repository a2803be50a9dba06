"""Files of the command line: embeddings and votes in, soft labels out; ids are kept from end to end.

    .npy .npz .parquet -> Embeddings;  .csv .tsv .parquet .jsonl .json -> VoteFile -> Votes;  SoftLabels -> six formats

Names are loaded when first used: a wrong path is refused before the numerical libraries are loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "check_target": "atomic",
    "replaced_file": "atomic",
    "replaced_folder": "atomic",
    "write_text": "atomic",
    "EmbeddingShape": "embeddings",
    "Embeddings": "embeddings",
    "look_at_embeddings": "embeddings",
    "read_embeddings": "embeddings",
    "read_ids": "embeddings",
    "MatchedVotes": "matching",
    "match_votes": "matching",
    "read_classes": "matching",
    "OUTPUT_FORMATS": "softlabels",
    "SoftLabels": "softlabels",
    "check_output": "softlabels",
    "read_soft_labels": "softlabels",
    "write_soft_labels": "softlabels",
    "MULTI_CHOICE": "votes",
    "VOTE_FORMATS": "votes",
    "VoteFile": "votes",
    "VoteReading": "votes",
    "read_votes": "votes",
}
__all__ = [*_HOMES]  # noqa: PLE0604 - one list of public names is enough


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'softspread.files' has no attribute {name!r}")
    return getattr(import_module(f"softspread.files.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__]


if TYPE_CHECKING:
    from softspread.files.atomic import check_target as check_target
    from softspread.files.atomic import replaced_file as replaced_file
    from softspread.files.atomic import replaced_folder as replaced_folder
    from softspread.files.atomic import write_text as write_text
    from softspread.files.embeddings import Embeddings as Embeddings
    from softspread.files.embeddings import EmbeddingShape as EmbeddingShape
    from softspread.files.embeddings import look_at_embeddings as look_at_embeddings
    from softspread.files.embeddings import read_embeddings as read_embeddings
    from softspread.files.embeddings import read_ids as read_ids
    from softspread.files.matching import MatchedVotes as MatchedVotes
    from softspread.files.matching import match_votes as match_votes
    from softspread.files.matching import read_classes as read_classes
    from softspread.files.softlabels import OUTPUT_FORMATS as OUTPUT_FORMATS
    from softspread.files.softlabels import SoftLabels as SoftLabels
    from softspread.files.softlabels import check_output as check_output
    from softspread.files.softlabels import read_soft_labels as read_soft_labels
    from softspread.files.softlabels import write_soft_labels as write_soft_labels
    from softspread.files.votes import MULTI_CHOICE as MULTI_CHOICE
    from softspread.files.votes import VOTE_FORMATS as VOTE_FORMATS
    from softspread.files.votes import VoteFile as VoteFile
    from softspread.files.votes import VoteReading as VoteReading
    from softspread.files.votes import read_votes as read_votes
