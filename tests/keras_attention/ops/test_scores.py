"""Score functions against their formulae in float64."""

import numpy as np
import pytest
from keras import ops

from keras_attention.ops import scores
from tests.backend import tensor, to_numpy

B, N, T, S, H, K = 2, 3, 5, 7, 11, 13


def pairs(query, key):
    """Every query beside every key, `(B, N, T, S, H)`."""
    return query[..., :, None, :], key[..., None, :, :]


def general(query, key, kernel):
    return np.einsum("bnth,hk,bnsk->bnts", query, kernel, key)


def additive(query, key, scale):
    q, k = pairs(query, key)
    return (scale * np.tanh(q + k)).sum(-1)


def cosine(query, key, temperature=1.0):
    q, k = pairs(query, key)
    norms = np.linalg.norm(q, axis=-1) * np.linalg.norm(k, axis=-1)
    return (q * k).sum(-1) / norms / temperature


def gaussian(query, key, bandwidth):
    q, k = pairs(query, key)
    return -((q - k) ** 2).sum(-1) / (2 * bandwidth**2)


REFERENCES = {
    "dot": lambda q, k: np.einsum("bnth,bnsh->bnts", q, k),
    "scaled_dot": lambda q, k: np.einsum("bnth,bnsh->bnts", q, k) / np.sqrt(H),
    "general": general,
    "additive": additive,
    "cosine": cosine,
    "gaussian": gaussian,
}
WEIGHTS = {
    "general": [tensor(H, K, seed=3)],
    "additive": [tensor(H, seed=3)],
    "cosine": [ops.convert_to_tensor(0.7)],
    "gaussian": [ops.convert_to_tensor(1.3)],
}


def test_every_score_has_a_reference():
    assert set(REFERENCES) == set(scores.names())


@pytest.mark.parametrize("name", REFERENCES)
def test_equals_its_formula(name):
    query = tensor(B, N, T, H, seed=1)
    key = tensor(B, N, S, K if name == "general" else H, seed=2)
    weights = WEIGHTS.get(name, [])
    found = to_numpy(scores.get(name)(query, key, *weights))
    exact = [to_numpy(x).astype("float64") for x in (query, key, *weights)]
    # float32 sums of a dozen products of size 1 to 10.
    np.testing.assert_allclose(found, REFERENCES[name](*exact), rtol=2e-6, atol=1e-5)


def test_cosine_without_temperature():
    query, key = tensor(1, 1, T, H, seed=1), tensor(1, 1, S, H, seed=2)
    exact = cosine(to_numpy(query), to_numpy(key))
    np.testing.assert_allclose(to_numpy(scores.cosine(query, key)), exact, atol=1e-6)


def test_cosine_of_a_zero_vector_is_zero():
    zeros = ops.zeros((1, 1, 2, H))
    assert (to_numpy(scores.cosine(zeros, tensor(1, 1, S, H))) == 0).all()


def test_gaussian_keeps_the_digits_of_near_neighbours():
    """|q|^2 - 2 q k + |k|^2 would lose all of a distance of 1e-3 at 1000."""
    query = ops.convert_to_tensor([[[[1000.0]]]])
    key = ops.convert_to_tensor([[[[1000.0], [1000.125]]]])
    found = to_numpy(scores.gaussian(query, key, ops.convert_to_tensor(1.0)))
    np.testing.assert_allclose(found, [[[[0.0, -0.0078125]]]])


def test_c23_additive_is_bahdanaus():
    """C23: with the projections, the score has the published numbers."""
    query = np.array([[1.0, 0.0]]) @ np.array([[0.5, -0.25], [0.1, 0.3]])
    values = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]])
    key = values @ np.array([[0.2, 0.4], [-0.3, 0.6]])
    logits = scores.additive(
        ops.convert_to_tensor(query, "float32"),
        ops.convert_to_tensor(key, "float32"),
        ops.convert_to_tensor([1.0, -2.0]),
    )
    expected = [[-1.648439, 2.046176, -1.163534]]
    np.testing.assert_allclose(to_numpy(logits), expected, atol=1e-6)


def test_pairwise_scores_say_so():
    pairwise = {n for n in scores.names() if scores.is_pairwise(scores.get(n))}
    assert pairwise == {"additive", "gaussian"}


@pytest.mark.parametrize("name", REFERENCES)
def test_weight_shapes_fit(name):
    specs = scores.weights(name, H, K if name == "general" else H)
    given = [tuple(x.shape) for x in WEIGHTS.get(name, [])]
    assert [spec.shape for spec in specs.values()] == given


def test_scalars_are_kept_as_logarithms():
    (spec,) = scores.weights("cosine", H, H).values()
    kept = ops.convert_to_tensor(spec.initializer()(spec.shape))
    (value,) = scores.values("cosine", [kept])
    np.testing.assert_allclose(to_numpy(value), 0.1, rtol=1e-6)


@pytest.mark.parametrize("name", REFERENCES)
def test_soft_capped_is_the_score_inside_within_bounds(name):
    query = tensor(B, N, T, H, seed=1)
    key = tensor(B, N, S, K if name == "general" else H, seed=2)
    weights = WEIGHTS.get(name, [])
    capped = scores.SoftCapped(name, 1.5)
    found = to_numpy(capped(query, key, *weights))
    exact = [to_numpy(x).astype("float64") for x in (query, key, *weights)]
    expected = 1.5 * np.tanh(REFERENCES[name](*exact) / 1.5)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert scores.weights(capped, H, K) == scores.weights(name, H, K)
    assert scores.is_pairwise(capped) == scores.is_pairwise(scores.get(name))
    assert scores.get(capped) is capped


def test_soft_cap_is_taken_in_float32():
    """A cap below the rounding of float16 there would move no logit."""
    query, key = (ops.cast(x, "float16") for x in (tensor(1, 2, 4), tensor(1, 3, 4)))
    found = scores.SoftCapped("dot", 10_000.0)(query, key)
    expected = to_numpy(scores.dot(query, key))
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-4)
    assert "float32" in str(found.dtype)


def test_own_function_is_taken_as_it_is():
    def mine(query, key):
        return scores.dot(query, key) / 3

    assert scores.get(mine) is mine
    assert scores.weights(mine, H, H) == {}
    assert not scores.is_pairwise(mine)


def test_unknown_name_lists_the_valid_ones():
    with pytest.raises(ValueError, match=r"'additive', 'cosine'.*score='dott'"):
        scores.get("dott")
