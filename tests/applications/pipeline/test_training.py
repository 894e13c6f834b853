"""Training, and above all: an interrupted one ends as an uninterrupted one does."""

import errno
import random
import signal
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.pipeline import checkpoint, stages, training
from applications.pipeline import run as runs
from applications.pipeline.application import Quality, TrainBatches
from applications.pipeline.config import override
from tests.applications.pipeline import toy
from tests.applications.pipeline.toy import PRESETS, Toy

STEPS = 6  # of one epoch


class PowerCutError(Exception):
    pass


class CutToy(Toy):
    """Stops in the middle of step `at`, once."""

    def __init__(self, at):
        self.at = at

    def train(self, config, data, run):
        def cut(batch, logs=None):
            self.at -= 1
            if self.at == 0:
                raise PowerCutError

        callbacks = [keras.callbacks.LambdaCallback(on_train_batch_end=cut)]
        return training.fit(self, config, data, run, callbacks)


def train(root, *settings, application=None):
    config = override(PRESETS["small"], settings)
    run = runs.create(root, "toy", "small", config)
    stages.train(application or Toy(), config, run)
    return run


def interrupted(root, at, *settings):
    config = override(PRESETS["small"], settings)
    run = runs.create(root, "toy", "small", config)
    application = CutToy(at)
    with pytest.raises(PowerCutError):
        stages.train(application, config, run)
    stages.train(application, config, run)
    return run


def state(run):
    with np.load(run.state) as archive:
        return {name: archive[name] for name in archive}


def assert_same_training(one, two):
    left, right = state(one), state(two)
    assert set(left) == set(right)
    for name in set(left) - {"progress"}:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)
    history = [toy.read(run.directory / "history.csv") for run in (one, two)]
    assert history[0] == history[1]
    best = [keras.saving.load_model(run.model).get_weights() for run in (one, two)]
    for a, b in zip(*best, strict=True):
        np.testing.assert_array_equal(a, b)


def progress(run):
    config = run.config(toy.ToyConfig)
    application = Toy()
    data = application.load(config, run)
    model = application.build_model(config, data)
    model.compile(optimizer=training.optimizers.build(config.train, 1), loss="mse")
    model.optimizer.build(model.trainable_variables)
    return checkpoint.restore(run.state, model)


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(3, id="first epoch"),
        pytest.param(2 * STEPS + 3, id="middle of an epoch"),
        pytest.param(2 * STEPS + 1, id="first step of an epoch"),
    ],
)
def test_resume_is_exact(root, trained_home, at):
    reference = runs.find(trained_home, "toy", name="small-001")
    assert_same_training(reference, interrupted(root, at))


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(["train.precision=mixed_float16"], id="mixed precision"),
        pytest.param(
            ["train.average_decay=none", "train.schedule=inverse_sqrt"], id="no average"
        ),
    ],
)
def test_resume_is_exact_with(root, settings):
    reference = train(root, *settings)
    assert_same_training(reference, interrupted(root, 2 * STEPS + 3, *settings))


