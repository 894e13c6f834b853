"""Training batches that follow from the seed and the number of an epoch alone."""

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

# For what is mapped over examples: it consists of operations of the graph, and to look
# through its Python for loops and branches takes TensorFlow seconds at every start.
as_written = tf.autograph.experimental.do_not_convert


class ShuffledBatches:
    """Batches of epoch `e` that depend on `(seed, e)` and on nothing else.

    So training that resumes at epoch 3 gets the batches it would have got, random
    changes of the examples included. Where a set too large for the memory is shuffled
    through a buffer, by TensorFlow, its own seed counts as well: set it, not to 0, as
    the stages do.

    Args:
        shuffled: From a key, int32 `(2,)`, and the size of a batch to batches in random
            order.
        changed: From what a batch holds, and a key of its own, to what the model learns
            from.
        examples: Examples per epoch.
        batch_size: Examples of a batch; the last one has what is left.
        seed: Decides everything, together with the epoch.

    Attributes:
        count: Batches per epoch, the same for every epoch.
        examples: Examples per epoch.
    """

    def __init__(
        self,
        shuffled: Callable[[tf.Tensor, int], tf.data.Dataset],
        changed: Callable[..., tuple[Any, Any]],
        examples: int,
        batch_size: int,
        seed: int,
    ):
        self._shuffled, self._changed = shuffled, changed
        self._batch_size, self._seed = batch_size, seed
        self.examples = examples
        self.count = math.ceil(examples / batch_size)

    def epoch(self, number: int | tf.Tensor) -> tf.data.Dataset:
        """Return the batches of one epoch: inputs of the model and labels."""
        key = tf.stack([self._seed, tf.cast(number, tf.int32)])

        @as_written
        def changed(batch: tf.Tensor, content: tuple) -> tuple[Any, Any]:
            own = tf.random.experimental.stateless_fold_in(key, batch)
            return self._changed(*content, own)

        return (
            self._shuffled(key, self._batch_size)
            .enumerate()
            .map(changed, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
        )
