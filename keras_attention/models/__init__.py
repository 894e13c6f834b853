"""Whole models built from the layers."""

from keras_attention.models.recurrent_seq2seq import RecurrentSeq2Seq
from keras_attention.models.transformer_seq2seq import TransformerSeq2Seq

__all__ = ["RecurrentSeq2Seq", "TransformerSeq2Seq"]
