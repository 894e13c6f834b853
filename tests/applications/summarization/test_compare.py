from dataclasses import replace

import pytest

from applications.pipeline import run as runs
from applications.summarization import compare
from applications.summarization.presets import PRESETS
from applications.text import answers

SOURCES = [f"Text number {i} of a long test is here." for i in range(12)]
REFERENCES = [f"number {i} of test" for i in range(12)]


@pytest.fixture
def evaluated(root):
    """Makes a run that has summarized some texts right."""

    def make(kind, right):
        preset = PRESETS["smoke"]
        config = replace(preset, model=replace(preset.model, kind=kind))
        run = runs.create(root, "summarization", "smoke", config)
        summaries = REFERENCES[:right] + ["Wrong."] * (12 - right)
        columns = {"source": SOURCES, "reference": REFERENCES, "summary": summaries}
        answers.write(run, "summaries.tsv", columns)
        run.record("train", {"parameters": 12345, "seconds": 90.0}, {})
        scores = {"rouge_1": right / 12, "rouge_2": 0.25, "rouge_l": right / 12}
        lead = {"rouge_1": 0.3, "rouge_2": 0.1, "rouge_l": 0.2}
        values = {"perplexity_per_subword": 9.0, "lead_10_words": lead, **scores}
        run.record("evaluate", values, {})
        return run

    return make


def test_table(evaluated, capsys):
    names = [evaluated("pointer_transformer", 9).name, evaluated("gru", 3).name]
    assert compare.main(names) == 0
    head, line, first, second, lead = capsys.readouterr().out.splitlines()
    assert f"difference to {names[0]}" in head
    assert set(line) == {"|", "-", " "}
    row = "| 12,345 | 1.5 | 0.750 | 0.250 | 0.750 | 9.0 | - |"
    assert first == f"| pointer_transformer {row}"
    value, low, high = (float(x.strip("[],")) for x in second.split("|")[8].split())
    assert value == -0.5
    assert low < value < high < 0
    assert lead.startswith("| first 10 words | - | - | 0.300 | 0.100 | 0.200 | - | ")


def test_mistakes_are_one_line(evaluated, root, capsys):
    first, second = evaluated("gru", 3), evaluated("gru", 3)
    path = second.path("summaries.tsv")
    path.write_text(path.read_text().replace("number 3 of test", "number 30 of test"))
    bare = runs.create(root, "summarization", "smoke", PRESETS["smoke"])
    for names, words in (
        ([], "Name at least two evaluated runs"),
        ([first.name, "smoke-009"], "Unknown run of summarization 'smoke-009'"),
        ([first.name, bare.name], f"{bare.name} is not evaluated. Run: python -m"),
        ([first.name, second.name], "was evaluated on other texts"),
    ):
        assert compare.main(names) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("error: ")
        assert words in line


def test_help(capsys):
    assert compare.main(["--help"]) == 0
    assert capsys.readouterr().out.strip() == compare.__doc__.strip()
