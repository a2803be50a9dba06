"""Which alpha the page uses: the one given, or the one that held-out votes choose, as in the estimators.

    votes that stand  ->  alpha with the best held-out score  ->  LiveState.switch_to

Chosen in the background, again and again as votes come in; nothing waits for it.
"""

import logging
import threading
from dataclasses import dataclass

from softspread.estimators.auto import choose_settings
from softspread.heldout.split import ENOUGH_VOTES
from softspread.tuning.candidates import SearchSpace, SpreadOptions
from softspread.web.log.history import History
from softspread.web.project.live_state import AlphaChoice, LiveState

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AlphaRule:
    """When alpha is chosen again."""

    fewest_votes: int = ENOUGH_VOTES  # below, alpha stays at its default
    growth: float = 1.5  # times as many votes as last time: all choices together cost 3 times the last one


RULE = AlphaRule()


class AlphaTuner:
    """Chooses alpha for a live state; may be called from any thread."""

    def __init__(
        self, state: LiveState, history: History, *, auto: bool, n_jobs: int | None, rule: AlphaRule = RULE
    ) -> None:
        self._state, self._history, self.auto, self._rule = state, history, auto, rule
        self._options = SpreadOptions(n_jobs=n_jobs)
        self._lock = threading.Lock()

    def choose_if_due(self) -> None:
        """Choose if the votes have grown enough since the last choice."""
        n_votes = int(self._history.standing().sum())
        if n_votes >= max(self._rule.fewest_votes, self._rule.growth * self._state.choice.n_votes):
            self.choose()

    def choose(self) -> None:
        """Choose alpha from the votes that stand now, and switch to it if it is another one."""
        if not self.auto:
            return
        with self._lock:
            state = self._state
            votes = self._history.standing_votes()[0]
            if len(votes) == state.choice.n_votes:
                return
            space = SearchSpace(strengths=[state.prior_strength])
            found = choose_settings(state.graph, votes, state.n_classes, space, "none", None, self._options)
            before, alpha = state.choice.alpha, found.diffusion.alpha
            choice = AlphaChoice(alpha, len(votes), "" if found.tuning is None else found.tuning.how)
            if alpha == before:
                state.choice = choice
                return
            state.switch_to(found.diffusion, choice)
            logger.info("alpha is %g now, chosen from %d votes; it was %g", alpha, len(votes), before)
