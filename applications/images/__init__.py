"""Image files to arrays, and batches of them: read, resized, augmented."""
