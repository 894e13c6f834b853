"""Batches of sentence pairs of like length, shuffled anew and reproducibly.

Padding is the largest waste of a text pipeline: filled up to the longest of a random
batch, most tokens are padding. Here pairs of one length, or of neighbouring lengths
where they are rare, form a bucket; a batch is taken from one bucket, holds about the
same number of tokens whatever the length, and has one of few shapes.
"""

from collections.abc import Iterable

import numpy as np
import tensorflow as tf

from applications.errors import UserError
from applications.text.tokenizer import SubwordTokenizer
from applications.text.vocabulary import PADDING

_TEXTS_AT_ONCE = 4096
# Fewer would meet the same companions in every epoch; more would waste padding.
_BATCHES_PER_BUCKET = 4


def token_ids(
    pairs: tf.data.Dataset, tokenizer: SubwordTokenizer, max_length: int | None = None
) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
    """Return the ids of a whole dataset of `{"source", "target"}` strings, in order.

    Args:
        pairs: What `applications.datasets.load` returns.
        tokenizer: The tokenizer of both sides.
        max_length: The most ids of a text, markers counted; longer ones lose ids from
            their end, as is right for evaluation. For training leave them whole and
            let `BucketedPairs` drop them.

    Returns:
        Source ids with the end token, target ids with start and end token.
    """
    sources, targets = [], []
    for texts in pairs.batch(_TEXTS_AT_ONCE):
        sources.append(
            tokenizer.ragged(texts["source"], add_end=True, max_length=max_length)
        )
        targets.append(
            tokenizer.ragged(
                texts["target"], add_start=True, add_end=True, max_length=max_length
            )
        )
    if not sources:
        raise UserError("There are no sentence pairs to make batches of.")
    return tf.concat(sources, axis=0), tf.concat(targets, axis=0)


