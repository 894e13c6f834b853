import json

import pytest

from benchmarks import lengths, mechanisms
from benchmarks.compare import Measurement


def measured(contender, seconds, error=""):
    return Measurement("by-length", contender, "keras 3", 1.0, [seconds], 20.0, error)


FOUND = {
    512: [measured("full", 0.002), measured("keras", 0.004)],
    1024: [measured("full", 0.006), measured("keras", 0.0, "ended with status 137.")],
}
OPS = {512: [measured("ours", 0.001)]}


def test_a_table_has_a_row_per_mechanism_and_a_column_per_length():
    text = lengths.markdown(FOUND, OPS)
    assert "| mechanism | 512 | 1024 |" in text
    assert "| full | 2 | 6 |" in text
    assert "| keras | 4 | - |" in text
    assert "| full | 20 | 20 |" in text
    assert "| ours | 1 |" in text


def test_what_was_measured_is_written(tmp_path):
    lengths.write(tmp_path / "new", FOUND, OPS)
    content = json.loads((tmp_path / "new" / "lengths.json").read_text())
    assert content["layers"]["512"][1]["rounds"] == [0.004]
    assert content["ops"]["512"][0]["contender"] == "ours"
    assert "| full | 2 | 6 |" in (tmp_path / "new" / "lengths.md").read_text()


@pytest.mark.slow
def test_mechanisms_and_ops_run(monkeypatch, capsys):
    """Three of them: each takes a process. `test_mechanisms.py` has the others."""
    monkeypatch.setattr(mechanisms, "names", lambda: ["full", "keras"])
    monkeypatch.setattr(mechanisms, "OPS", ("ours",))
    monkeypatch.setattr(lengths, "QUICK_LENGTHS", (64,))
    monkeypatch.setattr(lengths, "QUICK_BUDGET", 0.0)
    lengths.run(None, quick=True)
    printed = capsys.readouterr().out
    assert "ended with" not in printed
    assert printed.count("L=64") == 3
