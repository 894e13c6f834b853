"""Short texts to one of a few classes."""
