"""What a model attends to: scores of any model, pictures and measures of them."""

from keras_attention.interpretation import plots
from keras_attention.interpretation.alignment import (
    CopyAlignment,
    Word,
    copied_words,
    copy_alignment,
    entropy,
    word_scores,
    words,
)
from keras_attention.interpretation.capture import Record, capture, recording

__all__ = [
    "CopyAlignment",
    "Record",
    "Word",
    "capture",
    "copied_words",
    "copy_alignment",
    "entropy",
    "plots",
    "recording",
    "word_scores",
    "words",
]
