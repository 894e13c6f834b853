"""What the applications share that give one class to an image, a text or a sound."""
