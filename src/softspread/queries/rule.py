"""The numbers behind the choice of items, each with its reason; see docs/measurements-queries.md."""

from dataclasses import dataclass

from softspread.votes.repeats import REPEATS


@dataclass(frozen=True, slots=True)
class QueryRule:
    """How items are chosen.

    The defaults were found on four datasets, on draws kept apart from the reported ones.

    Examples
    --------
    >>> QueryRule(n_candidates=10).n_candidates
    10
    """

    # Mass at a smaller alpha says too little about items without votes: choosing at 0.5 on cifar10h costs 6 %
    # more RMSE than choosing at 0.9.
    smallest_alpha: float = 0.9
    # At a larger alpha every item looks equally well covered.
    largest_alpha: float = 0.95
    # Largest exponent g of the default strategy: distant and nearly certain items count less. 2 beat 1 on all
    # four datasets.
    sharpest: float = 2.0
    # Votes per item at which g reaches ``sharpest``; it grows linearly from 1. Sharp from the first vote on
    # needed 1.09 of uniform's votes on Gaussians.
    sharpest_from: float = 0.3
    # Pseudo-votes over the classes before ambiguity is measured, so that a single vote does not look certain;
    # 0.1 beat 0.3 on all four datasets.
    smoothing: float = 0.1
    # The best of a few keeps picks close to a uniform sample: ten gained on human votes and lost on two moons
    # and Gaussians.
    n_candidates: int = 5
    # Keeps v / N**2 finite where nothing has arrived.
    local_offset: float = 0.1
    # Share of picks that repeat a voted item while repeats are few: choosing alpha depends on them. On two
    # moons 0.35 and 0.15 were level or worse.
    early_repeats: float = 0.25
    # Share of repeats once there are enough: each one is a vote that a new item misses. 0.1, 0.05 and 0.02
    # needed .67, .62 and .60 of uniform's votes on cifar10h.
    later_repeats: float = 0.02
    # Enough: this many repeats are expected to differ from the other votes on their item.
    enough_differences: float = 30.0
    # Below, ambiguity is mostly noise: the default picks like "balanced" and repeats nothing.
    warm_up_votes: int = 50
    # Profiles are cut here; a test compares the ranking with that of exact profiles.
    push_floor: float = 1e-3
    # Items that the greedy strategies keep in view, per pick and at least: they rarely have to look again.
    shortlist_per_pick: int = 20
    smallest_shortlist: int = 1000
    # Random items among which "farthest" looks; looking at all items would cost n per pick.
    farthest_candidates: int = 2000
    # Weights that sum to a whole number up to rounding count as that number.
    whole_vote: float = 1e-9

    def sharpness(self, votes_per_item: float, sharpest: float) -> float:
        """The exponent g: grows linearly from 1 without votes to ``sharpest``, theory [query]."""
        return 1 + (sharpest - 1) * min(1.0, votes_per_item / self.sharpest_from)


@dataclass(frozen=True, slots=True)
class LotteryRule:
    """How items are drawn with known probabilities: the first votes, and later by the posterior."""

    # The best of a few keeps picks close to a uniform sample, and the probability of every item is known.
    n_candidates: int = 5
    # Share of picks drawn uniformly: no item's probability is below this over the number of items.
    uniform_share: float = 0.1
    # Share of picks that go to a random voted item while few items have a second vote: at a tenth of a vote
    # per item each repeat costs the vote of a new item ...
    first_repeats: float = 0.05
    # ... half the votes per item up to this: with a vote on most items, errors of trust count on all of them.
    most_repeats: float = 0.2
    # Share once there are enough: the scores ask for further votes where these pay. A share that rises to 0.2
    # where own votes count little was no better.
    later_repeats: float = 0.02
    # Below this many votes the posterior knows little: picks cover the items instead ...
    coverage_votes: int = 50
    # ... each the best of this many.
    coverage_candidates: int = 10
    # Votes' worth of what is believed before any vote arrives.
    before: float = 0.5
    # Votes are taken to travel this far, of the alphas that SoftLabeler spreads at.
    alpha: float = 0.9
    # Relative residual of the solve that adds up what a vote does for others.
    tol: float = 1e-3
    # The solve is repeated after this share of all items was picked.
    refresh: float = 0.02

    def repeats(self, votes_per_item: float, n_repeated: int) -> float:
        """Share of picks that go to random voted items, theory [query probability].

        Parameters
        ----------
        votes_per_item : all votes over all items
        n_repeated : items with two or more votes

        Examples
        --------
        >>> rule = LotteryRule()
        >>> [rule.repeats(votes, 0) for votes in (0.01, 0.2, 2.0)]
        [0.05, 0.1, 0.2]
        >>> rule.repeats(0.2, 500)
        0.02
        """
        if REPEATS.are_enough(n_repeated):
            return self.later_repeats
        return min(max(self.first_repeats, votes_per_item / 2), self.most_repeats)


DEFAULT_RULE = QueryRule()
DEFAULT_LOTTERY = LotteryRule()
