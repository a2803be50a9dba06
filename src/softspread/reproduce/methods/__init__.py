"""Every method that a plan can name: ours, the paper's baselines, and what else a user might pick."""
