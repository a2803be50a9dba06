"""Intervals for soft labels: mass, votes and a level -> lower, upper.

task.py         the seam: what a method sees and returns
registry.py     name -> method
methods.py      the built-in methods, each a thin layer over its formula
wilson.py       Y successes in N trials
multinomial.py  regions for all classes of an item together
vote_sums.py    sums of squares of what each item has received, and the bias bound
slope.py        how fast soft labels change, read from votes
hoeffding.py    intervals that hold for soft labels that change slowly
calibrated/     intervals learned from items with two or more votes
uncertainty.py  "people disagree" against "too few votes"
"""
