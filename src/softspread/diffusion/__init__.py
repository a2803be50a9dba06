"""Solvers for (I - alpha S) X = B, and the scales that make a voted item receive exactly 1."""
