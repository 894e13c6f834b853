"""Summarization: a text in, its summary out, and what each word was copied from."""
