"""The half of a model that writes: from a memory to the logits of the next token."""

import abc
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_attention.blocks import (
    RecurrentDecoder,
    TokenAndPositionEmbedding,
    TransformerDecoder,
)
from keras_attention.errors import require

Tensor = Any


class TextDecoder(abc.ABC):
    """Reads tokens and a memory, all steps at once or one after the other.

    Layers at work, and no layer itself: the model tracks them. A kind says how a
    decoding starts (`start`), how it goes on (`advance`) and how it reads a whole text
    (`read`); the books of a decoding are kept here.

    Shapes:
        B batch, T length of the text, S memory length, D size, N heads, V vocabulary
        size.

    Args:
        embedding: Of tokens, tied to the output.
    """

    def __init__(self, embedding: TokenAndPositionEmbedding):
        self.embedding = embedding

    @abc.abstractmethod
    def read(
        self,
        target: Tensor,
        memory: Tensor,
        summary: Tensor | None = None,
        mask: Tensor | None = None,
        return_attention_scores: bool = False,
    ) -> Any:
        """Teacher-forced: what `predict` takes, `(B, T, D)`, of tokens `(B, T)`.

        With scores those `(B, N, T, S)` of the memory are second.
        """

    @abc.abstractmethod
    def predict(self, hidden: Tensor) -> Tensor:
        """Logits `(B, T, V)` of `(B, T, D)`."""

    @abc.abstractmethod
    def start(
        self,
        memory: Tensor,
        summary: Tensor | None,
        mask: Tensor | None,
        max_length: int,
    ) -> dict:
        """What a kind has in the state before the first step."""

    @abc.abstractmethod
    def advance(
        self, inputs: Tensor, state: dict, return_attention_scores: bool
    ) -> tuple[Tensor, dict, Tensor | None]:
        """One step of inputs `(B, 1, D)`.

        Returns:
            What `predict` takes, `(B, 1, D)`; what is new in the state; the scores,
            broadcastable to `(B, N, 1, S)`, where they are wanted.
        """

    @abc.abstractmethod
    def scored_heads(self) -> int:
        """Number of heads whose scores are shown.

        Raises:
            ValueError: there are none.
        """

    def initial_state(
        self,
        memory: Tensor,
        max_length: int,
        return_attention_scores: bool = False,
        summary: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> dict:
        """State before the first of at most `max_length` steps.

        Args:
            memory: `(B, S, D)`.
            max_length: Steps there is room for.
            return_attention_scores: Collect those of each step, as
                `state["attention_scores"]` `(B, N, max_length, S)`.
            summary: `(B, D)` of the memory, for a recurrent decoder.
            mask: `(B, S)`, True = a real position of the memory.
        """
        scores = None
        if return_attention_scores:
            batch_size, length = ops.shape(memory)[:2]
            shape = (batch_size, self.scored_heads(), max_length, length)
            scores = ops.zeros(shape, dtype=self.embedding.compute_dtype)
        return {
            "position": ops.convert_to_tensor(0, dtype="int32"),
            "attention_scores": scores,
            **self.start(memory, summary, mask, max_length),
        }

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        inputs = self.inputs(tokens, state)
        wanted = state["attention_scores"] is not None
        hidden, after, now = self.advance(inputs, state, wanted)
        return self.predict(hidden)[:, 0], self.booked(state, after, now)

    def inputs(self, tokens: Tensor, state: dict) -> Tensor:
        """What a step reads of `tokens` `(B,)`: `(B, 1, D)`."""
        return self.embedding(tokens[:, None], start_index=state["position"])

    def booked(self, state: dict, after: dict, now: Tensor | None) -> dict:
        """The next state, from what `advance` returned; keeps the scores if asked."""
        position, scores = state["position"], state["attention_scores"]
        if scores is not None:
            here = ops.arange(scores.shape[2]) == position
            scores = ops.where(here[:, None], now, scores)
        books = {"position": position + 1, "attention_scores": scores}
        return {**state, **after, **books}


class RecurrentTextDecoder(TextDecoder):
    """Writes by a `RecurrentDecoder`, which needs a summary of the memory.

    Args:
        embedding: Of tokens, tied to the output.
        decoder: With or without attention.
        dropout: Layer before the output.
    """

    def __init__(
        self,
        embedding: TokenAndPositionEmbedding,
        decoder: RecurrentDecoder,
        dropout: keras.layers.Dropout,
    ):
        super().__init__(embedding)
        self.decoder, self.dropout = decoder, dropout

    def scored_heads(self):
        self.decoder.require_scores()
        return 1

    def read(
        self, target, memory, summary=None, mask=None, return_attention_scores=False
    ):
        x, given = self.embedding(target), (memory, summary)
        if not return_attention_scores:
            return self.decoder(x, *given, memory_mask=mask)
        hidden, scores = self.decoder(
            x, *given, memory_mask=mask, return_attention_scores=True
        )
        return hidden, scores[:, None]

    def predict(self, hidden):
        return self.embedding(self.dropout(hidden), reverse=True)

    def start(self, memory, summary, mask, max_length):
        return {"decoder": self.decoder.initial_state(memory, summary, mask)}

    def advance(self, inputs, state, return_attention_scores):
        hidden, after, *now = self.decoder.step(
            inputs[:, 0], state["decoder"], return_attention_scores
        )
        now = now[0][:, None, None] if now else None
        return hidden[:, None], {"decoder": after}, now


class TransformerTextDecoder(TextDecoder):
    """Writes by transformer blocks with caches; shows the scores of the last one.

    Args:
        embedding: Of tokens with their positions, tied to the output.
        decoders: The blocks.
        norm: What comes after them, see `final_norm`.
    """

    def __init__(
        self,
        embedding: TokenAndPositionEmbedding,
        decoders: Sequence[TransformerDecoder],
        norm: keras.layers.Layer,
    ):
        super().__init__(embedding)
        self.decoders, self.norm = tuple(decoders), norm

    def scored_heads(self):
        return self.decoders[-1].num_heads

    def read(
        self, target, memory, summary=None, mask=None, return_attention_scores=False
    ):
        x = self.embedding(target)
        for layer in self.decoders[:-1]:
            x = layer(x, memory, memory_mask=mask)
        last = self.decoders[-1]
        if not return_attention_scores:
            return last(x, memory, memory_mask=mask)
        x, _, scores = last(x, memory, memory_mask=mask, return_attention_scores=True)
        return x, scores

    def predict(self, hidden):
        return self.embedding(self.norm(hidden), reverse=True)

    def start(self, memory, summary, mask, max_length):
        longest = self.embedding.max_sequence_length
        require(
            self.embedding.positions != "learned" or max_length <= longest,
            "Learned positions end at `max_sequence_length`.",
            max_length=max_length,
            max_sequence_length=longest,
        )
        size, layers = ops.shape(memory)[0], self.decoders
        return {
            "memory_mask": mask,
            "self": [layer.empty_cache(size, max_length) for layer in layers],
            "cross": [layer.cross_attention_cache(memory, mask) for layer in layers],
        }

    def advance(self, inputs, state, return_attention_scores):
        x, caches, now = inputs, [], None
        for layer, self_cache, cross_cache in zip(
            self.decoders, state["self"], state["cross"], strict=True
        ):
            is_shown = return_attention_scores and layer is self.decoders[-1]
            x, *seen, self_cache = layer(
                x,
                None,
                memory_mask=state["memory_mask"],
                return_attention_scores=is_shown,
                self_attention_cache=self_cache,
                self_attention_cache_update_index=state["position"],
                cross_attention_cache=cross_cache,
            )
            caches.append(self_cache)
            now = seen[-1] if is_shown else None
        return x, {"self": caches}, now


def final_norm(normalize_first: bool, dtype: Any, name: str) -> keras.layers.Layer:
    """Pre-norm stacks end in a normalisation, post-norm stacks already have one."""
    if not normalize_first:
        return keras.layers.Identity(dtype=dtype, name=name)
    return keras.layers.LayerNormalization(epsilon=1e-5, dtype=dtype, name=name)
