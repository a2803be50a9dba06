"""From votes to mass, and from mass to soft labels; live updates with a proven bound."""
