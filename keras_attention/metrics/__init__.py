"""What a model is measured by: Keras metrics and scores of whole test sets."""

from keras_attention.metrics.bleu import LengthBucket, bleu, bleu_by_length
from keras_attention.metrics.bootstrap import (
    Difference,
    bootstrap_difference,
    paired_bootstrap,
)
from keras_attention.metrics.chrf import chrf
from keras_attention.metrics.perplexity import Perplexity
from keras_attention.metrics.score import Score

__all__ = [
    "Difference",
    "LengthBucket",
    "Perplexity",
    "Score",
    "bleu",
    "bleu_by_length",
    "bootstrap_difference",
    "chrf",
    "paired_bootstrap",
]
