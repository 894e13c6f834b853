"""Functional models that are made by arguments, and saved by them."""

from typing import Any

import keras


class ConfiguredModel(keras.Model):
    """Base of a functional model whose config is the arguments of its constructor.

    Keras by itself would save the graph, which has none of the model's methods. A
    subclass sets `_config`, its arguments by name, after `super().__init__(inputs=...,
    outputs=...)`.
    """

    _config: dict[str, Any]

    def get_config(self):
        return {"name": self.name, "trainable": self.trainable, **self._config}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)
