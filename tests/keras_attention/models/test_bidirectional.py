"""The GRU of the classifiers: both directions, and padding anywhere."""

import numpy as np
import pytest

from keras_attention.models._bidirectional import bidirectional_gru
from tests.backend import to_numpy


def test_each_direction_has_half_and_ends_in_its_last_state():
    encoder = bidirectional_gru(6, None, return_state=True)
    x = np.random.default_rng(0).normal(size=(2, 4, 5)).astype("float32")
    states, forward, backward = map(to_numpy, encoder(x))
    assert states.shape == (2, 4, 6)
    np.testing.assert_allclose(states[:, -1, :3], forward, atol=1e-6)
    np.testing.assert_allclose(states[:, 0, 3:], backward, atol=1e-6)
    # cuDNN would refuse padding before anything real, on a GPU.
    assert not encoder.forward_layer.use_cudnn
    assert not encoder.backward_layer.use_cudnn


def test_an_odd_size_is_refused():
    with pytest.raises(ValueError, match=r"`hidden_dim` must be even: .*hidden_dim=7"):
        bidirectional_gru(7, None)
