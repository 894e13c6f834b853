"""Pipelines that run: from real data to a measured result and a SavedModel."""
