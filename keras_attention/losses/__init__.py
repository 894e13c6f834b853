"""Losses of padded sequences: only what is real counts."""

from keras_attention.losses.crossentropy import (
    MaskedCrossentropy,
    token_crossentropy,
    token_weights,
)
from keras_attention.losses.ctc_loss import (
    CTC,
    ctc,
    ctc_lengths,
    fits_ctc,
    with_blank_padding,
)
from keras_attention.losses.penalties import (
    coverage,
    coverage_penalty,
    doubly_stochastic_penalty,
)
from keras_attention.losses.sampled_softmax import (
    SampledCrossentropy,
    sampled_crossentropy,
    sampled_logits,
)

__all__ = [
    "CTC",
    "MaskedCrossentropy",
    "SampledCrossentropy",
    "coverage",
    "coverage_penalty",
    "ctc",
    "ctc_lengths",
    "doubly_stochastic_penalty",
    "fits_ctc",
    "sampled_crossentropy",
    "sampled_logits",
    "token_crossentropy",
    "token_weights",
    "with_blank_padding",
]
