import keras

from keras_attention.models._configured import ConfiguredModel


class Doubled(ConfiguredModel):
    """The smallest one: a dense layer."""

    def __init__(self, units, **kwargs):
        inputs = keras.Input((3,))
        super().__init__(inputs=inputs, outputs=keras.layers.Dense(units)(inputs))
        self._config = {"units": units}
        self.given = kwargs


def test_arguments_are_the_config():
    config = Doubled(5).get_config()
    assert config == {"name": config["name"], "trainable": True, "units": 5}


def test_made_again_by_its_constructor():
    again = Doubled.from_config({"name": "again", "trainable": False, "units": 5})
    assert again.output_shape == (None, 5)
    assert again.given == {"name": "again", "trainable": False}
