"""How good are the soft labels, and are more votes worthwhile? Both from votes alone, without ground truth.

result.py    numbers with intervals
worlds.py    truths that the posterior allows, and what each says about the dataset and about held-out votes
doubt.py     worlds weighed by how well they predict held-out votes
chosen.py    votes on items that a query chose
entropy.py   noise and entropy of unknown soft labels from a few votes on each
accuracy.py  a model of soft labels that says how often the right class leads
estimate.py  :func:`estimate_quality`, :func:`held_out_quality`, and the evidence that they judge
gain.py      :func:`forecast_gain`: what further votes would bring to a posterior
forecast.py  :func:`predict_gain` for spreading alone, by thinning the votes; the plot of both
judge.py     the engine behind estimate.py
"""
