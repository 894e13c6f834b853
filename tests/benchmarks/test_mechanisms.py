import keras
import numpy as np
import pytest

from benchmarks import contenders, mechanisms
from benchmarks.cases import BY_LENGTH
from keras_attention import layers

CASE = BY_LENGTH.at_length(64)


@pytest.mark.parametrize("name", mechanisms.OURS)
def test_ours_come_from_the_registry(name):
    layer = mechanisms.layer(name, CASE)
    assert type(layer) is layers.registry()[mechanisms.OURS[name][0]]


@pytest.mark.parametrize("name", [*mechanisms.OURS, "keras", "keras_hub"])
def test_a_step_differentiates_input_and_weights(name):
    keras.utils.set_random_seed(0)
    found = contenders.step(name, CASE)()
    assert found[0].shape == (1, 64, 256)
    assert all(np.isfinite(x).all() for x in map(np.asarray, found))


def test_peers_are_causal_as_ours_is():
    """The last output depends on the first input, the first on none but itself."""
    for name in ("full", "keras", "keras_hub"):
        layer, x = mechanisms.layer(name, CASE), np.ones((1, 5, 256), "float32")
        before = np.asarray(layer(x, x, **mechanisms.options(name, CASE)(5)))
        x[:, 1:] = 2
        after = np.asarray(layer(x, x, **mechanisms.options(name, CASE)(5)))
        np.testing.assert_allclose(after[:, 0], before[:, 0], atol=1e-5)
        assert np.abs(after[:, 1:] - before[:, 1:]).max() > 1e-3


def test_keras_takes_part_while_its_scores_fit():
    assert mechanisms.fits("keras", BY_LENGTH.at_length(8192))
    assert not mechanisms.fits("keras", BY_LENGTH.at_length(16384))
    assert mechanisms.fits("full", BY_LENGTH.at_length(16384))