@pytest.mark.slow
def test_resume_is_exact_after_kill_9(root, trained_home, monkeypatch):
    command = [sys.executable, "-m", "tests.applications.pipeline.toy", "train"]
    monkeypatch.setenv("KILL_AT", str(2 * STEPS + 3))
    killed = subprocess.run(command, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    run = runs.find(root, "toy", name="small-001")
    assert len(toy.read(run.directory / "history.csv").splitlines()) == 3
    monkeypatch.delenv("KILL_AT")
    subprocess.run([*command, "run=small-001"], check=True, timeout=120)
    reference = runs.find(trained_home, "toy", name="small-001")
    assert_same_training(reference, run)


def test_random_numbers_drawn_for_the_data_do_not_count(root):
    """TFDS draws some where it prepares a corpus, which the next run finds there."""

    class Drawing(Toy):
        def load(self, config, run):
            random.random()
            return super().load(config, run)

    settings = ("train.epochs=1",)
    drawing = train(root, *settings, application=Drawing())
    assert_same_training(train(root, *settings), drawing)


def test_a_resume_in_the_last_wait_stops_early_all_the_same(root):
    settings = [  # nothing is learned: the first epoch stays the best
        "train.learning_rate=1e-12",
        "train.epochs=9",
        "train.patience=2",
        "train.average_decay=none",
    ]
    reference = train(root, *settings)
    found = progress(reference)
    assert (found.best_epoch, len(found.history), found.complete) == (1, 3, True)
    assert_same_training(reference, interrupted(root, 2 * STEPS + 2, *settings))


def test_history_has_a_row_per_epoch(trained):
    header, *rows = toy.read(trained.directory / "history.csv").splitlines()
    assert header.split(",") == [
        "epoch",
        "learning_rate",
        "accuracy",
        "loss",
        "val_accuracy",
        "val_loss",
        "val_correct",
    ]
    assert [int(row.split(",")[0]) for row in rows] == [1, 2, 3, 4, 5]


def test_the_best_epoch_is_kept_with_averaged_weights(trained):
    found = progress(trained)
    column = [row["val_correct"] for row in found.history]
    assert found.best == max(column)
    assert found.best_epoch == column.index(max(column)) + 1
    config = trained.config(toy.ToyConfig)
    data = Toy().load(config, trained)
    model = Toy().load_model(config, data, trained)
    assert Toy().validate(config, data, model)["correct"] == found.best


def test_tensorboard_gets_training_and_validation(trained):
    assert {path.name for path in trained.logs.iterdir()} == {"train", "validation"}


def test_a_complete_run_is_left_alone(trained, capsys):
    before = {
        path: path.read_bytes()
        for path in trained.directory.rglob("*")
        if path.is_file()
    }
    stages.train(Toy(), trained.config(toy.ToyConfig), trained)
    assert "small-001: complete after epoch 5" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in before} == before


def test_a_full_disk_is_one_line_and_the_run_goes_on(root, trained_home, monkeypatch):
    config = PRESETS["small"]
    run = runs.create(root, "toy", "small", config)
    real, calls = np.savez, []

    def full(target, **arrays):
        calls.append(target)
        if len(calls) == 4:  # before the first epoch, after 1, after 2, after 3
            target.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        real(target, **arrays)

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(UserError, match=r"training\.npz: No space left"):
        stages.train(Toy(), config, run)
    assert len(progress(run).history) == 2
    stages.train(Toy(), config, run)
    assert_same_training(runs.find(trained_home, "toy", name="small-001"), run)


def test_a_loss_that_is_not_finite_stops_with_advice(root):
    settings = [
        "train.learning_rate=1e30",
        "train.optimizer=sgd",
        "train.schedule=constant",
        "train.gradient_clip_norm=none",
    ]
    with pytest.raises(UserError, match=r"loss is (nan|inf) in epoch 1\. Lower train"):
        train(root, *settings)


def test_a_quality_nobody_reports_is_named(root):
    class Wrong(Toy):
        quality = Quality("val_bleu")

    with pytest.raises(ValueError, match=r"'val_bleu', which no epoch .*val_correct"):
        train(root, application=Wrong())


def test_an_unbuilt_model_is_refused(root):
    class Unbuilt(Toy):
        def build_model(self, config, data):
            return keras.Sequential([keras.layers.Dense(3)])

    with pytest.raises(ValueError, match="a model that is built"):
        train(root, application=Unbuilt())


def numbered(sizes):
    """Batches of one number each; epoch `e` has `sizes[e]` of them."""

    def epoch(number):
        length = tf.gather(tf.constant(sizes, "int64"), number)
        return tf.data.Dataset.range(length).map(lambda i: 100 * number + i)

    return TrainBatches(3, epoch)


def test_continuous_epochs_begin_where_they_are_told():
    batches = numbered([3, 3, 3, 3])
    found = training.continuous(batches, 1, 3)
    assert [int(x) for x in found] == [100, 101, 102, 200, 201, 202]


@pytest.mark.parametrize("sizes", [[3, 4, 3], [3, 2, 3]])
def test_an_epoch_of_another_length_is_an_error(sizes):
    with pytest.raises(
        tf.errors.FailedPreconditionError, match="expected to contain 3"
    ):
        list(training.continuous(numbered(sizes), 0, 3))


def test_the_global_precision_stays(root):
    train(root, "train.precision=mixed_bfloat16", "train.epochs=1")
    assert keras.config.dtype_policy().name == "float32"
