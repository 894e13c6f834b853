"""Short recordings to one of a few words."""
