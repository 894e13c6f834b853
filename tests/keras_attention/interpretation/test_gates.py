"""Gates as numbers of channels and positions."""

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import channel_gates, position_gates

B, H, W, C = 2, 3, 5, 7


def test_a_gate_of_everything_is_averaged():
    gate = np.random.default_rng(0).uniform(size=(B, H, W, C))
    for given, data_format in [
        (gate, "channels_last"),
        (gate.transpose(0, 3, 1, 2), "channels_first"),
    ]:
        channels = channel_gates(given, data_format)
        np.testing.assert_allclose(channels, gate.mean(axis=(1, 2)), atol=1e-6)
        positions = position_gates(given, data_format)
        np.testing.assert_allclose(positions, gate.mean(axis=3), atol=1e-6)


def test_what_a_gate_does_not_know_costs_nothing():
    gate = np.random.default_rng(0).uniform(size=(B, 1, 1, C)).astype("float32")
    np.testing.assert_array_equal(channel_gates(gate), gate[:, 0, 0])
    gate = np.random.default_rng(0).uniform(size=(B, H, W, 1)).astype("float32")
    np.testing.assert_array_equal(position_gates(gate), gate[..., 0])


def test_half_precision_is_taken():
    found = channel_gates(ops.ones((B, 1, 1, C), dtype="bfloat16"))
    assert found.dtype == np.float32


@pytest.mark.parametrize("measure", [channel_gates, position_gates])
def test_other_shapes_and_formats_are_refused(measure):
    with pytest.raises(ValueError, match=r"four axes.*shape=\(2, 1, 1, 7, 3\)"):
        measure(np.ones((B, 1, 1, C, 3)))
    with pytest.raises(ValueError, match="`data_format` must be one of"):
        measure(np.ones((B, H, W, C)), "channels_middle")
