"""Reducers: features to few dimensions, one per file."""
