"""Do the votes of some say anything about the votes of others? If not, nobody can be rated.

    P(votes | the model, those of earlier annotators) / P(votes | each annotator's habits)    theory: [crowd]

Annotators take turns: each vote is predicted by those whose turn came before, so every vote is new to what
predicts it and the product over turns is a proper likelihood ratio. Where votes do not depend on the items,
its mean is at most 1: it exceeds 20 in at most one of 20 such crowds, however many turns are looked at.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from softspread._common.types import IntArray
from softspread.annotators.consistency import (
    CONSISTENCY,
    ConsistencyModel,
    habits,
    log_evidence,
    log_likelihoods,
)
from softspread.heldout.crowd import Crowd


@dataclass(frozen=True, slots=True)
class EvidenceRule:
    """When the votes of a crowd allow ratings."""

    n_turns: int = 4  # each but the first costs a solve; stops as soon as the ratio suffices
    enough: float = 20.0  # likelihood ratio


RULE = EvidenceRule()


def others_say_something(
    crowd: Crowd, kappa: float, model: ConsistencyModel = CONSISTENCY, rule: EvidenceRule = RULE
) -> bool:
    """Whether some annotators' votes predict others' better than these people's habits do."""
    turn, own_habits, priors = _turns(crowd, rule.n_turns), habits(crowd, model), model.priors()
    turn_of_vote = turn[crowd.who]
    said = np.tile(crowd.class_shares, (len(crowd.who), 1))
    for number in range(1, int(turn.max()) + 1):
        now = turn_of_vote == number
        said[now] = crowd.said_by(turn < number, model.strength(kappa))[now]
        judged = (turn_of_vote > 0) & (turn_of_vote <= number)
        logliks = log_likelihoods(crowd, said, own_habits, model, judged)
        by_habit = logliks[0][:, 0].sum()  # r = 0
        if logsumexp(log_evidence(logliks, priors, model)) - by_habit > np.log(rule.enough):
            return True
    return False


def _turns(crowd: Crowd, n_turns: int) -> IntArray:
    """(a,) annotators dealt out by number of votes, so that every turn has about as many."""
    order = np.argsort(-crowd.ballots.weight_of_annotators, kind="stable")
    turn = np.empty(len(order), dtype=np.int64)
    turn[order] = np.arange(len(order)) % n_turns
    return turn
