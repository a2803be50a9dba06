"""Choosing alpha, the number of neighbours and the strength of a prior.

    votes  ->  predictions for voted items without their own votes  ->  score  ->  the setting with the lowest

held_out.py   which votes are held out, and what they count
masses.py     what voted items hold without them, warm-started from alpha to alpha
scores.py     the Brier score of all items from those of voted ones, theory [score]; the log score
choosing.py   the search; :func:`choose_parameters` is what estimators call
truth.py      Bayesian optimisation against a known truth, for studies
edge.py       :func:`tune`, what people call
"""
