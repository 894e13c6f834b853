import errno
import zipfile

import keras
import numpy as np
import pytest

from applications.errors import UserError
from applications.pipeline import checkpoint
from applications.pipeline.checkpoint import Progress


def build(units=5, average=True):
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(units), keras.layers.Dropout(0.5)]
    )
    optimizer = keras.optimizers.Adam(0.1, use_ema=average, ema_momentum=0.5)
    model.compile(optimizer=optimizer, loss="mse")
    model.optimizer.build(model.trainable_variables)
    return model


def step(model, units=5):
    model.train_on_batch(np.ones((2, 3)), np.full((2, units), 7.0))


def values(model):
    every = [*model.variables, *model.optimizer.variables]
    return [np.array(keras.ops.convert_to_numpy(variable)) for variable in every]


def test_every_variable_comes_back_bit_equal(tmp_path):
    model = build()
    for _ in range(3):
        step(model)
    saved = values(model)
    progress = Progress([{"epoch": 1, "loss": 0.1 + 0.2}], 0.25, 1, 12.5, True)
    checkpoint.save(tmp_path / "state.npz", model, progress)
    other = build()
    assert checkpoint.restore(tmp_path / "state.npz", other) == progress
    for expected, found in zip(saved, values(other), strict=True):
        assert expected.dtype == found.dtype
        np.testing.assert_array_equal(expected, found)


def test_random_counters_are_part_of_the_state(tmp_path):
    paths = [variable.path for variable in build().variables]
    assert any("seed_generator_state" in path for path in paths)
    model = build()
    step(model)
    checkpoint.save(tmp_path / "state.npz", model, Progress())
    expected = np.array(model(np.ones((7, 3)), training=True))
    other = build()
    checkpoint.restore(tmp_path / "state.npz", other)
    np.testing.assert_array_equal(other(np.ones((7, 3)), training=True), expected)


def test_the_state_of_another_model_is_refused(tmp_path):
    checkpoint.save(tmp_path / "state.npz", build(units=5), Progress())
    with pytest.raises(UserError, match="another model"):
        checkpoint.restore(tmp_path / "state.npz", build(units=7))
    with pytest.raises(UserError, match="another model"):
        checkpoint.restore(tmp_path / "state.npz", build(average=False))


def test_a_full_disk_leaves_the_earlier_state(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    checkpoint.save(path, build(), Progress(seconds=1.0))

    def full(target, **arrays):
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(UserError, match="No space left on device"):
        checkpoint.save(path, build(), Progress(seconds=2.0))
    monkeypatch.undo()
    assert checkpoint.restore(path, build()).seconds == 1.0


def test_the_saved_model_has_no_optimizer_and_training_goes_on(tmp_path):
    model = build()
    step(model)
    path = tmp_path / "model.keras"
    checkpoint.save_model(path, model)
    assert path.stat().st_size > 0
    config = zipfile.ZipFile(path).read("config.json").decode()
    assert "Adam" not in config
    loaded = keras.saving.load_model(path)  # no warning about an optimizer either
    x = np.ones((2, 3))
    np.testing.assert_array_equal(loaded(x), model(x))
    step(model)
    assert int(model.optimizer.iterations.numpy()) == 2


def test_averaged_weights_are_the_averages_and_go_away_bit_by_bit():
    model = build()
    kernels = []
    for _ in range(3):
        step(model)
        kernels.append(np.array(model.layers[0].kernel))
    before = values(model)
    average = 0.5 * (0.5 * kernels[0] + 0.5 * kernels[1]) + 0.5 * kernels[2]
    with checkpoint.averaged_weights(model):
        np.testing.assert_allclose(model.layers[0].kernel, average, rtol=1e-6)
    for expected, found in zip(before, values(model), strict=True):
        np.testing.assert_array_equal(expected, found)


def test_weights_come_back_after_an_exception_too():
    model = build()
    step(model)
    step(model)
    before = values(model)

    def fail():
        with checkpoint.averaged_weights(model):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    for expected, found in zip(before, values(model), strict=True):
        np.testing.assert_array_equal(expected, found)


def test_without_averages_the_weights_stay():
    model = build(average=False)
    step(model)
    before = np.array(model.layers[0].kernel)
    with checkpoint.averaged_weights(model):
        np.testing.assert_array_equal(model.layers[0].kernel, before)
