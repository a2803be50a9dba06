"""How good are the soft labels, and are more votes worthwhile? Both from votes alone, without ground truth.

result.py    numbers with intervals
entropy.py   noise and entropy of unknown soft labels from a few votes on each
accuracy.py  a model of soft labels that says how often the right class leads
estimate.py  :func:`estimate_quality` and :func:`held_out_quality`
forecast.py  :func:`predict_gain`, and its plot
"""
