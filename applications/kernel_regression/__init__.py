"""A function of one number from points: kernel regression and attention."""
