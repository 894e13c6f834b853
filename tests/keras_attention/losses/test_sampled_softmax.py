"""The sampled softmax: equal to the full one on average, and what does not count."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.losses import (
    SampledCrossentropy,
    sampled_crossentropy,
    sampled_logits,
    token_crossentropy,
)
from tests.backend import to_numpy, value_and_gradients, with_mask

V, TARGET = 12, 4  # classes 1 to 12
LOGITS = np.random.default_rng(5).normal(scale=2, size=V + 1).astype("float32")
LOGITS[0] = -1e9  # padding is no class
BY_CHANCE = {
    "evenly": np.full(V, 1 / V),
    "by_counts": np.arange(1, V + 1) / np.arange(1, V + 1).sum(),
}


def drawn(chances, draws, number, seed=0):
    """Ids `(draws, number)` and the logarithm of their chances."""
    random = np.random.default_rng(seed)
    ids = random.choice(V, size=(draws, number), p=chances) + 1
    return ids, np.log(chances[ids - 1]).astype("float32")


def arguments(ids, log_q):
    """Those of both functions for the one target, once for each row of negatives."""
    count = len(ids)
    return np.full(count, LOGITS[TARGET]), LOGITS[ids], [TARGET] * count, ids, log_q


def full_loss():
    return float(to_numpy(token_crossentropy([TARGET], LOGITS[None]))[0])


@pytest.mark.parametrize("name", BY_CHANCE)
def test_the_sum_is_on_average_that_of_all_classes(name):
    ids, log_q = drawn(BY_CHANCE[name], draws=40_000, number=3)
    logits = to_numpy(sampled_logits(*arguments(ids, log_q)))
    sums = np.exp(logits.astype("float64")).sum(axis=-1)
    everything = np.exp(LOGITS.astype("float64")).sum()
    error = sums.std() / np.sqrt(len(sums))
    assert abs(sums.mean() - everything) < 4 * error < 0.1 * everything


@pytest.mark.parametrize("name", BY_CHANCE)
def test_the_loss_grows_to_that_of_all_classes(name):
    losses = []
    for number in (2, 20, 2000):
        ids, log_q = drawn(BY_CHANCE[name], draws=400, number=number)
        losses.append(to_numpy(sampled_crossentropy(*arguments(ids, log_q))).mean())
    full = full_loss()
    assert losses[0] < losses[1] < full + 0.02
    assert losses[2] == pytest.approx(full, abs=0.02)


def test_without_the_correction_it_is_another_loss():
    ids, log_q = drawn(BY_CHANCE["by_counts"], draws=400, number=2000)
    wrong = to_numpy(sampled_crossentropy(*arguments(ids, np.full_like(log_q, -2.5))))
    assert abs(wrong.mean() - full_loss()) > 0.2


def test_all_others_drawn_once_are_the_full_softmax():
    """Without replacement a share of K / n each: `log_q` is `-log(n)`."""
    ids = np.array([[i for i in range(1, V + 1) if i != TARGET]])
    log_q = np.full(ids.shape, -np.log(V - 1), "float32")
    found = to_numpy(sampled_crossentropy(*arguments(ids, log_q)))
    np.testing.assert_allclose(found, full_loss(), rtol=1e-5)


def test_the_target_and_padding_are_no_negatives():
    log_q = np.log(np.full((1, 4), 0.25, "float32"))
    given = arguments(np.array([[TARGET, 7, 0, 0]]), log_q)
    found = to_numpy(sampled_logits(*given))[0]
    # Two were drawn, of which one was the target: each counts by 1 / (2 * 0.25).
    expected = [LOGITS[TARGET], LOGITS[7] + np.log(2)]
    np.testing.assert_allclose(found[[0, 2]], expected, rtol=1e-6)
    np.testing.assert_array_equal(found[[1, 3, 4]], -1e9)
    nothing = arguments(np.array([[0, 0, 0, 0]]), log_q)
    assert to_numpy(sampled_crossentropy(*nothing)) == 0


def test_what_does_not_count_has_no_gradient():
    negatives = np.array([[TARGET, 7, 0]])
    log_q = np.log(np.full((1, 3), 0.25, "float32"))

    def loss(target, negative):
        return sampled_crossentropy(target, negative, [TARGET], negatives, log_q)

    logits = map(ops.convert_to_tensor, (LOGITS[[TARGET]], LOGITS[negatives]))
    _, (target, negative) = value_and_gradients(loss, *logits)
    assert target[0] < 0 < negative[0, 1]
    np.testing.assert_array_equal(negative[0, [0, 2]], 0)


def test_negatives_may_be_shared_by_an_axis_of_size_1():
    targets = np.array([[4, 7, 2]])
    ids = np.array([[7, 3]])
    log_q = np.log(np.array([[0.2, 0.1]], "float32"))
    own = LOGITS[targets]
    others = np.repeat(LOGITS[ids][:, None], 3, axis=1)  # (1, 3, 2)
    shared = to_numpy(
        sampled_logits(own, others, targets, ids[:, None], log_q[:, None])
    )
    for place, target in enumerate(targets[0]):
        alone = sampled_logits(own[:, place], others[:, place], [target], ids, log_q)
        np.testing.assert_allclose(shared[:, place], to_numpy(alone), rtol=1e-6)


# ----------------------------------------------------------------------- the Keras loss


def batch():
    targets = np.array([[5, 2, 0], [3, 0, 0]])
    logits = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    losses = to_numpy(ops.logsumexp(logits, axis=-1)) - logits[..., 0]
    return targets, logits, losses


def test_the_mean_is_over_the_targets_that_count():
    targets, logits, losses = batch()
    expected = losses[targets != 0].mean()
    loss = SampledCrossentropy()
    assert float(loss(targets, logits)) == pytest.approx(expected, rel=1e-5)
    assert float(loss(np.zeros_like(targets), logits)) == 0
    wide = np.pad(logits, [(0, 0), (0, 2), (0, 0)], constant_values=9)
    padded = loss(np.pad(targets, [(0, 0), (0, 2)]), wide)
    assert float(padded) == pytest.approx(expected, rel=1e-5)


def test_a_mask_of_the_logits_counts_too():
    targets, logits, losses = batch()
    mask = np.array([[True, False, True], [True, True, True]])
    found = SampledCrossentropy()(targets, with_mask(ops.array(logits), mask))
    expected = losses[(targets != 0) & mask].mean()
    assert float(found) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("shape", [(2,), (2, 1), (2, 3)])
def test_sample_weights_make_a_weighted_mean(shape):
    targets, logits, losses = batch()
    weights = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype("float32")
    every = np.broadcast_to(weights if len(shape) == 2 else weights[:, None], (2, 3))
    every = every * (targets != 0)
    found = SampledCrossentropy()(targets, logits, sample_weight=weights)
    expected = (losses * every).sum() / every.sum()
    assert float(found) == pytest.approx(expected, rel=1e-5)


def test_it_reloads_from_its_config():
    loss = SampledCrossentropy(ignore_class=7, name="mine")
    config = keras.losses.serialize(loss)
    assert config["registered_name"] == "keras_attention>SampledCrossentropy"
    assert keras.losses.deserialize(config).get_config() == loss.get_config()
