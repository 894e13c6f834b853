"""Building blocks of attention models."""

from keras_attention.blocks.class_token import ClassToken
from keras_attention.blocks.feed_forward import FeedForward
from keras_attention.blocks.recurrent_decoder import RecurrentDecoder
from keras_attention.blocks.token_and_position_embedding import (
    TokenAndPositionEmbedding,
)
from keras_attention.blocks.transformer_block import TransformerBlock
from keras_attention.blocks.transformer_decoder import TransformerDecoder
from keras_attention.blocks.transformer_encoder import TransformerEncoder

__all__ = [
    "ClassToken",
    "FeedForward",
    "RecurrentDecoder",
    "TokenAndPositionEmbedding",
    "TransformerBlock",
    "TransformerDecoder",
    "TransformerEncoder",
]
