"""What the consistency theorem promises, as numbers."""
