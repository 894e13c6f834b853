import json

import numpy as np
import pytest
import tensorflow as tf

from applications.pipeline import stages
from applications.pipeline.config import override
from tests.applications.pipeline.toy import PRESETS, Toy, ToyConfig, read

CONFIG = PRESETS["small"]


def test_train_records_and_writes_the_card(trained):
    (entry,) = trained.metrics()["train"]
    assert set(entry["metrics"]) == {
        "epochs",
        "best_epoch",
        "val_correct",
        "parameters",
        "seconds",
    }
    assert entry["metrics"]["parameters"] == 2 * 8 + 8 + 8 * 3 + 3
    assert "Tells three directions apart" in read(trained.directory / "card.md")


def test_evaluate_records_prints_and_returns(trained, capsys):
    metrics = stages.evaluate(Toy(), CONFIG, trained)
    assert metrics["accuracy"] > 0.9 > metrics["baselines"]["most_frequent"]
    printed = capsys.readouterr().out
    assert f"baselines.most_frequent: {metrics['baselines']['most_frequent']:.4g}" in (
        printed
    )
    (entry,) = trained.metrics()["evaluate"]
    assert entry["metrics"] == metrics
    assert "changed" not in entry["protocol"]
    assert "| accuracy |" in read(trained.directory / "card.md")


def test_changed_settings_stand_in_the_protocol(trained):
    stages.evaluate(Toy(), override(CONFIG, ["data.examples=31"]), trained)
    (entry,) = trained.metrics()["evaluate"]
    assert entry["protocol"]["changed"] == ["data.examples=31"]
    assert trained.config(ToyConfig) == CONFIG


def test_predict_answers_in_order_and_writes_nothing(trained):
    before = sorted(trained.directory.rglob("*"))
    answers = list(stages.predict(Toy(), CONFIG, trained, ["1,0", "-1,1", "1,0.1"]))
    assert answers == ["east", "north", "east"]
    assert sorted(trained.directory.rglob("*")) == before


def test_explain_returns_and_prints_figures(trained, capsys):
    figures = stages.explain(Toy(), CONFIG, trained, ["1,0"])
    assert [figure.parent for figure in figures] == [trained.directory / "figures"]
    assert capsys.readouterr().out == f"{figures[0]}\n"
    assert read(figures[0]).startswith("['1,0']")


def test_export_gives_the_answers_of_the_model(trained):
    path = stages.export(Toy(), CONFIG, trained)
    assert path == trained.directory / "saved_model" / "1"
    points = np.array([[0.1, 0.2], [3.0, -5.0], [0.0, 0.0]], "float32")
    loaded = tf.saved_model.load(path)
    served = loaded.serve(points)
    model = Toy().load_model(CONFIG, None, trained)
    np.testing.assert_allclose(served, model(points), atol=1e-6)
    (entry,) = trained.metrics()["export"]
    assert entry["metrics"]["bytes"] > 1000
    assert entry["metrics"]["endpoints"] == 1
    assert "SavedModel" in read(trained.directory / "card.md")


def test_a_failed_export_keeps_the_earlier_one(trained):
    class Failing(Toy):
        def export(self, config, data, model, directory):
            directory.mkdir()
            raise KeyError

    path = stages.export(Toy(), CONFIG, trained)
    with pytest.raises(KeyError):
        stages.export(Failing(), CONFIG, trained)
    assert (path / "saved_model.pb").exists()
    assert [child.name for child in path.parent.iterdir()] == ["1"]


def test_prepare_runs_for_new_runs_only(trained):
    class Counting(Toy):
        def prepare(self, config, run):
            raise AssertionError

    stages.train(Counting(), CONFIG, trained)


def test_metrics_are_plain_json(trained):
    stages.evaluate(Toy(), CONFIG, trained)
    assert json.loads(read(trained.directory / "metrics.json")) == trained.metrics()
