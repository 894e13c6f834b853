"""Text to token ids and back, and batches of sentences of like length."""
