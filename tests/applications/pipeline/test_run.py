import json
import os

import numpy as np
import pytest

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.pipeline.config import override
from applications.pipeline.run import create, find
from tests.applications.pipeline.toy import PRESETS, ToyConfig

CONFIG = PRESETS["small"]


def make(root, preset="small", model=True):
    run = create(root, "toy", preset, CONFIG)
    if model:
        run.model.write_text("")
    return run


def test_names_count_up_by_preset(tmp_path):
    made = [make(tmp_path, preset).name for preset in ("small", "small", "compare")]
    assert made == ["small-001", "small-002", "compare-001"]


def test_a_gap_is_not_filled(tmp_path):
    make(tmp_path).directory.rename(tmp_path / "toy" / "small-041")
    assert make(tmp_path).name == "small-042"


def test_another_process_may_be_faster(tmp_path, monkeypatch):
    make(tmp_path)
    monkeypatch.setattr(runs, "_directories", lambda home: [])  # seen before it came
    assert make(tmp_path).name == "small-002"


def test_a_run_knows_where_it_comes_from(tmp_path):
    config = override(CONFIG, ["train.epochs=7"])
    run = create(tmp_path, "toy", "small", config)
    again = find(tmp_path, "toy", name="small-001")
    assert again == run
    assert (again.application, again.preset) == ("toy", "small")
    assert again.config(ToyConfig) == config
    about = json.loads((run.directory / "config.json").read_text())
    assert about["started"]["versions"]["python"]


def test_find_takes_the_newest_trained_run_of_the_preset(tmp_path):
    for _ in range(11):
        run = make(tmp_path)
    make(tmp_path, model=False)
    make(tmp_path, preset="compare")
    assert find(tmp_path, "toy", preset="small") == run
    assert run.name == "small-011"


def test_find_by_name_takes_an_untrained_one_too(tmp_path):
    run = make(tmp_path, model=False)
    assert find(tmp_path, "toy", name=run.name) == run


def test_an_unknown_run_names_the_valid_ones(tmp_path):
    make(tmp_path)
    (tmp_path / "toy" / "notes").mkdir()  # not a run
    with pytest.raises(UserError) as raised:
        find(tmp_path, "toy", name="small-1")
    assert str(raised.value) == (
        "Unknown run of toy 'small-1'. Did you mean 'small-001'? Valid: small-001."
    )


def test_without_a_trained_run_the_command_is_given(tmp_path):
    with pytest.raises(UserError, match="train --preset small"):
        find(tmp_path, "toy", preset="small")


def test_a_root_that_cannot_be_written(tmp_path):
    (tmp_path / "toy").write_text("a file stands in the way")
    with pytest.raises(UserError, match=r"Cannot make .*: .+"):
        create(tmp_path, "toy", "small", CONFIG)


def test_record_accumulates_with_protocol(tmp_path):
    run = make(tmp_path)
    run.record("evaluate", {"bleu": np.float32(1.5), "n": np.int64(3)}, {})
    run.record("evaluate", {"bleu": float("nan")}, {"changed": ["data.x=1"]})
    run.record("export", {"lengths": np.array([1, 2])}, {})
    first, second = run.metrics()["evaluate"]
    assert first["metrics"] == {"bleu": 1.5, "n": 3}
    assert second["metrics"] == {"bleu": None}
    assert first["protocol"]["preset"] == "small"
    assert {"date", "revision", "machine", "versions"} <= set(first["protocol"])
    assert second["protocol"]["changed"] == ["data.x=1"]
    assert run.metrics()["export"][0]["metrics"] == {"lengths": [1, 2]}


def test_history_reads_back_bit_equal(tmp_path):
    run = make(tmp_path)
    loss = 0.1 + 0.2
    run.write_history([{"epoch": 1, "loss": loss}, {"epoch": 2, "loss": 1e-30}])
    header, first, second = (run.directory / "history.csv").read_text().splitlines()
    assert header == "epoch,loss"
    assert float(first.split(",")[1]) == loss
    assert float(second.split(",")[1]) == 1e-30


def test_two_trainings_of_one_run_are_refused(tmp_path):
    run = make(tmp_path)
    with run.exclusive(), pytest.raises(UserError, match="another process"):
        run.exclusive().__enter__()
    with run.exclusive():
        pass


def test_path_makes_the_directory(tmp_path):
    path = make(tmp_path).path("figures", "heads", "1.png")
    assert path.parent.is_dir()
    assert not path.exists()


def test_discard(tmp_path):
    run = make(tmp_path)
    run.path("state", "x").write_text("")
    run.discard()
    assert os.listdir(tmp_path / "toy") == []


def test_root(monkeypatch, tmp_path):
    monkeypatch.delenv(runs.ROOT_VARIABLE, raising=False)
    assert runs.default_root().name == "saved_models"
    assert (runs.default_root().parent / "applications").is_dir()
    monkeypatch.setenv(runs.ROOT_VARIABLE, str(tmp_path))
    assert runs.default_root() == tmp_path


def test_results_are_those_of_the_runs_own_settings(tmp_path):
    run = make(tmp_path)
    run.record("evaluate", {"f1": 1}, {})
    run.record("evaluate", {"f1": 2}, {"changed": ["data.examples=3"]})
    run.record("export", {"bytes": 3}, {"changed": ["data.examples=3"]})
    found = {stage: entry["metrics"] for stage, entry in run.results().items()}
    assert found == {"evaluate": {"f1": 1}, "export": {"bytes": 3}}
