import json
import subprocess

import keras
import numpy as np
import pytest

from applications.errors import UserError
from applications.pipeline import step_costs
from applications.pipeline.step_costs import StepCost
from applications.pipeline.train_config import TrainConfig


class Seen(keras.layers.Layer):
    """Notes the shapes with which a step is traced."""

    def __init__(self):
        super().__init__()
        self.shapes = []

    def call(self, inputs):
        self.shapes.append(tuple(inputs.shape))
        return inputs


@pytest.fixture
def model():
    def build():
        inputs = keras.Input((None, 1))
        return keras.Model(inputs, keras.layers.Dense(1)(Seen()(inputs)))

    return step_costs.compiled(TrainConfig(), build, "mse")


def batch(rows, length):
    return np.ones((rows, length, 1), "float32"), np.ones((rows, length, 1), "float32")


def test_the_step_that_is_measured_knows_its_shape(model):
    cost = step_costs.measured(model, batch(1, 2), batch(3, 5), seconds=0.01)
    assert cost.seconds > 0
    assert cost.megabytes >= 0
    assert model.layers[1].shapes[-1] == (3, 5, 1)


def test_parsed():
    lists = {"lengths": (1, 2), "kinds": ("a", "b")}
    assert step_costs.parsed([], lists) == ([["1", "2"], ["a", "b"]], [])
    found = step_costs.parsed(["train.epochs=3", "kinds=b", "x"], lists)
    assert found == ([["1", "2"], ["b"]], ["train.epochs=3", "x"])


def test_a_cell_is_told_to_the_process_that_asked(capsys):
    def measure(name, size):
        return StepCost(float(size), float(len(name)))

    arguments = [step_costs._ONE, "abc", "2"]
    assert step_costs.main("", arguments, pytest.fail, measure) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"seconds": 2.0, "megabytes": 3.0}


@pytest.mark.parametrize(
    ("code", "found"), [(0, {"seconds": 1.0}), (-9, None), (1, None)]
)
def test_a_process_that_dies_has_no_cost(monkeypatch, code, found):
    def run(command, **_):
        assert command[1:] == ["-m", "some.module", step_costs._ONE, "a", "1"]
        return subprocess.CompletedProcess(command, code, '{"seconds": 1.0}')

    monkeypatch.setattr(subprocess, "run", run)
    assert step_costs.alone("some.module", "a at 1", ["a", "1"]) == found


def test_what_cannot_be_measured_is_named(monkeypatch):
    ended = subprocess.CompletedProcess([], 2, "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(UserError, match="a at 1 cannot be measured"):
        step_costs.alone("some.module", "a at 1", ["a", "1"])
