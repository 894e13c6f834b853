"""Formulas of `attend` by hand; `test_costs.py` has them against the traced graph."""

import pytest

from keras_attention.ops import scores
from keras_attention.ops.cost import attend_held, attend_multiply_adds

B, T, S, N, K, H, V = 2, 5, 7, 6, 3, 11, 13
QUERY, KEY, VALUE = (B, T, N, H), (B, S, K, H), (B, S, K, V)
PRODUCTS = {
    "dot": T * S * H,
    "scaled_dot": T * S * H,
    "cosine": T * S * H,
    "general": T * H * H + T * S * H,
    "additive": T * S * H,
    "gaussian": 0,
}


@pytest.mark.parametrize("score", scores.names())
def test_products_of_every_score(score):
    assert scores.multiply_adds(score, T, S, H, H) == PRODUCTS[score]
    found = attend_multiply_adds(QUERY, KEY, VALUE, score)
    assert found == B * N * (PRODUCTS[score] + T * S * V)


def test_general_compares_different_sizes():
    assert scores.multiply_adds("general", T, S, H, V) == T * H * V + T * S * V


def test_a_soft_cap_multiplies_nothing():
    capped = scores.SoftCapped("general", 50.0)
    assert scores.multiply_adds(capped, T, S, H, H) == PRODUCTS["general"]


def test_a_score_of_the_users_own_is_not_known():
    assert scores.multiply_adds(lambda q, k: q, T, S, H, H) is None
    assert attend_multiply_adds(QUERY, KEY, VALUE, lambda q, k: q) is None


@pytest.mark.parametrize("score", scores.names())
def test_what_is_held(score):
    pairs = score in ("additive", "gaussian")
    expected = B * N * T * S * (1 + H if pairs else 1)
    assert attend_held(QUERY, KEY, score) == expected
