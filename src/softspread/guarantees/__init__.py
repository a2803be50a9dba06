"""The consistency theorem as numbers."""
