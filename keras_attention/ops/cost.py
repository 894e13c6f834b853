"""What `attend` multiplies and holds on its dense path, from shapes alone.

The blockwise path multiplies less where a mask leaves blocks empty, and holds no
scores; the dense one is what all paths are compared with.
"""

import math

from keras_attention.ops import scores

Shape = tuple[int, ...]


def attend_multiply_adds(
    query_shape: Shape,
    key_shape: Shape,
    value_shape: Shape,
    score: str | scores.Score = "scaled_dot",
) -> int | None:
    """Multiply-adds of the scores and of the weighted sum of the values.

    `B N (score + T S V)`, with `T S H` for a dot product (`scores.multiply_adds` has
    the others). Fewer key/value heads save none: each serves several query heads.

    Args:
        query_shape: `(B, T, N, H)`.
        key_shape: `(B, S, K, H)`.
        value_shape: `(B, S, K, V)`.
        score: Name or function.

    Returns:
        The number, or `None` for a score function that is not one of ours.
    """
    batch, query_length, num_heads, query_size = query_shape
    _, key_length, _, key_size = key_shape
    of_score = scores.multiply_adds(
        score, query_length, key_length, query_size, key_size
    )
    if of_score is None:
        return None
    return batch * num_heads * (of_score + query_length * key_length * value_shape[-1])


def attend_held(
    query_shape: Shape, key_shape: Shape, score: str | scores.Score = "scaled_dot"
) -> int:
    """Numbers held between query-key product and output: the scores `(B, N, T, S)`.

    A score of pairs, such as the additive one, holds H numbers more for each of them.
    """
    batch, query_length, num_heads, _ = query_shape
    pairs = math.prod((batch, num_heads, query_length, key_shape[1]))
    each = 1 + key_shape[-1] if scores.is_pairwise(scores.get(score)) else 1
    return pairs * each
