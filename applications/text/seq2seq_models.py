"""Encoder-decoders by the settings of a run."""

import keras

from applications.errors import require_known
from applications.text.seq2seq_config import Seq2SeqModelConfig
from keras_attention import layers, models


def transformer(sizes: Seq2SeqModelConfig, vocabulary_size: int) -> keras.Model:
    """An encoder-decoder transformer.

    Raises:
        UserError: `attention` names no multi-head layer.
    """
    require_known("model.attention", sizes.attention, layers.multi_head())
    return models.TransformerSeq2Seq(
        vocabulary_size,
        num_layers=sizes.num_layers,
        num_heads=sizes.num_heads,
        hidden_dim=sizes.hidden_dim,
        intermediate_dim=sizes.intermediate_dim,
        dropout=sizes.dropout,
        attention_dropout=sizes.attention_dropout,
        attention=sizes.attention,
    )


def recurrent(
    sizes: Seq2SeqModelConfig, vocabulary_size: int, attention: str, order: str
) -> keras.Model:
    """A recurrent encoder-decoder; the arguments are those of `RecurrentSeq2Seq`."""
    return models.RecurrentSeq2Seq(
        vocabulary_size,
        hidden_dim=sizes.hidden_dim,
        attention=attention,
        order=order,
        dropout=sizes.dropout,
    )
