"""Whole models built from the layers."""

from keras_attention.models.attention_cnn import AttentionCNN
from keras_attention.models.image_captioner import ImageCaptioner
from keras_attention.models.recurrent_seq2seq import RecurrentSeq2Seq
from keras_attention.models.transformer_seq2seq import TransformerSeq2Seq
from keras_attention.models.vision_transformer import VisionTransformer

__all__ = [
    "AttentionCNN",
    "ImageCaptioner",
    "RecurrentSeq2Seq",
    "TransformerSeq2Seq",
    "VisionTransformer",
]
