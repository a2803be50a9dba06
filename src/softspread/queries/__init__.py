"""Which items to vote on next."""
