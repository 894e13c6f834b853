"""Real corpora as TensorFlow Datasets builders, and one function that loads any."""
