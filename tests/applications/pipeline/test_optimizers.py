import keras
import numpy as np
import pytest

from applications.pipeline import optimizers
from applications.pipeline.train_config import TrainConfig


def rate(config, step, steps=100):
    schedule = optimizers.schedule(config, steps)
    value = schedule(step) if callable(schedule) else schedule
    return float(keras.ops.convert_to_numpy(value))


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd", "rmsprop"])
def test_every_optimizer_takes_every_setting(name):
    config = TrainConfig(
        optimizer=name,
        learning_rate=0.25,
        beta_2=0.98,
        weight_decay=0.5,
        gradient_clip_norm=3.0,
        average_decay=0.9,
    )
    optimizer = optimizers.build(config, 10)
    assert type(optimizer).__name__.lower() == name
    built = optimizer.get_config()
    assert built["learning_rate"] == 0.25
    assert built["weight_decay"] == 0.5
    assert built["global_clipnorm"] == 3.0
    assert (built["use_ema"], built["ema_momentum"]) == (True, 0.9)
    assert built.get("beta_2", 0.98) == 0.98


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd", "rmsprop"])
def test_defaults_decay_and_average_nothing(name):
    optimizer = optimizers.build(TrainConfig(optimizer=name), 10)
    variable = keras.Variable(np.full((2, 3), 7.0), name="kernel")
    optimizer.build([variable])
    optimizer.apply([keras.ops.zeros((2, 3))])
    np.testing.assert_array_equal(variable, np.full((2, 3), 7.0))
    assert not any("average" in v.path for v in optimizer.variables)


def test_weight_decay_spares_biases_and_norms():
    inputs = keras.Input((5,), dtype="int32")
    x = keras.layers.Embedding(7, 3)(inputs)
    x = keras.layers.LayerNormalization()(x)
    x = keras.layers.RMSNormalization()(x)
    model = keras.Model(inputs, keras.layers.Dense(2, name="bias")(x))
    for variable in model.variables:
        variable.assign(keras.ops.ones_like(variable))
    config = TrainConfig(optimizer="sgd", weight_decay=0.1, learning_rate=0.1)
    optimizer = optimizers.build(config, 10)
    optimizer.build(model.trainable_variables)
    optimizer.apply([keras.ops.zeros(v.shape) for v in model.trainable_variables])
    shrunk = [v.name for v in model.variables if np.all(np.array(v) < 1)]
    assert shrunk == ["embeddings", "kernel"]
    assert len(model.variables) == 6


def test_constant():
    assert rate(TrainConfig(learning_rate=0.3), 50) == 0.3
    warm = TrainConfig(learning_rate=0.3, warmup_steps=3)
    rates = [rate(warm, step) for step in range(5)]
    np.testing.assert_allclose(rates, [0.1, 0.2, 0.3, 0.3, 0.3], rtol=1e-6)


def test_inverse_sqrt_is_the_formula():
    config = TrainConfig(learning_rate=0.5, schedule="inverse_sqrt", warmup_steps=7)
    for step in (0, 5, 6, 7, 27, 1000):
        n = step + 1
        expected = 0.5 * min(n / 7, (7 / n) ** 0.5)
        np.testing.assert_allclose(rate(config, step), expected, rtol=1e-6)


def test_cosine_rises_and_ends_at_zero():
    config = TrainConfig(learning_rate=0.5, schedule="cosine", warmup_steps=10)
    assert 0 < rate(config, 0) < 0.1
    np.testing.assert_allclose(rate(config, 10), 0.5, rtol=1e-6)
    np.testing.assert_allclose(rate(config, 55), 0.25, rtol=1e-6)
    assert rate(config, 100) == 0
    assert rate(TrainConfig(learning_rate=0.5, schedule="cosine"), 0) == 0.5


def test_warmup_comes_back_from_its_config():
    schedule = optimizers.Warmup(0.5, 7, decay=False)
    again = keras.optimizers.schedules.deserialize(
        keras.optimizers.schedules.serialize(schedule)
    )
    assert isinstance(again, optimizers.Warmup)
    assert again.get_config() == schedule.get_config()


@pytest.mark.parametrize(("peak", "steps"), [(0.0, 3), (1.0, 0)])
def test_warmup_refuses_nonsense(peak, steps):
    with pytest.raises(ValueError, match=r"must be|above 0"):
        optimizers.Warmup(peak, steps)
