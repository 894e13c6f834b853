"""Batches of clips of like length, out of clips in random order."""

import tensorflow as tf

from applications.pipeline.epochs import as_written

_random = tf.random.experimental

# Fewer would waste padding; more would bring the same clips together in every epoch,
# and takes memory.
_BATCHES_SORTED_TOGETHER = 16


def by_length(
    clips: tf.data.Dataset, batch_size: int, key: tf.Tensor
) -> tf.data.Dataset:
    """Batches in random order, padded to the longest clip of each.

    A few batches' worth of clips is sorted by length, cut into batches, and these are
    taken in random order. So every clip comes once, and the number of batches follows
    from the number of clips.

    Args:
        clips: Frames `(T, F)` and ids `(U,)` of any lengths.
        batch_size: Clips of a batch.
        key: int32 `(2,)`, decides the order of the batches.

    Returns:
        Frames `(B, T, F)`, how many each clip has, int64 `(B,)`, ids `(B, U)` and how
        many those are.
    """

    def cut(
        number: tf.Tensor, some: tuple[tf.RaggedTensor, tf.RaggedTensor]
    ) -> tf.data.Dataset:
        frames, ids = some
        order = tf.argsort(frames.row_lengths(), stable=True)
        own = _random.stateless_fold_in(key, number)
        starts = _random.stateless_shuffle(tf.range(0, tf.size(order), batch_size), own)

        def batch(start: tf.Tensor) -> tuple[tf.Tensor, ...]:
            rows = order[start : start + batch_size]
            heard, said = tf.gather(frames, rows), tf.gather(ids, rows)
            return (
                heard.to_tensor(),
                heard.row_lengths(),
                said.to_tensor(),
                said.row_lengths(),
            )

        batches = tf.data.Dataset.from_tensor_slices(starts)
        return batches.map(as_written(batch))

    together = clips.ragged_batch(_BATCHES_SORTED_TOGETHER * batch_size)
    return together.enumerate().flat_map(as_written(cut))
