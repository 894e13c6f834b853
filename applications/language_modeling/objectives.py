"""What an objective hides of a row, and asks the model to write.

A causal model needs none of it: each token is the label of those before it.
"""

import math
from collections.abc import Callable
from typing import Any

from applications.language_modeling.denoising import Denoising, SpanCorruption
from applications.language_modeling.masking import Masking
from applications.language_modeling.presets import LanguageConfig
from applications.language_modeling.tokens import Tokens

_SENTENCE_ENDS = (".", "!", "?")


def markers(config: LanguageConfig) -> tuple[bool, int]:
    """Whether a gap is a token, and how many sentinels there are."""
    train = config.train
    if train.objective != "span_corruption":
        return train.objective != "causal", 0
    spans = config.data.length * train.share_hidden / train.mean_span
    return True, math.ceil(spans) + 1


def corruption(config: LanguageConfig, tokens: Tokens) -> Callable[..., Any]:
    """From a row of ids and a seed `(2,)` to what the objective makes of it.

    Inputs, labels and weights for `masked`; source and target for the others.
    """
    train = config.train
    if train.objective == "masked":
        return Masking(
            vocabulary_size=tokens.vocabulary_size,
            mask_id=tokens.gap,
            special_ids=tokens.special,
            max_predictions=math.ceil(config.data.length * train.share_hidden),
            rate=train.share_hidden,
        )
    spans = {
        "start": tokens.start,
        "end": tokens.end,
        "noise_density": train.share_hidden,
        "mean_span": train.mean_span,
    }
    if train.objective == "span_corruption":
        return SpanCorruption(
            first_sentinel=tokens.sentinels.start,
            num_sentinels=len(tokens.sentinels),
            **spans,
        )
    return Denoising(mask_id=tokens.gap, sentence_ends=sentence_ends(tokens), **spans)


def sentence_ends(tokens: Tokens) -> tuple[int, ...]:
    """Ids of the pieces that close a sentence."""
    pieces = tokens.pieces(range(tokens.vocabulary_size))
    return tuple(i for i, piece in enumerate(pieces) if piece.endswith(_SENTENCE_ENDS))
