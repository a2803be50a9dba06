"""Predictions for voted items without their own votes: what tuning, intervals, annotators and quality rest
on.
"""
