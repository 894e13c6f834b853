from applications.pipeline import card
from applications.pipeline.run import create
from tests.applications.pipeline.toy import PRESETS

CONFIG = PRESETS["small"]


def write(tmp_path, **metrics):
    run = create(tmp_path, "toy", "small", CONFIG)
    for stage, entries in metrics.items():
        for values, conditions in entries:
            run.record(stage, values, conditions)
    card.write(run, "\nTells directions apart.\n", CONFIG)
    return run, (run.directory / "card.md").read_text(encoding="utf-8")


def test_card_of_an_evaluated_run(tmp_path):
    scores = {
        "bleu": 27.123456,
        "copy": {"bleu": 2.5},
        "signature": "a|b",
        "n": 1234567,
    }
    _, text = write(tmp_path, evaluate=[(scores, {})])
    assert text.startswith("# toy: small-001\n\nTells directions apart.\n")
    assert "| bleu | 27.12 |" in text
    assert "| copy.bleu | 2.5 |" in text
    assert "| signature | a\\|b |" in text
    assert "| n | 1234567 |" in text
    assert "Measured 20" in text
    assert "python -m applications.toy predict run=small-001 input=..." in text
    assert "| train.epochs | 5 |" in text
    assert "SavedModel" not in text


def test_the_newest_entry_with_the_runs_own_settings_stands(tmp_path):
    entries = [({"x": 1}, {}), ({"x": 2}, {}), ({"x": 3}, {"changed": ["data.y=1"]})]
    _, text = write(tmp_path, evaluate=entries)
    assert "| x | 2 |" in text
    assert "| x | 3 |" not in text


def test_changed_settings_are_said_where_there_is_nothing_else(tmp_path):
    _, text = write(tmp_path, evaluate=[({"x": 3}, {"changed": ["data.y=1"]})])
    assert "changed settings: data.y=1." in text


def test_an_exported_model_is_mentioned(tmp_path):
    run, _ = write(tmp_path)
    run.path("saved_model", "1", "x")
    card.write(run, "", CONFIG)
    assert "tf.saved_model.load" in (run.directory / "card.md").read_text()
