"""States, observations, notation, belief and records."""
