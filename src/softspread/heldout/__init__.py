"""Predictions that leave votes out: what tuning, intervals, annotators and quality rest on.

split.py    what is held out (single votes, an item's votes) and how much each trial counts
masses.py   mass at the voted items with and without their own votes, warm-started from alpha to alpha
crowd.py    the same without all votes of one annotator
scores.py   Brier and log score of such predictions
noise.py    how much of the score is noise of single votes
"""
