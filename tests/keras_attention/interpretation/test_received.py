"""What positions get of all attention, and words of their pieces."""

import numpy as np
import pytest

from keras_attention.interpretation import group_sums, received

# Two heads, two queries, three keys.
SCORES = np.array([[[[1.0, 0, 0], [0, 1, 0]], [[0.5, 0.5, 0], [0, 0.5, 0.5]]]])


def test_the_mean_over_heads_and_queries():
    np.testing.assert_allclose(received(SCORES), [[0.375, 0.5, 0.125]])
    np.testing.assert_allclose(received(SCORES[:, 0]), [[0.5, 0.5, 0]])


def test_queries_of_padding_do_not_count():
    np.testing.assert_allclose(received(SCORES, [[1, 0]]), [[0.75, 0.25, 0]])
    assert received(SCORES, [[0, 0]]).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("scores", "mask", "message"),
    [
        (SCORES[0, 0], None, r"shape \(B, T, S\) or"),
        (SCORES, [[1, 1, 1]], r"`query_mask` must have the shape \(B, T\)"),
    ],
)
def test_wrong_shapes_are_refused(scores, mask, message):
    with pytest.raises(ValueError, match=message):
        received(scores, mask)


def test_pieces_become_words():
    values = [[0.5, 0.25, 0.25, 0.0], [1.0, 2.0, 4.0, 8.0]]
    groups = [[0, 0, 1, -1], [0, 1, 2, 2]]
    assert group_sums(values, groups).tolist() == [[0.75, 0.25, 0], [1, 2, 12]]
    assert group_sums([[1.0]], [[-1]]).shape == (1, 0)
    with pytest.raises(ValueError, match="same shape"):
        group_sums(values, [[0, 0]])
