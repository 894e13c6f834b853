"""The whole application, as a user meets it."""

import itertools
import os

import numpy as np
import pytest

from applications.kernel_regression.application import KernelRegression
from applications.kernel_regression.data import points_of
from applications.kernel_regression.presets import PRESETS
from applications.pipeline import run as runs
from applications.pipeline import stages, training
from applications.pipeline.config import override
from tests.applications.command_line import assert_holds, history
from tests.applications.kernel_regression.conftest import regress

SMOKE = PRESETS["smoke"]


def small_run(root, *settings):
    """A trained run of few steps."""
    config = override(SMOKE, ["data.passes=1", *settings])
    run = runs.create(root, "kernel_regression", "smoke", config)
    stages.train(KernelRegression(), config, run)
    return config, run


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, capsys):
    printed = regress.told(smoke, capsys)
    assert "baselines.fixed_kernel.bandwidth: 0.5" in printed["evaluate"]
    answers = [float(line) for line in printed["predict"].splitlines()]
    assert len(answers) == 3
    assert answers[0] > 0.2 > -0.2 > answers[1]  # of a sine
    names = [os.path.basename(path) for path in printed["explain"].splitlines()]
    assert names == ["fit.png", "query-0-5.png", "weights.png", "bandwidths.png"]
    assert "SavedModel alone equals this process on 52 numbers" in printed["export"]


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    assert_holds(smoke_run, "points.npz")
    first, second = history(smoke_run)
    assert float(second["loss"]) < float(first["loss"])
    assert float(second["val_leave_one_out"]) < float(first["val_leave_one_out"])
    metrics = smoke_run.metrics()["evaluate"][0]["metrics"]
    assert metrics["mse"] < 0.5 * metrics["baselines"]["mean"]["mse"]
    assert metrics["parameters"] == 2 * 32 + 2 * 32 * 32
    with np.load(smoke_run.path("points.npz")) as points:
        assert len(points["x"]) == 150
        assert not set(points["x"]) & set(points["test_x"])
    assert (
        "licence: none needed, drawn at random" in smoke_run.path("card.md").read_text()
    )


@pytest.mark.slow
def test_a_run_keeps_its_points(smoke_run, capsys):
    for setting in ("data.name=sine", "train.seed=1"):
        line = regress.refused(capsys, "evaluate", "--preset", "smoke", setting)
        assert "which are held out, belong to a run" in line
    line = regress.refused(capsys, "predict", "--preset", "smoke", "input=1,5")
    assert "Input 1: expected a finite number. Received: '1,5'." in line


def test_a_fixed_kernel_needs_no_training(root):
    config, run = small_run(root, "model.kind=fixed", "data.name=sine")
    found = stages.evaluate(KernelRegression(), config, run)
    assert found["parameters"] == 0
    assert found["bandwidth"] == 0.5
    # The layer and NumPy: the same kernel, the same numbers.
    assert found["mse"] == pytest.approx(
        found["baselines"]["fixed_kernel"]["mse"], 1e-5
    )
    assert found["mse"] < 0.1 * found["baselines"]["mean"]["mse"]


def test_a_file_of_ones_own_and_a_learned_bandwidth(root, own_file):
    columns = ["data.x_column=hour", "data.y_column=load"]
    config, run = small_run(
        root, f"data.name={own_file}", *columns, "model.kind=learned"
    )
    own_file.unlink()  # the run has its points
    application = KernelRegression()
    data, model = stages.load(application, config, run)
    assert model.bandwidth != pytest.approx(data.bandwidth_or(None), 1e-4)
    (line,) = application.predict(config, data, model, ["4"])
    assert data.y.min() <= float(line) <= data.y.max()


def test_batches_depend_on_seed_and_epoch_alone():
    application = KernelRegression()
    config = override(SMOKE, ["data.name=sine", "data.passes=2"])
    training.seed(config.train)  # as every stage does
    data = points_of(config.data, 0)
    found = application.train_batches(config, data)
    epochs = [
        [x.numpy()[:, 0] for x, _ in found.epoch(np.int64(number))]
        for number in (0, 1, 1)
    ]
    assert found.batches_per_epoch == 4
    assert [len(batch) for batch in epochs[0]] == [32, 18, 32, 18]
    first, second, again = map(np.concatenate, epochs)
    np.testing.assert_array_equal(second, again)
    passes = [first[:50], first[50:], second[:50]]
    for one in passes:
        np.testing.assert_allclose(np.sort(one), np.sort(data.x), atol=1e-6)
    assert all((a != b).any() for a, b in itertools.pairwise(passes))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'?"),
        ("train --preset smoke model.kind=mean", "`model.kind` must be one of fixed"),
        ("train --preset smoke data.name=missing.csv", "missing.csv cannot be read"),
        ("train --preset smoke data.name=nil", "Did you mean 'nile'?"),
        ("train --preset smoke model.bandwidth=-1", "`bandwidth` must be above 0"),
        ("train --preset smoke data.test_share=1", "`test_share` must be in (0, 1)"),
        ("evaluate --preset smoke", "There is no trained run of preset 'smoke'"),
    ],
)
def test_bad_input_is_one_line(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in regress.refused(capsys, *arguments.split())
    assert regress.listing(root) == []
