"""How good are the soft labels, and is it worth to go on? Both from votes alone, without ground truth.

results.py    numbers with intervals
entropy.py    noise and entropy of unknown soft labels from a few votes on each
accuracy.py   a model of soft labels that tells how often the right class leads
estimates.py  :func:`estimate_quality` and :func:`held_out_quality`
stopping.py   :func:`predict_gain`, the rule to stop, and its plot
"""
