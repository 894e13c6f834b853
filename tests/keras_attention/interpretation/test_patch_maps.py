"""Patches find their places in grids that are not square."""

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import (
    class_token_maps,
    patch_maps,
    rollout,
    word_maps,
)

GRID = (2, 3)  # 6 patches: three would also fit the other way round
B, N, L = 5, 4, 7


def test_rows_come_first():
    found = patch_maps(np.arange(6.0), GRID)
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found.dtype == np.float32


def test_the_class_token_is_left_out():
    assert patch_maps(np.arange(7.0), GRID).tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_pooling_scores_of_every_shape(dtype):
    for shape in [(B,), (B, N), (B, N, 1), (B, N, 2)]:
        scores = ops.ones((*shape, 6), dtype=dtype)
        assert patch_maps(scores, GRID).shape == (*shape, *GRID)


def test_class_token_maps_are_its_row_for_each_head():
    scores = np.random.default_rng(0).dirichlet(np.ones(L), size=(B, N, L))
    found = class_token_maps(ops.convert_to_tensor(scores), GRID)
    assert found.shape == (B, N, *GRID)
    # Patch (1, 2) is the last of six, token 6.
    np.testing.assert_allclose(found[:, :, 1, 2], scores[:, :, 0, 6], atol=1e-6)
    np.testing.assert_allclose(found[:, :, 0, 0], scores[:, :, 0, 1], atol=1e-6)
    own = scores[:, :, 0, 0]
    np.testing.assert_allclose(found.sum(axis=(2, 3)), 1 - own, atol=1e-6)


def test_class_token_maps_of_a_rollout():
    scores = np.random.default_rng(0).dirichlet(np.ones(L), size=(2, N, L))
    rolled = rollout([scores, scores])
    found = class_token_maps(rolled, GRID)
    np.testing.assert_allclose(found.reshape(2, 6), rolled[:, 0, 1:], atol=1e-6)


@pytest.mark.parametrize("length", [6, 7])
def test_word_maps_are_the_mean_of_the_heads_without_the_class_token(length):
    scores = np.random.default_rng(0).dirichlet(np.ones(length), size=(N, B))
    found = word_maps(ops.convert_to_tensor(scores), GRID, words=3)
    assert found.shape == (3, *GRID)
    expected = scores.mean(axis=0)[:3, length - 6 :].reshape(3, *GRID)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    single = word_maps(scores[0], GRID)
    np.testing.assert_allclose(single.reshape(B, 6), scores[0][:, -6:], atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "words"), [((6,), None), ((2, N, B, 6), None), ((N, B, 6), B + 1)]
)
def test_word_maps_are_of_one_text(shape, words):
    with pytest.raises(ValueError, match=r"must be those of one text.*words="):
        word_maps(np.ones(shape), GRID, words)


@pytest.mark.parametrize("shape", [(7, 6), (6, 6), (8, 8), (7,)])
def test_other_scores_have_no_class_token_maps(shape):
    with pytest.raises(ValueError, match=r"must end in \(7, 7\).*grid=\(2, 3\)"):
        class_token_maps(np.ones(shape), GRID)


@pytest.mark.parametrize("length", [5, 8])
def test_another_number_of_patches_is_refused(length):
    with pytest.raises(ValueError, match=r"class token before them: 6 or 7\."):
        patch_maps(np.ones(length), GRID)
