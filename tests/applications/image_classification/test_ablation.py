import numpy as np
import pytest

from applications.image_classification import ablation
from applications.image_classification.presets import PRESETS
from applications.pipeline import run as runs
from applications.pipeline.config import override
from keras_attention.models.attention_cnn import ATTENTIONS


@pytest.fixture
def evaluated(root):
    """Makes runs of the preset as if they had been trained."""

    def make(gate, seed, accuracy, *settings):
        settings = [*settings, f"model.attention={gate}", f"train.seed={seed}"]
        config = override(PRESETS["compare"], settings)
        run = runs.create(root, "image_classification", "compare", config)
        run.record("train", {"seconds": 60.0 + seed}, {})
        values = {"accuracy": accuracy, "parameters": 1234, "multiply_adds": 5678}
        run.record("evaluate", {**values, "images_per_second": 1000.0}, {})

    return make


def test_every_gate_of_the_model_is_there():
    assert ablation.GATES == ATTENTIONS


def test_runs_that_are_there_make_the_table(evaluated, capsys):
    for gate in ablation.GATES:
        gain = 0.01 if gate == "cbam" else 0.0
        for seed, accuracy in enumerate((0.90, 0.91, 0.92)):
            evaluated(gate, seed, accuracy + gain)
            evaluated(gate, seed, 0.1, "train.epochs=1")  # of other settings
    assert ablation.main([]) == 0
    head, line, first, *others = capsys.readouterr().out.splitlines()
    assert head.startswith("| gate | accuracy, % | difference to none, points |")
    assert set(line) == {"|", "-", " "}
    assert first == "| none | 91.00 | - | 1,234 | 5,678 | 61 | 1,000 |"
    rows = {row.split(" | ")[0].strip("| "): row.split(" | ")[1:3] for row in others}
    assert rows.pop("cbam") == ["92.00", "+1.00 [+1.00, +1.00]"]
    assert set(map(tuple, rows.values())) == {("91.00", "+0.00 [+0.00, +0.00]")}


def test_the_interval_is_students():
    # Mean 2, standard error 1 / sqrt(3), t(0.975, 2) = 4.302653.
    assert ablation._interval(np.array([1.0, 2.0, 3.0])) == "+2.00 [-0.48, +4.48]"


@pytest.mark.parametrize("count", ["1", "x", ""])
def test_seeds_must_be_two_or_more(root, capsys, count):
    assert ablation.main([f"seeds={count}"]) == 2
    assert "`seeds` must be an integer of 2 or more" in capsys.readouterr().err


@pytest.mark.slow
def test_a_missing_run_is_made(root, settings, monkeypatch, capsys):
    monkeypatch.setattr(ablation, "GATES", ("none",))
    monkeypatch.setattr(ablation, "PRESET", "smoke")
    few = ("model.kind=cnn", "train.epochs=1", "data.train_limit=40", *settings)
    assert ablation.main(["seeds=2", *few]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    assert row.startswith("| none | ")
    assert len(runs.all_of(root, "image_classification")) == 2
    assert ablation.main(["seeds=2", *few]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == row
