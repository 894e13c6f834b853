"""The rule that picks a path, at its borders."""

import keras
import numpy as np
import pytest

from keras_attention import masks
from keras_attention.ops import dispatch
from keras_attention.ops._backend import has_fused_attention
from keras_attention.ops.problem import Problem
from keras_attention.ops.scores import additive, scaled_dot
from tests.backend import tensor, tensorflow_only


def chosen(query_length, key_length, bias=0.0, score=scaled_dot, mask=None, batch=1):
    """The path for one head of size 16; a bias keeps the fused kernel out."""
    query = keras.KerasTensor((batch, query_length, 1, 16))
    key = keras.KerasTensor((batch, key_length, 1, 16))
    offset = 0 if None in (query_length, key_length) else key_length - query_length
    problem = Problem(score, mask, offset, 0.0, None)
    return dispatch.choose(problem, query, key, key, bias)


def test_blockwise_where_a_mask_spares_a_quarter_of_many_scores():
    causal = masks.Causal()
    assert chosen(512, 512, mask=causal) == "blockwise"
    assert (
        chosen(512, 512, mask=causal & masks.Dense(np.ones((1, 512), bool)))
        == "blockwise"
    )
    assert chosen(511, 511, mask=causal) == "dense"
    assert chosen(512, 512) == "dense"
    assert chosen(512, 512, mask=masks.Local(500)) == "dense"
    assert chosen(512, 512, mask=masks.Local(64)) == "blockwise"
    # One chunk of a long prompt sees nearly all keys that came before.
    assert chosen(512, 4096, mask=causal) == "dense"


def test_blockwise_where_the_scores_would_not_fit():
    assert chosen(2**14, 2**14) == "blockwise"
    assert chosen(2**13, 2**13) == "dense"
    assert chosen(2**13, 2**13, batch=4) == "blockwise"
    assert chosen(2**13, 2**13, batch=None) == "blockwise"


def test_a_score_of_pairs_counts_every_feature():
    assert chosen(512, 512, score=additive) == "dense"
    assert chosen(512, 512, score=additive, batch=32) == "blockwise"


def test_one_query_and_unknown_lengths_are_dense():
    assert chosen(1, 2**29) == "dense"
    assert chosen(None, 2**14) == "dense"
    assert chosen(2**14, None) == "dense"


@tensorflow_only
def test_tensorflow_has_no_fused_kernel():
    assert chosen(64, 64, bias=None) == "dense"


@pytest.mark.skipif(
    not has_fused_attention(*[tensor(1, 1)] * 2),
    reason="this backend has no fused kernel on this device",
)
def test_only_what_the_kernel_computes_is_fused():
    causal = masks.Causal()
    assert chosen(8, 8, None) == chosen(8, 8, None, mask=causal) == "fused"
    assert chosen(4, 8, None, mask=causal) == "dense"
    assert chosen(8, 8, None, mask=masks.Local(3)) == "dense"
    assert chosen(8, 8) == "dense"  # it knows no bias
    query, key = keras.KerasTensor((1, 8, 1, 16)), keras.KerasTensor((1, 8, 1, 12))
    problem = Problem(scaled_dot, None, 0, 0.0, None)
    assert dispatch.choose(problem, query, query, key, None) == "dense"
