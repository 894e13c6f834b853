"""What the two kinds of language model share: their parts, in one order."""

from typing import Any

import keras
from keras import ops

from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._token_reader import TokenReader, token_reader

Tensor = Any


class LanguageModel(ConfiguredModel):
    """Base of the models from token ids to the logits of tokens.

    A kind says whether it sees the future (`is_causal`) and what is made of the last
    block's output (`graph`).
    """

    is_causal: bool

    def __init__(
        self,
        vocabulary_size,
        num_layers,
        num_heads,
        hidden_dim,
        intermediate_dim,
        dropout=0.0,
        attention_dropout=0.0,
        activation="gelu",
        normalize_first=True,
        positions="learned",
        max_sequence_length=None,
        attention="multi_head",
        attention_options=None,
        dtype=None,
        **kwargs,
    ):
        # === Layers ===
        tokens = {
            "vocabulary_size": vocabulary_size,
            "hidden_dim": hidden_dim,
            "positions": positions,
            "max_sequence_length": max_sequence_length,
        }
        block = {
            "intermediate_dim": intermediate_dim,
            "num_heads": num_heads,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "activation": activation,
            "normalize_first": normalize_first,
            "attention": attention,
            "attention_options": attention_options,
            "dtype": dtype,
        }
        reader = token_reader(self.is_causal, tokens, block, num_layers)

        # === Functional graph ===
        inputs, logits = self.graph(reader, block)
        super().__init__(inputs=inputs, outputs=logits, **kwargs)

        # === Config ===
        self.reader, self.embedding = reader, reader.embedding
        policy = keras.dtype_policies.serialize(reader.embedding.dtype_policy)
        self._config = {**tokens, **block, "num_layers": num_layers, "dtype": policy}

    @classmethod
    def graph(cls, reader: TokenReader, block: dict) -> tuple[Any, Tensor]:
        """Inputs and logits of the functional model, from arguments of a block."""
        raise NotImplementedError

    def hidden(self, tokens: Tensor) -> Tensor:
        """What the blocks make of token ids `(B, T)`: `(B, T, D)`, without dropout."""
        return self.reader.read(ops.cast(tokens, "int32"))
