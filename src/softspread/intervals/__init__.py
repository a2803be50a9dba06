"""Intervals for soft labels: mass, sums of squares and a level -> lower, upper.

wilson.py       Y successes in N trials
standing.py     votes that stand, after retractions
squares.py      sums of squares of what each item has received, and the bias bound
hoeffding.py    intervals that hold for soft labels that change slowly
uncertainty.py  "people disagree" against "too few votes"
"""
