"""Models of random weights whose choices are no near ties."""

import keras

from tests.backend import to_numpy


def restarted(model):
    """Larger weights, for choices that are no near ties.

    `keras.utils.set_random_seed` would destroy the tokenizer.
    """
    noise = keras.initializers.RandomNormal(0.0, 0.3, seed=1)
    model.set_weights([w + to_numpy(noise(w.shape)) for w in model.get_weights()])
    return model
