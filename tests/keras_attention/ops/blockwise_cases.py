"""Masks, inputs and the comparison that the tests of the blockwise path share."""

import keras
import numpy as np
from keras import ops

from keras_attention import masks
from keras_attention.ops import attend
from tests.backend import (
    tensor,
    value_and_gradients,
)

B, N, H, V = 2, 2, 5, 3
T, S = 37, 53
SEED = np.array([7, 11], "uint32")

WEIGHTS = {
    "dot": [],
    "scaled_dot": [],
    # As large as a fresh layer's: logits of 20 would cost the softmax a digit.
    "general": [tensor(H, H, seed=3) / H**0.5],
    "additive": [tensor(H, seed=3)],
    "cosine": [ops.convert_to_tensor(0.7)],
    "gaussian": [ops.convert_to_tensor(1.5)],
}


def padding(query_length=T, key_length=S):
    """Padded keys and queries, and a sequence without any key."""
    random = np.random.default_rng(0)
    keys = random.integers(0, 2, (B, key_length))
    keys[1] = 0
    return masks.Padding(keys, random.integers(0, 2, (B, query_length)))


def some_dense(query_length=T, key_length=S):
    random = np.random.default_rng(1)
    return masks.Dense(random.integers(0, 2, (B, 1, query_length, key_length)))


def documents(query_length=T, key_length=S):
    ids = np.arange(B * key_length).reshape(B, key_length) // 13
    return masks.Causal() & masks.Documents(ids, ids[:, -query_length:])


MASKS = {
    "none": lambda *lengths: None,
    "causal": lambda *lengths: masks.Causal(),
    "local": lambda *lengths: masks.Local(9),
    "causal & local": lambda *lengths: masks.Causal() & masks.Local(7),
    "causal | local": lambda *lengths: masks.Causal() | masks.Local(20),
    "padding": padding,
    "causal & padding": lambda *lengths: masks.Causal() & padding(*lengths),
    "causal | local | padding": lambda *lengths: (
        masks.Causal() | masks.Local(5) | padding(*lengths)
    ),
    "dense": some_dense,
    "dilated": lambda *lengths: masks.Dilated(3, 5),
    "strided": lambda *lengths: masks.Strided(7) & masks.Causal(),
    "fixed & padding": lambda *lengths: masks.Fixed(16, 2) & padding(*lengths),
    "block": lambda *lengths: masks.Block(20),
    "global | local": lambda *lengths: masks.Global(3) | masks.Local(5),
    "big bird": lambda *lengths: masks.BigBird(5, 2, 2, 8, 64),
    "causal | prefix": lambda *lengths: masks.Causal() | masks.Prefix(11),
    "predicate": lambda *lengths: masks.Predicate(lambda i, j: (i - j) % 9 < 3),
    "documents": lambda *lengths: documents(*lengths),
    "documents | dilated": lambda *lengths: (
        masks.Documents(np.arange(B * lengths[1]).reshape(B, -1) // 13)
        & masks.Dilated(None, 5)
    ),
}
BIASES = [(S,), (T, S), (N, T, S), (1, N, T, S), (B, 1, 1, S), (B, N, T, 1)]


def inputs(query_length=T, key_length=S):
    """Query, key and value."""
    return [
        tensor(B, query_length, N, H, seed=0),
        tensor(B, key_length, N, H, seed=1),
        tensor(B, key_length, N, V, seed=2),
    ]


def attention(implementation, score="scaled_dot", bias=False, **options):
    """`attend` as a function of query, key, value, then bias and score weights."""

    def function(query, key, value, *rest):
        return attend(
            query,
            key,
            value,
            bias=rest[0] if bias else None,
            score=score,
            score_weights=rest[1 if bias else 0 :],
            implementation=implementation,
            **options,
        )

    return function


def check(tensors, score="scaled_dot", jit=None, **options):
    """Blockwise equals dense in the output and in the gradient of every tensor."""
    dense = value_and_gradients(attention("dense", score, **options), *tensors)
    found = value_and_gradients(
        attention("blockwise", score, **options), *tensors, jit=jit
    )
    # 1e-6 is the contract's; JAX's products of other shapes round up to twice that.
    rounding = 2e-6 if keras.backend.backend() == "jax" else 1e-6
    np.testing.assert_allclose(found[0], dense[0], rtol=1e-6, atol=rounding)
    for index, (x, exact) in enumerate(zip(found[1], dense[1], strict=True)):
        assert x.shape == exact.shape
        # Gradients of score weights are float32 sums over thousands of pairs, which
        # cancel; relative to the largest entry they are good to 1e-5.
        scale = 1 + np.abs(exact).max()
        assert np.abs(x - exact).max() < 1e-5 * scale, f"gradient of tensor {index}"


UNIONS = ("strided", "fixed & padding", "global | local", "big bird")
