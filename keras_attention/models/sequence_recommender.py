"""Recommenders that read what somebody took, and differ in how they read it."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import one_of, positive_integer, require
from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._history_readers import READERS
from keras_attention.models._item_layers import ItemDropout
from keras_attention.ops import _backend

Tensor = Any

KINDS = tuple(READERS)


@keras.saving.register_keras_serializable(package="keras_attention")
class SequenceRecommender(ConfiguredModel):
    """From the items of a history, in their order, to scores of what comes next.

    By one of five ways to read it:

    - `"sasrec"`: a causal transformer; the state of the last item scores all items by
      their embeddings, `h E^T`, as in all kinds but the last. Time
      `O(B L (T^2 D + T D^2))` and the logits.
    - `"bert4rec"`: a transformer of both sides that fills gaps; a mask token behind the
      last item asks for the next. Train it on what `hide_items` makes.
    - `"gru"`: a recurrent network and a linear layer. No attention: what the others
      must beat.
    - `"narm"`: the same, but each state also asks those before it, by Bahdanau's
      additive attention, and the linear layer reads both.
    - `"din"`: target attention. The candidate asks the history; a small network scores
      it from its embedding, from what it found, and from their product. Items know how
      long ago they were, not what stood around them. Time for each candidate
      `O(T D + D F)`: it trains on sampled negatives alone, and `next_scores` goes
      through the catalogue block by block.

    **Two ways to train**, of the same weights. With the softmax over all items, `fit`
    takes the items and, for each place, the item that comes next as its label (for
    `bert4rec` the hidden one), 0 where none counts, with `losses.MaskedCrossentropy`.
    That is `B T V` logits. With `sampled_softmax=True` the targets are inputs beside
    `negatives`, and the loss is `losses.SampledCrossentropy`: `B T K` logits, whatever
    V is.

    The layers by name: `embedding`; then `block_0` and so on with `self_attention` in
    each, `norm`; or `encoder`, `attention`, `decoder`; or `recency`, `attention`,
    `hidden`, `score`. To see where a recommendation looked, put `next_scores`, or for
    `din` `scores`, inside `interpretation.recording(model)`: histories are then their
    last `max_sequence_length` items, from the left on.

    Shapes:
        B batch, T length, V items and padding, D `hidden_dim`, F `intermediate_dim`,
        L `num_layers`, N heads, P targets of a row, K negatives, C candidates.

    Args:
        num_items: Items; their ids go from 1 to `num_items`, V - 1. 0 is padding.
        kind: As above.
        hidden_dim: Size of an embedding and of a state, D.
        intermediate_dim: Hidden size of the feed-forward networks, F.
        num_layers: Blocks of the transformers.
        num_heads: Heads of the transformers and of `din`; must divide D.
        max_sequence_length: Most items that are read, for `bert4rec` with the mask
            token.
        dropout: Share dropped after the embedding and in all blocks, in [0, 1).
        attention_dropout: Share of the scores dropped by the multi-head kinds.
        item_dropout: Share of the items taken out of histories in training, as if they
            were padding, in [0, 1).
        activation: Of the feed-forward networks.
        normalize_first: Whether the transformers' blocks are pre-norm.
        positions: As in `CausalLM`, for the transformers. For `din` `"learned"`, how
            many items came after, or `"none"`. The recurrent kinds need none.
        attention: Multi-head layer of the registry, for all kinds but `narm`.
        attention_options: Further arguments of those layers.
        sampled_softmax: Which of the two ways to train.
        dtype: Precision of all layers.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: A dict of `items` `(B, T)`, 0 = padding. With `sampled_softmax` also of
            `targets` `(B, T)`, 0 = none (for `din` `(B, P)`, targets of the whole
            history); `negatives` `(B, K)`, 0 = none was drawn; and `log_q` `(B, K)`,
            see `losses.sampled_logits`.

    Returns:
        Logits `(B, T, V)`, of which column 0 learns to be low; with `sampled_softmax`
        `(B, P, 1 + K)`, the target's first.

    Raises:
        ValueError: for an unknown kind, positions or attention, sizes that are not
            positive, heads that do not divide, or `din` without `sampled_softmax`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.SequenceRecommender(
        ...     7, hidden_dim=4, intermediate_dim=8, num_layers=1, max_sequence_length=5
        ... )
        >>> histories = np.array([[3, 4, 6], [2, 0, 0]])
        >>> tuple(model({"items": histories}).shape)
        (2, 3, 8)
        >>> tuple(model.next_scores(histories).shape)
        (2, 8)
        >>> ids, scores = model.recommend(histories, k=2)
        >>> {3, 4, 6} & {int(item) for item in ids[0]}  # no seen one comes again
        set()

    Source:
        Kang and McAuley 2018, arXiv:1808.09781, section III, with logits over all items
        for its binary ones. Sun et al. 2019, arXiv:1904.06690, section 3, without its
        last dense layer. Hidasi et al. 2016, arXiv:1511.06939, with a tied output. Li
        et al. 2017, arXiv:1711.04725, section 3, whose attention is no softmax and has
        a sigmoid for the tanh. Zhou et al. 2018, arXiv:1706.06978, section 4.3,
        whose candidate asks by a network on both vectors and their product and without
        a softmax; ours asks by multi-head attention, and adds when each item was.
    """

    def __init__(
        self,
        num_items,
        kind="sasrec",
        hidden_dim=64,
        intermediate_dim=256,
        num_layers=2,
        num_heads=1,
        max_sequence_length=50,
        dropout=0.0,
        attention_dropout=0.0,
        item_dropout=0.0,
        activation="gelu",
        normalize_first=True,
        positions="learned",
        attention="multi_head",
        attention_options=None,
        sampled_softmax=False,
        dtype=None,
        **kwargs,
    ):
        one_of("kind", kind, KINDS)
        positive_integer("num_items", num_items)
        positive_integer("max_sequence_length", max_sequence_length)
        sizes = {
            "hidden_dim": hidden_dim,
            "intermediate_dim": intermediate_dim,
            "num_layers": num_layers,
            "num_heads": num_heads,
            "max_sequence_length": max_sequence_length,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "activation": activation,
            "normalize_first": normalize_first,
            "positions": positions,
            "attention": attention,
            "attention_options": attention_options,
            "dtype": dtype,
        }

        # === Functional graph ===
        reader = READERS[kind](sizes, num_items)
        drop = ItemDropout(item_dropout, num_items, name="item_dropout")
        inputs, logits = _graph(reader, drop, sampled_softmax)
        super().__init__(inputs=inputs, outputs=logits, **kwargs)

        # === Config ===
        self.kind, self.reader, self.embedding = kind, reader, reader.embedding
        self.num_items = num_items
        self._config = {
            "num_items": num_items,
            "kind": kind,
            **sizes,
            "item_dropout": item_dropout,
            "sampled_softmax": sampled_softmax,
            "dtype": keras.dtype_policies.serialize(reader.embedding.dtype_policy),
        }

    @property
    def mask_token(self) -> int | None:
        """The id of `bert4rec` that asks what stands at its place."""
        return getattr(self.reader, "mask_token", None)

    def states(self, items: Tensor) -> Tensor:
        """What a history is at every place, `(B, T, D)`, without dropout.

        For `din`, which has no states, its embedded items.

        Args:
            items: `(B, T)` as they are to be read, at most `max_sequence_length`.
        """
        return self.reader.read(ops.cast(items, "int32"))

    def next_scores(self, items: Tensor) -> Tensor:
        """How well every item would follow, without dropout.

        The history counts as the same wherever its padding stands, and of a longer one
        the last `max_sequence_length` items are read.

        Args:
            items: `(B, T)`, 0 = padding; any length. For `bert4rec` without mask
                tokens.

        Returns:
            `(B, V)` float32, minus infinity for id 0. Those of an empty history say
            nothing: recommend what is popular.
        """
        scores = ops.cast(self.reader.all_scores(items), "float32")
        is_item = ops.arange(self.num_items + 1, dtype="int32") > 0
        return ops.where(is_item, scores, -float("inf"))

    def scores(self, items: Tensor, candidates: Tensor) -> Tensor:
        """`next_scores` of some items only, those of each row.

        Args:
            items: `(B, T)` as in `next_scores`.
            candidates: `(B, C)` ids from 1 to `num_items`.

        Returns:
            `(B, C)` float32.
        """
        candidates = ops.cast(candidates, "int32")
        return ops.cast(self.reader.scores(items, candidates), "float32")

    def recommend(
        self, items: Tensor, k: int = 10, exclude_seen: bool = True
    ) -> tuple[Tensor, Tensor]:
        """The k best next items, the best first.

        Args:
            items: `(B, T)` as in `next_scores`; all of them count as seen.
            k: How many, at most V.
            exclude_seen: Whether items of the history are left out.

        Returns:
            Ids `(B, k)` int32 and scores `(B, k)` float32; 0 and minus infinity where
            no item is left.

        Raises:
            ValueError: `k` is more than V.
        """
        positive_integer("k", k)
        require(
            k <= self.num_items + 1,
            "`k` must be at most the number of items and padding.",
            k=k,
            num_items=self.num_items,
        )
        scores = self.next_scores(items)
        if exclude_seen:
            seen = _seen(ops.cast(items, "int32"), self.num_items + 1)
            scores = ops.where(seen, -float("inf"), scores)
        scores, ids = ops.top_k(scores, k)
        is_left = scores > -float("inf")
        return ops.where(is_left, ops.cast(ids, "int32"), 0), scores


def _graph(reader: Any, drop: ItemDropout, sampled_softmax: bool) -> tuple[dict, Any]:
    """Inputs and logits of one of the two ways to train."""
    names = ("items", "targets", "negatives") if sampled_softmax else ("items",)
    inputs = {name: keras.Input((None,), dtype="int32", name=name) for name in names}
    items = drop(inputs["items"])
    if not sampled_softmax:
        return inputs, reader.logits(items)
    inputs["log_q"] = keras.Input((None,), dtype="float32", name="log_q")
    others = (inputs[name] for name in ("targets", "negatives", "log_q"))
    return inputs, reader.sampled(items, *others)


def _seen(items: Tensor, rows: int) -> Tensor:
    """`(B, V)`: which ids stand in items `(B, T)`."""
    batch_size, length = _backend.sizes(items)
    row = ops.arange(batch_size, dtype="int32")[:, None]
    row = ops.broadcast_to(row, (batch_size, length))
    places = ops.reshape(ops.stack([row, items], axis=-1), (-1, 2))
    ones = ops.ones_like(places[:, 0], dtype="int32")
    return ops.scatter(places, ones, (batch_size, rows)) > 0


def hide_items(
    items: Tensor, numbers: Tensor, mask_token: int, share: float = 0.2
) -> tuple[Tensor, Tensor]:
    """Histories with gaps, and what stood there: what `bert4rec` trains on.

    Every item is hidden whose number is below the share. Where that is none, the last
    one is, as in the question that the model is asked. The numbers make the gaps, so
    that they follow from a seed of the caller's, in whatever pipeline.

    Args:
        items: `(..., T)`, 0 = padding.
        numbers: `(..., T)`, evenly drawn from [0, 1).
        mask_token: `mask_token` of the model.
        share: Share of the items that are hidden.

    Returns:
        Items with the mask token in the gaps, and labels, 0 elsewhere, both `(..., T)`
        int32.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> items, numbers = np.array([[3, 4, 6, 0]]), np.array([[0.9, 0.1, 0.5, 0.0]])
        >>> hidden, labels = models.hide_items(items, numbers, mask_token=9)
        >>> [int(item) for item in hidden[0]], [int(item) for item in labels[0]]
        ([3, 9, 6, 0], [0, 4, 0, 0])

    Source:
        Sun et al. 2019, arXiv:1904.06690, section 3.6, the cloze task. They add
        histories of which only the last item is hidden.
    """
    items = ops.cast(items, "int32")
    real = items != 0
    gaps = ops.logical_and(real, ops.convert_to_tensor(numbers) < share)
    places = ops.arange(_backend.sizes(items)[-1], dtype="int32")
    last = ops.max(ops.where(real, places, -1), axis=-1, keepdims=True)
    is_whole = ops.logical_not(ops.any(gaps, axis=-1, keepdims=True))
    gaps = ops.logical_or(gaps, ops.logical_and(is_whole, places == last))
    return ops.where(gaps, mask_token, items), ops.where(gaps, items, 0)
