"""Choosing alpha, the number of neighbours and the strength of a prior.

    votes  ->  predictions for voted items without their own votes  ->  score  ->  the setting with the lowest

candidates.py     what may be chosen, how votes spread meanwhile, and graphs for several numbers of neighbours
search.py         the search; :func:`choose_parameters` is what estimators call
against_truth.py  Bayesian optimisation against a known truth, for studies
tune.py           :func:`tune`, what people call
result.py         what was tried and what was chosen
"""
