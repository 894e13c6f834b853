"""What the applications share that give one class to an image or a text."""
