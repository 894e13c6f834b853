import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.ops import tiling
from keras_attention.ops.block_summary import _Inside, _Summaries, attend_blocks
from keras_attention.ops.masks import EMPTY, FULL, Blocks
from tests.backend import tensor, to_numpy, value_and_gradients
from tests.keras_attention.ops.masks.cases import dense


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7), st.integers(1, 20), st.booleans(), st.integers(1, 6))
def test_block_states_are_never_wrong(size, key_length, is_causal, width):
    columns = key_length + -(-key_length // size)
    for mask in (_Inside(size, key_length), _Summaries(size, key_length, is_causal)):
        queries = Blocks(np.arange(key_length), np.arange(0, key_length, width))
        keys = Blocks(np.arange(columns), np.arange(0, columns, width))
        states = mask.block_states(queries, keys)
        whole = dense(mask, key_length, columns, 0)
        for i, j in np.ndindex(states.shape):
            block = whole[i * width : (i + 1) * width, j * width : (j + 1) * width]
            assert states[i, j] != EMPTY or not block.any()
            assert states[i, j] != FULL or block.all()


@pytest.mark.parametrize("is_causal", [False, True])
def test_blockwise_equals_dense_with_gradients(is_causal, monkeypatch):
    for name, value in (("TILE_ROWS", 8), ("KEY_BLOCK", 4), ("PASS_COST", -(10**6))):
        monkeypatch.setattr(tiling, name, value)
    tensors = [tensor(2, 30, 2, 5, seed=i) for i in range(3)]
    mask = np.random.default_rng(0).integers(0, 2, (2, 30)).astype(bool)

    def attention(path):
        return lambda q, k, v: attend_blocks(
            q, k, v, 7, key_mask=mask, is_causal=is_causal, implementation=path
        )

    dense_path, blockwise = (
        value_and_gradients(attention(path), *tensors)
        for path in ("dense", "blockwise")
    )
    np.testing.assert_allclose(blockwise[0], dense_path[0], atol=2e-6)
    for found, exact in zip(blockwise[1], dense_path[1], strict=True):
        np.testing.assert_allclose(found, exact, atol=1e-5)


def test_scores_end_with_those_of_summaries():
    x = tensor(1, 10, 1, 4)
    _, scores = attend_blocks(x, x, x, 4, return_attention_scores=True)
    assert scores.shape[-1] == 13
    np.testing.assert_allclose(to_numpy(scores).sum(-1), 1.0, atol=1e-6)
