"""Pictures of a fitted estimator on matplotlib axes, the extra ``plots``."""
