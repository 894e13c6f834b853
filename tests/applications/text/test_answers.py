import pytest

from applications.pipeline.run import Run
from applications.text import answers

TEXTS = [["one\ttwo", "a"], ['"b"', "c\nd"], ["", "é"]]


def test_columns_read_back_as_they_were(tmp_path):
    run = Run(tmp_path / "run")
    heads = ("source", "reference", "summary")
    answers.write(run, "summaries.tsv", dict(zip(heads, TEXTS, strict=True)))
    assert list(answers.read(run, "summaries.tsv")) == TEXTS
    first = run.path("summaries.tsv").read_text("utf-8").splitlines()[0]
    assert first.split("\t") == list(heads)


def test_columns_are_of_one_length(tmp_path):
    with pytest.raises(ValueError, match="argument 2 is"):
        answers.write(Run(tmp_path), "x.tsv", {"a": ["1", "2"], "b": ["1"]})
    assert not list(tmp_path.iterdir())
