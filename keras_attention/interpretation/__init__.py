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
from keras_attention.interpretation.gates import channel_gates, position_gates
from keras_attention.interpretation.grad_cam import grad_cam
from keras_attention.interpretation.patch_maps import (
    class_token_maps,
    patch_maps,
    word_maps,
)
from keras_attention.interpretation.position_similarity import position_similarity
from keras_attention.interpretation.rollout import rollout

__all__ = [
    "CopyAlignment",
    "Record",
    "Word",
    "capture",
    "channel_gates",
    "class_token_maps",
    "copied_words",
    "copy_alignment",
    "entropy",
    "grad_cam",
    "patch_maps",
    "plots",
    "position_gates",
    "position_similarity",
    "recording",
    "rollout",
    "word_maps",
    "word_scores",
    "words",
]
