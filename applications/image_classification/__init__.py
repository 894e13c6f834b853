"""Image classification with attention CNNs and a Vision Transformer."""
