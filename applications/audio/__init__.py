"""Sound to the frames that a model hears: read, resampled, changed at random."""
