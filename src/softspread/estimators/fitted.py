"""The parts of a fitted SoftLabeler, for code that follows its votes or compares it with others."""

from typing import NamedTuple

from softspread._common.types import AnyArray
from softspread.annotators.weighting import Weighting
from softspread.diffusion.diffusion import Diffusion
from softspread.estimators.labeler import SoftLabeler
from softspread.posterior.live import LiveBlend
from softspread.votes.table import VoteTable


class FittedParts(NamedTuple):
    """The votes of a fit, and what was learned from them; not to be changed."""

    votes: VoteTable  # as they were cast
    features: AnyArray | None  # unreduced, where they were given
    weighting: Weighting | None  # of annotators, where they were rated
    diffusion: Diffusion
    live: LiveBlend  # the blend, and the posterior as of the fit

    def counted(self, votes: VoteTable) -> VoteTable:
        """Further votes as they count: by who cast them."""
        return votes if self.weighting is None else self.weighting.apply(votes)


def parts_of(labeler: SoftLabeler) -> FittedParts:
    """The parts of a fitted labeler."""
    return FittedParts(
        labeler._votes, labeler._features, labeler._weighting, labeler._diffused, labeler._live
    )
