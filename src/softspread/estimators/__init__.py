"""The estimators: what people call from Python."""
