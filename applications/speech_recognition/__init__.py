"""Recordings of sentences to the characters of what is said."""
