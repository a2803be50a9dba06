"""Votes as people cast them, and the table of rows, columns and weights that the mathematics uses."""
