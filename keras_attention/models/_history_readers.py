"""How the recommenders read a history, and what they score items by."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention import layers
from keras_attention.blocks import TokenAndPositionEmbedding
from keras_attention.errors import one_of, positive_integer, require
from keras_attention.layers.temporal_attention import last_step
from keras_attention.models._item_layers import (
    RecencyEmbedding,
    SampledLogits,
    TiedSampledLogits,
    item_rows,
)
from keras_attention.models._token_reader import TokenReader, token_reader
from keras_attention.ops import _backend

Tensor = Any

BLOCK = 256  # candidates that are compared with the histories at a time


class StateReader:
    """Scores items by the product of a history's state with their embeddings.

    Layers at work, and no layer itself: the model tracks them.

    Shapes:
        B batch, T length, D size, V items and padding, C candidates, P targets,
        K negatives.

    Args:
        embedding: Of the items, tied to the output.
        read: States `(B, T, D)` of items `(B, T)`, with their padding mask.
        num_items: V - 1.
        longest: Items of a history that are read.
    """

    def __init__(
        self,
        embedding: TokenAndPositionEmbedding,
        read: Callable[[Tensor], Tensor],
        num_items: int,
        longest: int,
    ):
        self.embedding, self.read = embedding, read
        self.num_items, self.longest = num_items, longest

    def logits(self, items: Tensor) -> Tensor:
        """`(B, T, V)` for what comes at, or after, every place."""
        return self.embedding(self.read(items), reverse=True)

    def sampled(
        self, items: Tensor, targets: Tensor, negatives: Tensor, log_q: Tensor
    ) -> Tensor:
        """`(B, T, 1 + K)`, one target for every place."""
        layer = TiedSampledLogits(self.embedding, name="sampled_logits")
        return layer(self.read(items), targets, negatives, log_q)

    def question(self, items: Tensor) -> Tensor:
        """What is read so that the state of its last item asks for the next."""
        return latest(items, self.longest)

    def scores(self, items: Tensor, candidates: Tensor) -> Tensor:
        """`(B, C)` of candidates `(B, C)` to come next."""
        state = self._state(items)
        rows = item_rows(self.embedding, candidates, state.dtype)
        return ops.matmul(rows, state[..., None])[..., 0]

    def all_scores(self, items: Tensor) -> Tensor:
        """`(B, V)`."""
        state = self._state(items)[:, None]  # (B, 1, D)
        return self.embedding(state, reverse=True)[:, 0, : self.num_items + 1]

    def _state(self, items: Tensor) -> Tensor:
        """`(B, D)`; 0 of an empty history."""
        states = self.read(self.question(items))
        return last_step(states, _backend.get_mask(states))


class GapReader(StateReader):
    """A `StateReader` of both sides: a mask token asks what stands at its place."""

    @property
    def mask_token(self) -> int:
        return self.num_items + 1

    def logits(self, items):
        return super().logits(items)[..., : self.num_items + 1]

    def question(self, items):
        items = latest(items, self.longest - 1)
        items = ops.pad(items, [[0, 0], [0, 1]])
        count = ops.sum(ops.cast(items != 0, "int32"), axis=1, keepdims=True)
        places = ops.arange(_backend.sizes(items)[1], dtype="int32")
        return ops.where(places == count, self.mask_token, items)


class CandidateReader:
    """Scores each candidate by what it finds when it asks the history itself.

    Args:
        embedding: Of the items, candidates and past ones alike.
        sizes: Arguments of the model.
        num_items: V - 1.
    """

    def __init__(
        self, embedding: TokenAndPositionEmbedding, sizes: dict, num_items: int
    ):
        size, dtype = sizes["hidden_dim"], sizes["dtype"]
        heads = positive_integer("num_heads", sizes["num_heads"])
        require(
            size % heads == 0,
            "`num_heads` must divide the model size.",
            num_heads=heads,
            size=size,
        )
        self.embedding, self.num_items = embedding, num_items
        self.longest = sizes["max_sequence_length"]
        positions = one_of("positions", sizes["positions"], ("learned", "none"))
        self.recency = (
            RecencyEmbedding(self.longest, dtype=dtype, name="recency")
            if positions == "learned"
            else None
        )
        self.attention = layers.get(
            sizes["attention"],
            num_heads=heads,
            key_dim=size // heads,
            dropout=sizes["attention_dropout"],
            dtype=dtype,
            name="attention",
            **(sizes["attention_options"] or {}),
        )
        self.hidden = keras.layers.Dense(
            positive_integer("intermediate_dim", sizes["intermediate_dim"]),
            sizes["activation"],
            dtype=dtype,
            name="hidden",
        )
        self.dropout = keras.layers.Dropout(sizes["dropout"], dtype=dtype)
        self.score = keras.layers.Dense(1, dtype="float32", name="score")

    def read(self, items: Tensor) -> Tensor:
        """Embedded items `(B, T, D)`, which know how long ago they were."""
        x = self.embedding(items)
        return x if self.recency is None else self.recency(x)

    def logits(self, items: Tensor) -> Tensor:
        """Refused: of every place, each item would read the history."""
        del items
        require(
            False,
            '`kind="din"` reads the history for each candidate; train it with '
            "`sampled_softmax=True`.",
            sampled_softmax=False,
        )

    def asked(self, history: Tensor, candidates: Tensor) -> Tensor:
        """Logits `(B, C)` of candidates `(B, C)` that ask `(B, T, D)`."""
        candidate = self.embedding(candidates)
        interest = self.attention(candidate, history)  # (B, C, D)
        x = ops.concatenate([candidate, interest, candidate * interest], axis=-1)
        return self.score(self.dropout(self.hidden(x)))[..., 0]

    def sampled(
        self, items: Tensor, targets: Tensor, negatives: Tensor, log_q: Tensor
    ) -> Tensor:
        """`(B, P, 1 + K)` of P targets of the whole history."""
        candidates = ops.concatenate([targets, negatives], axis=1)
        logits = self.asked(self.read(items), candidates)
        return SampledLogits(name="sampled_logits")(logits, targets, negatives, log_q)

    def scores(self, items: Tensor, candidates: Tensor) -> Tensor:
        """`(B, C)` of candidates `(B, C)` to come next."""
        return self.asked(self.read(latest(items, self.longest)), candidates)

    def all_scores(self, items: Tensor) -> Tensor:
        """`(B, V)`, of `BLOCK` candidates at a time: in memory for those alone."""
        history = self.read(latest(items, self.longest))
        rows, batch_size = self.num_items + 1, _backend.sizes(items)[0]
        width = min(rows, BLOCK)
        blocks = -(-rows // width)

        def of_block(first):
            ids = first + ops.arange(width, dtype="int32")
            ids = ops.where(ids < rows, ids, 0)
            return self.asked(history, ops.broadcast_to(ids, (batch_size, width)))

        firsts = ops.arange(blocks, dtype="int32") * width
        scores = ops.transpose(ops.map(of_block, firsts), (1, 0, 2))
        return ops.reshape(scores, (batch_size, blocks * width))[:, :rows]


# ------------------------------------------------------------------------- the kinds


_OF_BLOCKS = (
    "intermediate_dim",
    "num_heads",
    "dropout",
    "attention_dropout",
    "activation",
    "normalize_first",
    "attention",
    "attention_options",
    "dtype",
)
_OF_TOKENS = ("hidden_dim", "positions", "max_sequence_length")


def _transformer(sizes: dict, num_ids: int, is_causal: bool) -> TokenReader:
    tokens = {name: sizes[name] for name in _OF_TOKENS}
    block = {name: sizes[name] for name in _OF_BLOCKS}
    tokens["vocabulary_size"] = num_ids
    return token_reader(is_causal, tokens, block, sizes["num_layers"])


def _sasrec(sizes: dict, num_items: int) -> StateReader:
    reader = _transformer(sizes, num_items + 1, is_causal=True)
    longest = sizes["max_sequence_length"]
    return StateReader(reader.embedding, reader.read, num_items, longest)


def _bert4rec(sizes: dict, num_items: int) -> StateReader:
    longest = sizes["max_sequence_length"]
    require(
        longest > 1,
        "`max_sequence_length` must be above 1: the mask token takes a place.",
        max_sequence_length=longest,
    )
    reader = _transformer(sizes, num_items + 2, is_causal=False)
    return GapReader(reader.embedding, reader.read, num_items, longest)


def _embedding(sizes: dict, num_items: int) -> TokenAndPositionEmbedding:
    return TokenAndPositionEmbedding(
        num_items + 1,
        sizes["hidden_dim"],
        positions="none",
        dropout=sizes["dropout"],
        dtype=sizes["dtype"],
        name="embedding",
    )


def _gru(sizes: dict, num_items: int, attends: bool = False) -> StateReader:
    size, dtype = sizes["hidden_dim"], sizes["dtype"]
    embedding = _embedding(sizes, num_items)
    # Not by cuDNN, which refuses histories of padding alone, and padding inside.
    encoder = keras.layers.GRU(
        size, return_sequences=True, use_cudnn=False, dtype=dtype, name="encoder"
    )
    if attends:
        attention = layers.AdditiveAttention(size, dtype=dtype, name="attention")
        both = keras.layers.Concatenate(dtype=dtype)
    dropout = keras.layers.Dropout(sizes["dropout"], dtype=dtype)
    decoder = keras.layers.Dense(size, use_bias=False, dtype=dtype, name="decoder")

    def read(items):
        states = encoder(embedding(items))
        if attends:
            purpose = attention(states, states, use_causal_mask=True)
            states = both([states, purpose])
        return decoder(dropout(states))

    return StateReader(embedding, read, num_items, sizes["max_sequence_length"])


def _narm(sizes: dict, num_items: int) -> StateReader:
    return _gru(sizes, num_items, attends=True)


def _din(sizes: dict, num_items: int) -> CandidateReader:
    return CandidateReader(_embedding(sizes, num_items), sizes, num_items)


READERS: dict[str, Callable[[dict, int], Any]] = {
    "sasrec": _sasrec,
    "bert4rec": _bert4rec,
    "narm": _narm,
    "gru": _gru,
    "din": _din,
}


def latest(items: Tensor, length: int) -> Tensor:
    """The last `length` real items of each row, from the left on.

    Args:
        items: `(B, T)`, 0 = padding, wherever it stands.
        length: How many at most.

    Returns:
        `(B, min(T, length))` int32, padded at the end.
    """
    items = ops.cast(items, "int32")
    items = _with_padding(items, first=True)[:, -length:]
    return _with_padding(items, first=False)


def _with_padding(items: Tensor, first: bool) -> Tensor:
    """Rows with all their padding at one end, items in their order."""
    length = _backend.sizes(items)[1]
    moved = items != 0 if first else items == 0
    places = ops.arange(length, dtype="int32")
    order = ops.argsort(places + length * ops.cast(moved, "int32"), axis=1)
    return ops.take_along_axis(items, order, axis=1)
