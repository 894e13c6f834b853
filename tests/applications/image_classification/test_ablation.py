import shutil

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


def test_runs_that_are_there_make_the_table(evaluated, monkeypatch, capsys):
    monkeypatch.setattr(ablation, "GATES", ("none", "bam", "cbam"))
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


@pytest.mark.thorough
def test_a_real_run_has_what_the_table_shows(smoke_run, settings, monkeypatch, capsys):
    """The smoke run is that of seed 0; another stands in for that of seed 1."""
    monkeypatch.setattr(ablation, "GATES", ("none",))  # of its transformer: the default
    monkeypatch.setattr(ablation, "PRESET", "smoke")
    other = runs.create(
        smoke_run.directory.parents[1],
        "image_classification",
        "smoke",
        override(PRESETS["smoke"], [*settings, "train.seed=1"]),
    )
    shutil.copy(smoke_run.path("metrics.json"), other.path("metrics.json"))
    assert ablation.main(["seeds=2", *settings]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    measured = smoke_run.results()["evaluate"]["metrics"]
    expected = f"| none | {100 * measured['accuracy']:.2f} | - | "
    expected += f"{measured['parameters']:,} | {measured['multiply_adds']:,} | "
    assert row.startswith(expected)
