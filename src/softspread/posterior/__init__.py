"""One posterior per item: what neighbours and classifiers say, how far to trust it, and the item's own votes.

ladder.py       spreading at several alphas, each answering what the one before could not reach
kernels.py      votes weighted by distance, at several widths
classifiers.py  logistic regressions, cross-fitted by item
experts.py      what every expert brings, and all of them together
stack.py        how much each expert counts, by held-out votes
calibration.py  how sharp the blend should be, averaged over what the votes leave open
trust.py        how many votes the blend is worth: a distribution, learned from repeated votes
beta.py         tables of Beta distributions
posterior.py    the posterior of every item: mean, intervals, mode
tail.py         how much an interval may leave out
blend.py        all of it, from votes to posterior
live.py         a blend that follows further votes, for all items or for a few
explain.py      what one soft label is made of
"""
