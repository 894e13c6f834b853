"""Formats by name, and that of Keras."""

import keras
import pytest

from keras_attention.layers._data_format import as_data_format, channels_axis


@pytest.mark.parametrize(
    ("name", "axis"), [("channels_last", -1), ("channels_first", 1)]
)
def test_a_format_by_name(name, axis):
    assert as_data_format(name) == name
    assert channels_axis(name) == axis


@pytest.mark.parametrize(
    ("name", "axis"), [("channels_last", -1), ("channels_first", 1)]
)
def test_that_of_keras(name, axis, monkeypatch):
    monkeypatch.setattr(keras.config, "image_data_format", lambda: name)
    assert as_data_format(None) == name
    assert channels_axis(None) == axis


@pytest.mark.parametrize("name", ["channels_middle", "", 1])
def test_others_are_refused(name):
    with pytest.raises(ValueError, match="must be one of 'channels_first', 'channels"):
        channels_axis(name)
