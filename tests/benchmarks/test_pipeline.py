import pytest

from benchmarks import pipeline


@pytest.mark.slow
def test_both_shares_are_told(capsys):
    pipeline.run(quick=True)
    padding, waiting = capsys.readouterr().out.splitlines()[-2:]
    assert padding.startswith("padding: ")
    assert padding.endswith((": met", ": missed"))
    assert waiting.startswith("waiting for input: ")
