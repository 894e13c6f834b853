import pytest

from benchmarks import pipeline


def test_shares_stand_beside_their_targets():
    text = pipeline.markdown("small", {"padding": 8.9, "waiting for input": 4.0})
    assert "| 16 | padding | 20 % | 8.9 % | met |" in text
    assert "| 16 | waiting for input | 3 % | 4.0 % | missed |" in text


@pytest.mark.thorough
def test_both_shares_are_told(capsys, tmp_path):
    pipeline.run(tmp_path, quick=True)
    written = (tmp_path / "pipeline.md").read_text()
    assert written in capsys.readouterr().out
    assert written.count("| 16 |") == 2
