import pytest

from applications.translation import demo
from keras_attention import export
from tests.applications.translation.conftest import SMOKE


@pytest.mark.slow
def test_the_report_of_a_finished_run(smoke_run, monkeypatch, capsys):
    def ask(directory, batches, endpoints):
        assert (directory / "saved_model.pb").exists()
        return {endpoints[0]: [{"translation": [f"Answer to {batches[0][0]}"]}]}

    monkeypatch.setattr(export, "ask_alone", ask)
    demo._report(smoke_run)
    output = capsys.readouterr().out
    bleu = smoke_run.metrics()["evaluate"][-1]["metrics"]["bleu"]
    assert f"test BLEU {bleu:.1f}" in output
    assert f"{SMOKE.data.test_limit} sentences" in output
    assert output.count("  translation  ") == output.count("  reference    ") == 3
    assert f"attention: {smoke_run.path('figures')}" in output
    assert f"{demo.SENTENCE} -> Answer to {demo.SENTENCE}" in output


def test_the_stages_are_those_of_a_user(root, monkeypatch):
    asked = []

    def main(name, presets, load, argv):
        asked.append(argv)
        return 3 if argv[0] == "explain" else 0

    monkeypatch.setattr(demo.cli, "main", main)
    assert demo.main() == 3  # a stage that fails ends it
    assert asked == [
        [stage, "--preset", "demo"] for stage in ("train", "evaluate", "explain")
    ]
