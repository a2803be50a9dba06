"""Encoders: prepared images or text to features, one per file."""
