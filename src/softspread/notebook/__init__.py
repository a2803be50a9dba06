"""Voting in a notebook, the extra ``notebook``."""
