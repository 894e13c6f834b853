"""What a model attends to: scores of any model, pictures and measures of them."""

from keras_attention.interpretation import plots
from keras_attention.interpretation.agreement import rank_agreement
from keras_attention.interpretation.alignment import (
    CopyAlignment,
    Word,
    copied_words,
    copy_alignment,
    diagonality,
    entropy,
    word_scores,
    words,
)
from keras_attention.interpretation.capture import Record, capture, recording
from keras_attention.interpretation.ctc_alignment import ctc_alignment
from keras_attention.interpretation.gates import channel_gates, position_gates
from keras_attention.interpretation.grad_cam import grad_cam
from keras_attention.interpretation.gradient_times_input import gradient_times_input
from keras_attention.interpretation.occlusion import OUTSIDE, occlusion
from keras_attention.interpretation.patch_maps import (
    class_token_maps,
    patch_maps,
    word_maps,
)
from keras_attention.interpretation.position_similarity import position_similarity
from keras_attention.interpretation.received import group_sums, received
from keras_attention.interpretation.rollout import rollout

__all__ = [
    "OUTSIDE",
    "CopyAlignment",
    "Record",
    "Word",
    "capture",
    "channel_gates",
    "class_token_maps",
    "copied_words",
    "copy_alignment",
    "ctc_alignment",
    "diagonality",
    "entropy",
    "grad_cam",
    "gradient_times_input",
    "group_sums",
    "occlusion",
    "patch_maps",
    "plots",
    "position_gates",
    "position_similarity",
    "rank_agreement",
    "received",
    "recording",
    "rollout",
    "word_maps",
    "word_scores",
    "words",
]
