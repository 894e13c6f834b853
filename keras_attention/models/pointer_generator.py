"""Pointer-generator: an encoder-decoder that can also copy words of its source."""

from typing import Any

import keras
from keras import ops

from keras_attention import losses
from keras_attention.errors import require
from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._copying import CopyDetails, CopyHead, CoveragePenalty
from keras_attention.models.recurrent_seq2seq import RecurrentSeq2Seq
from keras_attention.models.transformer_seq2seq import TransformerSeq2Seq

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class PointerGenerator(ConfiguredModel):
    """An encoder-decoder that at each step makes a word or copies one of the source.

    `P(w) = p P_vocabulary(w) + (1 - p) sum_i a_i [x_i = w]`: the scores `a` of the
    decoder's attention say what is copied, a gate says how far. Names that a model has
    never seen are then written rightly: without copying it invents them. For summaries
    and other tasks whose output repeats its input.

    Source and target share one vocabulary that has a spelling for every text (subwords
    with bytes for what is missing), so that each token of the source is one the output
    has: the paper's words outside of the vocabulary are not needed.

    Copies by the scores of the first head of the last decoder block; of a recurrent
    model by those of its only one. The other heads stay free. Costs beyond the model
    inside `B T S (D + S)` multiply-adds and `B T V` numbers.

    Shapes:
        B batch, S source length, T target length, N heads, V vocabulary size.

    Args:
        seq2seq: `TransformerSeq2Seq`, or `RecurrentSeq2Seq` with attention; as in the
            paper with `attention="coverage"` and `order="luong"`. Its layers are used
            and trained, its own output is not.
        coverage_weight: Weight of `losses.coverage_penalty` of the copying scores,
            added to the loss in training; 1 in the paper's last epochs. 0 adds none.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Dict of `source` `(B, S)` and `target` `(B, T)` token ids, 0 = padding.

    Returns:
        Logits `(B, T, V)` of the mixture, float32 under every precision: row `t`
        predicts the token after `target[t]`. Their softmax is `P`.

    Raises:
        ValueError: for another model, one without attention, or a negative weight.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> gru = models.RecurrentSeq2Seq(11, 8, attention="coverage", order="luong")
        >>> model = models.PointerGenerator(gru, coverage_weight=1.0)
        >>> ids = np.array([[5, 6, 2, 0]])
        >>> tuple(model({"source": ids, "target": ids[:, :3]}).shape)
        (1, 3, 11)
        >>> tuple(model.copy_details(ids, ids[:, :3]).copy_probability.shape)
        (1, 3, 4)

    Source:
        See et al. 2017, arXiv:1704.04368, equations 8 to 13, with a GRU for the LSTM;
        the gate reads the decoder's output where the paper has its state. On a
        transformer coverage is in the loss only, not in the attention.
    """

    def __init__(self, seq2seq, coverage_weight=0.0, **kwargs):
        require(
            isinstance(seq2seq, (TransformerSeq2Seq, RecurrentSeq2Seq)),
            "`seq2seq` must be a `TransformerSeq2Seq` or a `RecurrentSeq2Seq`.",
            seq2seq=type(seq2seq).__name__,
        )
        require(
            coverage_weight >= 0,
            "`coverage_weight` must be at least 0.",
            coverage_weight=coverage_weight,
        )
        text = seq2seq.text_decoder
        text.scored_heads()

        # === Layers ===
        self_config = keras.saving.serialize_keras_object(seq2seq)
        head = CopyHead(dtype=text.embedding.dtype_policy, name="copy_head")
        penalty = CoveragePenalty(coverage_weight, name="coverage_penalty")

        # === Functional graph ===
        source = keras.Input((None,), dtype="int32", name="source")
        target = keras.Input((None,), dtype="int32", name="target")
        memory, summary, mask = _encoded(seq2seq.encode(source))
        hidden, scores = text.read(
            target, memory, summary, mask, return_attention_scores=True
        )
        seen = (hidden, text.embedding(target), scores[:, 0], memory)
        logits = head(text.predict(hidden), *seen, source)
        if coverage_weight:
            logits = penalty(logits, scores[:, 0], target)
        super().__init__(
            inputs={"source": source, "target": target}, outputs=logits, **kwargs
        )

        # === Config ===
        self.embedding, self.text_decoder, self.head = text.embedding, text, head
        self._encode = seq2seq.encode
        self._config = {"seq2seq": self_config, "coverage_weight": coverage_weight}

    # ------------------------------------------------------------------------- decoding

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
        """Memory `(B, S, D)`, of a recurrent model its summary, and its mask."""
        return _encoded(self._encode(source))

    def initial_state(
        self, source: Tensor, max_length: int, return_attention_scores: bool = False
    ) -> dict:
        """State before the first of at most `max_length` steps.

        Args:
            source: `(B, S)` token ids.
            max_length: Steps there is room for.
            return_attention_scores: As in the model inside.
        """
        memory, summary, mask = self.encode(source)
        state = self.text_decoder.initial_state(
            memory, max_length, return_attention_scores, summary, mask
        )
        return {**state, "copied": {"memory": memory, "source": source}}

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        text, copied = self.text_decoder, state["copied"]
        inputs = text.inputs(tokens, state)
        hidden, after, now = text.advance(inputs, state, return_attention_scores=True)
        logits = self.head(
            text.predict(hidden),
            hidden,
            inputs,
            now[:, 0],
            copied["memory"],
            copied["source"],
        )
        return logits[:, 0], text.booked(state, after, now)

    # ------------------------------------------------------------------------ looking

    def cross_attention_scores(self, source: Tensor, target: Tensor) -> Tensor:
        """What each step looked at: `(B, N, T, S)`; head 0 is the one that copies."""
        return self.copy_details(source, target).attention_scores

    def copy_details(self, source: Tensor, target: Tensor) -> CopyDetails:
        """What each step of `target` `(B, T)` looked at, made and copied."""
        memory, summary, mask = self.encode(source)
        text = self.text_decoder
        hidden, scores = text.read(
            target, memory, summary, mask, return_attention_scores=True
        )
        gate = self.head.gate(hidden, text.embedding(target), scores[:, 0], memory)
        generated = ops.sigmoid(ops.cast(gate, "float32"))  # (B, T, 1)
        copying = ops.cast(scores[:, 0], "float32")
        copied = (1.0 - generated) * copying
        return CopyDetails(scores, generated[..., 0], copied, losses.coverage(copying))

    @classmethod
    def from_config(cls, config, custom_objects=None):
        seq2seq = keras.saving.deserialize_keras_object(
            config["seq2seq"], custom_objects=custom_objects
        )
        return cls(**{**config, "seq2seq": seq2seq})


def _encoded(parts: tuple) -> tuple[Tensor, Tensor | None, Tensor]:
    """Memory, summary or `None`, and mask of what either model's `encode` gives."""
    memory, *summary, mask = parts
    return memory, summary[0] if summary else None, mask
