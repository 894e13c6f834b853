"""Building blocks of attention models."""

from keras_attention.blocks.class_token import ClassToken
from keras_attention.blocks.conformer_encoder import ConformerEncoder
from keras_attention.blocks.convolution_module import ConvolutionModule
from keras_attention.blocks.convolutional_subsampling import ConvolutionalSubsampling
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
    "ConformerEncoder",
    "ConvolutionModule",
    "ConvolutionalSubsampling",
    "FeedForward",
    "RecurrentDecoder",
    "TokenAndPositionEmbedding",
    "TransformerBlock",
    "TransformerDecoder",
    "TransformerEncoder",
]