class BucketedPairs:
    """Batches of epoch `e` that depend on `(seed, e)` and on nothing else.

    Neither the random state of TensorFlow nor what was read before plays a part, so
    training that resumes at epoch 3 gets the batches it would have got. Everything is
    held in memory.

    Args:
        source: Source ids of all pairs, `(examples, None)`.
        target: Target ids of all pairs, `(examples, None)`.
        tokens_per_batch: The most tokens a side of a batch may have, padding counted.
        max_length: Pairs with more ids than this on a side are dropped; two numbers
            are one for each side.
        seed: Decides the order, together with the epoch.
        both_sides: Whether pairs of a bucket are alike in their shorter side too. Where
            most sources are as long as the limit, their targets would else be padded
            to the longest of all.

    Attributes:
        count: Batches per epoch, the same for every epoch.
        examples: Pairs per epoch.
        dropped: Pairs left out because of `max_length`.
    """

    def __init__(
        self,
        source: tf.RaggedTensor,
        target: tf.RaggedTensor,
        tokens_per_batch: int,
        max_length: int | tuple[int, int],
        seed: int = 0,
        both_sides: bool = False,
    ):
        lengths = np.stack([source.row_lengths(), target.row_lengths()], axis=1)
        kept = np.flatnonzero((lengths <= np.array(max_length)).all(axis=1))
        self.dropped = len(lengths) - len(kept)
        self.examples = len(kept)
        self.seed = seed
        if not self.examples:
            raise UserError(
                f"None of {len(lengths)} sentence pairs has at most {max_length} ids "
                "on both sides; raise the longest length."
            )
        self._sides = tf.gather(source, kept), tf.gather(target, kept)
        lengths = lengths[kept]
        buckets = _buckets(lengths.max(axis=1), _BATCHES_PER_BUCKET * tokens_per_batch)
        if both_sides:
            buckets = _parted(buckets, lengths, tokens_per_batch)
        self._bucket_of = tf.constant(buckets, tf.int32)
        starts, widths = _batches(lengths, buckets, tokens_per_batch)
        self._starts = tf.constant(starts, tf.int32)
        self._widths = tf.constant(widths, tf.int64)
        self.count = len(widths)

    def epoch(self, number: int | tf.Tensor) -> tf.data.Dataset:
        """Return the batches of one epoch: int32 ids `(B, S)` and `(B, T)`."""
        seed = tf.stack([self.seed, tf.cast(number, tf.int32)])
        shuffle = tf.random.experimental.stateless_shuffle
        shuffled = shuffle(tf.range(self.examples), seed)
        by_bucket = tf.argsort(tf.gather(self._bucket_of, shuffled), stable=True)
        order = tf.gather(shuffled, by_bucket)

        def batch(number: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            rows = order[self._starts[number] : self._starts[number + 1]]
            return self._padded(rows, self._widths[number])

        turns = shuffle(
            tf.range(self.count), tf.random.experimental.stateless_fold_in(seed, 1)
        )
        return tf.data.Dataset.from_tensor_slices(turns).map(
            batch, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
        )

    def epochs(self, first: int, last: int) -> tf.data.Dataset:
        """Return the batches of the epochs from `first` up to, not with, `last`."""
        options = tf.data.Options()
        options.deterministic = True
        count = tf.data.experimental.assert_cardinality(self.count * (last - first))
        return (
            tf.data.Dataset.range(first, last)
            .flat_map(self.epoch)
            .apply(count)
            .with_options(options)
            .prefetch(tf.data.AUTOTUNE)
        )

    def _padded(self, rows: tf.Tensor, widths: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """Gather pairs and fill both sides up to the widths of their bucket."""
        return tuple(
            tf.gather(side, rows).to_tensor(PADDING, shape=tf.stack([-1, width]))
            for side, width in zip(self._sides, tf.unstack(widths), strict=True)
        )


def padding_waste(batches: Iterable[tuple[tf.Tensor, tf.Tensor]]) -> float:
    """Return the share of padding among all ids of both sides of `batches`."""
    padding = total = 0
    for batch in batches:
        for side in batch:
            ids = np.asarray(side)
            padding += int(np.sum(ids == PADDING))
            total += ids.size
    return padding / total


def _buckets(lengths: np.ndarray, tokens: int) -> np.ndarray:
    """Number the bucket of each pair by its length.

    From short to long, a bucket takes in lengths until it fills so many tokens.
    """
    numbers = np.zeros(lengths.max() + 1, int)
    bucket = members = 0
    for length, count in enumerate(np.bincount(lengths)):
        numbers[length] = bucket
        members += count
        if members * length >= tokens:
            bucket, members = bucket + 1, 0
    return numbers[lengths]


def _parted(
    buckets: np.ndarray, lengths: np.ndarray, tokens_per_batch: int
) -> np.ndarray:
    """Part each bucket by the shorter side, a few batches to each part."""
    parted, count = np.zeros_like(buckets), 0
    for bucket in np.unique(buckets):
        members = np.flatnonzero(buckets == bucket)
        pairs = _BATCHES_PER_BUCKET * max(1, tokens_per_batch // lengths[members].max())
        shorter = lengths[members].min(axis=1)
        ordered = np.sort(shorter)
        firsts = [0]  # where in order a part begins; a length is not parted
        for start in np.flatnonzero(np.diff(ordered)) + 1:
            if min(start - firsts[-1], len(members) - start) >= pairs:
                firsts.append(start)
        parts = np.searchsorted(ordered[firsts], shorter, side="right") - 1
        parted[members] = count + parts
        count += len(firsts)
    return parted


def _batches(
    lengths: np.ndarray, buckets: np.ndarray, tokens_per_batch: int
) -> tuple[list[int], list[np.ndarray]]:
    """Cut the examples, thought of as sorted by bucket, into batches.

    Returns:
        Where each batch starts, with the end of the last; and the widths of the two
        sides of each batch.
    """
    starts, widths = [0], []
    for bucket in np.unique(buckets):
        members = lengths[buckets == bucket]
        width = members.max(axis=0)
        size = max(1, tokens_per_batch // width.max())
        for first in range(0, len(members), size):
            starts.append(starts[-1] + min(size, len(members) - first))
            widths.append(width)
    return starts, widths
