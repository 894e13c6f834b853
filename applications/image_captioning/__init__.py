"""Image captioning with attention over the places of an image."""
