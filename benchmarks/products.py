"""The matrix products of our tiles and nothing else: how fast the rest could make us.

The contender `products` multiplies tensors of the shapes that the blockwise path cuts
for a case, as often as that does: two products a tile forward, and to train one to have
the logits again and four for the gradients. No softmax, no mask, no cutting.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.cases import Case


def step(case: Case, mask: Any) -> Callable[[], Any]:
    """All products of one forward pass, or of forward and backward pass."""
    import tensorflow as tf

    from keras_attention.ops import tiling

    batch, length, heads, size = case.shape
    tiles = []
    for each in tiling.plan(length, length, mask, 0):
        batch_rows, together = tiling.shared_by(batch, heads, each.widest)
        groups = batch // batch_rows * (heads // together)
        for segment in each.segments:
            if not segment.is_empty:
                shape = (batch_rows, together, segment.rows, segment.width, size)
                tiles.append((groups * segment.tiles, *_tensors(case, *shape)))

    @tf.function(autograph=False)
    def run() -> Any:
        carry = tf.zeros((), case.dtype)
        for count, query, key in tiles:
            carry = _repeated(case.training, count, carry, query, key)
        return carry

    return run


def _tensors(case: Case, *shape: int) -> tuple[Any, Any]:
    import tensorflow as tf

    batch_rows, heads, rows, width, size = shape
    return tuple(
        tf.random.normal((batch_rows, heads, length, size), dtype=case.dtype)
        for length in (rows, width)
    )


def _repeated(training: bool, count: int, carry: Any, query: Any, key: Any) -> Any:
    import tensorflow as tf

    def body(index, carry):
        # What a tile gives goes into the next one, so that none is left out.
        return index + 1, _tile(training, query + carry, key)

    loop = tf.while_loop(
        lambda index, _: index < count, body, (0, carry), parallel_iterations=1
    )
    return loop[1]


def _tile(training: bool, query: Any, key: Any) -> Any:
    import tensorflow as tf

    logits = tf.matmul(query, key, transpose_b=True)
    found = [tf.matmul(logits, key)]
    if training:
        again = tf.matmul(found[0], key, transpose_b=True)
        score_grad = tf.matmul(query + found[0], key, transpose_b=True)
        found += [
            tf.matmul(again, query, transpose_a=True),
            tf.matmul(score_grad, key),
            tf.matmul(score_grad, found[0], transpose_a=True),
        ]
    return 1e-30 * sum(x[0, 0, 0, 0] for x in found)
