import numpy as np
import pytest
import tensorflow as tf

from applications.language_modeling.masking import Masking

SEED = tf.constant([5, 6])
BERT = Masking(
    vocabulary_size=100, mask_id=4, special_ids=(0, 1, 2, 3), max_predictions=20
)


def test_special_and_padding_tokens_are_never_masked_c76():
    """Start 1, end 2, padding 3, mask 4; every token that may be is chosen."""
    masking = Masking(
        vocabulary_size=9,
        mask_id=4,
        special_ids=(1, 2, 3),
        max_predictions=4,
        rate=1.0,
        mask_share=1.0,
        random_share=0.0,
    )
    inputs, labels, weights = masking(tf.constant([[1, 7, 8, 2, 3, 3]]), SEED)
    assert inputs["tokens"].numpy().tolist() == [[1, 4, 4, 2, 3, 3]]
    assert inputs["positions"].numpy().tolist() == [[1, 2, 0, 0]]
    assert labels.numpy().tolist() == [[7, 8, 0, 0]]
    assert weights.numpy().tolist() == [[1, 1, 0, 0]]


def test_shares_are_those_of_the_paper():
    ids = np.random.default_rng(0).integers(5, 100, (400, 128)).astype("int32")
    inputs, labels, weights = tf.nest.map_structure(
        np.asarray, BERT(tf.constant(ids), SEED)
    )
    tokens, positions = inputs["tokens"], inputs["positions"]
    assert np.all(weights.sum(axis=1) == 19)  # 0.15 * 128
    chosen = np.take_along_axis(tokens, positions, axis=1)[weights > 0]
    true = labels[weights > 0]
    assert np.array_equal(np.take_along_axis(ids, positions, 1)[weights > 0], true)
    # 7,600 tokens: three standard deviations are 0.014 of 0.8.
    assert abs(np.mean(chosen == 4) - 0.8) < 0.014
    # One in 95 random tokens is the token itself.
    assert abs(np.mean((chosen != 4) & (chosen != true)) - 0.1 * 94 / 95) < 0.011
    others = chosen[(chosen != 4) & (chosen != true)]
    assert others.min() >= 5
    assert len(np.unique(others)) == 95
    elsewhere = np.ones_like(ids, bool)
    np.put_along_axis(elsewhere, positions[:, :19], False, axis=1)
    assert np.array_equal(tokens[elsewhere], ids[elsewhere])


def test_positions_are_different_in_order_and_anywhere():
    ids = tf.fill([300, 16], 50)
    inputs, _, weights = BERT(ids, SEED)
    positions, weights = inputs["positions"].numpy(), weights.numpy()
    assert positions.shape == weights.shape == (300, 20)
    assert np.all(weights == ([1, 1] + 18 * [0]))  # round(2.4)
    assert np.all(positions[:, 0] < positions[:, 1])
    assert set(positions[:, :2].ravel()) == set(range(16))
    assert not np.any(positions[:, 2:])


def test_rows_are_asked_for_one_token_at_least_and_no_more_than_fit():
    ids = tf.constant([[1, 50, 2, 0, 0, 0, 0, 0], [1, 2, 0, 0, 0, 0, 0, 0], [50] * 8])
    few = Masking(
        vocabulary_size=100,
        mask_id=4,
        special_ids=(0, 1, 2, 3),
        max_predictions=2,
        rate=0.5,
    )
    _, labels, weights = few(ids, SEED)
    assert weights.numpy().tolist() == [[1, 0], [0, 0], [1, 1]]
    assert labels.numpy().tolist() == [[50, 0], [0, 0], [50, 50]]


def test_a_seed_decides_and_nothing_else_in_a_graph_too():
    ids = tf.fill([2, 3, 40], 50)  # any leading axes
    eager = BERT(ids, SEED)
    in_graph = tf.function(BERT)(ids, SEED)
    tf.nest.map_structure(np.testing.assert_array_equal, eager, in_graph)
    other = BERT(ids, SEED + 1)[0]["positions"]
    assert not np.array_equal(other, eager[0]["positions"])
    assert not np.array_equal(eager[0]["positions"][0], eager[0]["positions"][1])


def test_shapes_are_known_before_it_runs():
    rows = tf.data.Dataset.from_tensors(tf.fill([8, 32], 50))
    inputs, labels, weights = rows.map(lambda ids: BERT(ids, SEED)).element_spec
    assert inputs["tokens"].shape == (8, 32)
    assert inputs["positions"].shape == labels.shape == weights.shape == (8, 20)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 0.0}, "`rate` must be in"),
        ({"mask_share": 0.95}, "and so must their sum"),
        ({"random_share": -0.1}, "must be in"),
        ({"vocabulary_size": 5}, "`special_ids` must leave other ids"),
    ],
)
def test_settings_are_checked(change, message):
    right = {
        "vocabulary_size": 9,
        "mask_id": 4,
        "special_ids": (0, 1, 2, 3),
        "max_predictions": 3,
    }
    with pytest.raises(ValueError, match=message):
        Masking(**{**right, **change})
