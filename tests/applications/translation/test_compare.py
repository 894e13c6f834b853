import json
import os
import subprocess
import sys

import pytest

from applications.pipeline import quiet
from applications.pipeline import run as runs
from applications.translation import compare
from applications.translation.presets import PRESETS

SOURCES = [f"Sentence number {i} of the test." for i in range(12)]
REFERENCES = [f"Satz Nummer {i} des Tests." for i in range(12)]


@pytest.fixture
def evaluated(root):
    """Makes a run that has translated some sentences right."""

    def make(kind, right):
        from dataclasses import replace

        preset = PRESETS["smoke"]
        config = replace(preset, model=replace(preset.model, kind=kind))
        run = runs.create(root, "translation", "smoke", config)
        translations = REFERENCES[:right] + ["Falsch."] * (12 - right)
        lines = ["source\treference\ttranslation"]
        rows = zip(SOURCES, REFERENCES, translations, strict=True)
        lines += ["\t".join(row) for row in rows]
        run.path("translations.tsv").write_text("\n".join(lines) + "\n")
        run.record("train", {"parameters": 12345, "seconds": 90.0}, {})
        values = {
            "bleu": 8.0 * right,
            "chrf": 50.0,
            "perplexity_per_subword": 9.0,
            "copy_source": {"bleu": 6.5, "chrf": 20.0},
            "bleu_by_source_words": {
                "1-4": {"sentences": 0, "bleu": None},
                "5-": {"sentences": 12, "bleu": 8.0 * right},
            },
        }
        run.record("evaluate", values, {})
        return run

    return make


def test_table_and_curve(evaluated, capsys):
    names = [evaluated("gru", 4).name, evaluated("transformer", 11).name]
    assert compare.main(names) == 0
    head, line, first, second, copy, blank, picture = (
        capsys.readouterr().out.splitlines()
    )
    assert f"difference to {names[0]}" in head
    assert set(line) == {"|", "-", " "}
    assert first.startswith("| gru | 12,345 | 1.5 | 32.0 | 50.0 | 9.0 | - | - | 32.0 |")
    assert second.startswith("| transformer | 12,345 | 1.5 | 88.0 | 50.0 | 9.0 | +")
    assert copy.startswith("| copy of the source | - | - | 6.5 | 20.0 | - | -")
    assert blank == ""
    assert picture.endswith(f"{names[0]}/figures/bleu-by-length.png")


def test_the_difference_is_held_against_the_first(evaluated):
    runs_ = [evaluated("transformer", 11), evaluated("gru", 4)]
    difference = compare.table(runs_)[3].split("|")[7].strip()
    value, interval = difference.split(" ", 1)
    low, high = json.loads(interval.replace("+", ""))
    assert low < float(value) < high < 0


def test_other_sentences_are_refused(evaluated, capsys):
    names = [evaluated("gru", 4).name, evaluated("transformer", 11).name]
    path = runs.find(runs.default_root(), "translation", name=names[1]).path(
        "translations.tsv"
    )
    path.write_text(path.read_text().replace("Satz Nummer 3", "Satz Nummer 30"))
    assert compare.main(names) == 2
    assert "was evaluated on other sentences" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help(capsys, flag):
    assert compare.main([flag]) == 0
    assert capsys.readouterr().out.strip() == compare.__doc__.strip()


def test_another_backend_is_refused(evaluated, capsys, monkeypatch):
    names = [evaluated("gru", 4).name, evaluated("transformer", 11).name]
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    assert compare.main(names) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "KERAS_BACKEND=jax" in captured.err


@pytest.mark.slow
def test_nothing_is_printed_beside_the_answer(evaluated):
    names = [evaluated("gru", 4).name, evaluated("transformer", 11).name]
    command = [sys.executable, "-m", "applications.translation.compare", *names]
    environment = {k: v for k, v in os.environ.items() if k != quiet.LEVEL}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("| model |")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "Name at least two evaluated runs"),
        (["smoke-001"], "Name at least two evaluated runs"),
        (["smoke-001", "smoke-009"], "Unknown run of translation 'smoke-009'"),
        (["smoke-001", "smoke-002"], "smoke-002 is not evaluated. Run: python -m"),
    ],
)
def test_mistakes_are_one_line(evaluated, root, capsys, names, words):
    evaluated("gru", 4)
    runs.create(root, "translation", "smoke", PRESETS["smoke"])
    assert compare.main(names) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert words in line
