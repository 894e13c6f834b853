import numpy as np
import pytest

from applications.language_modeling import causal_evaluation, compare
from applications.language_modeling.causal_evaluation import Bits
from applications.language_modeling.presets import PRESETS
from applications.pipeline import run as runs
from applications.pipeline.config import override

SIZES = np.array([100, 300, 200])


@pytest.fixture
def evaluated(root):
    """Makes runs as if they had been trained and evaluated."""

    def make(bits_per_byte, *settings, sizes=SIZES):
        config = override(PRESETS["compare"], settings)
        run = runs.create(root, "language_modeling", "compare", config)
        values = {
            "bits_per_byte": bits_per_byte,
            "perplexity_per_token": 50.0,
            "parameters": 1234,
            "baselines": {
                "5_gram_of_tokens": {"bits_per_byte": 3.0, "perplexity_per_token": 60},
                "5_gram_of_words": {"bits_per_byte": 4.0},
            },
        }
        run.record("train", {"seconds": 90.0}, {})
        run.record("evaluate", values, {})
        found = [per_byte * sizes for per_byte in (bits_per_byte, 3.0, 4.0)]
        causal_evaluation.keep(run, Bits(sizes, *found))
        return run.name

    return make


def test_runs_make_the_table(evaluated, capsys):
    names = [
        evaluated(2.0),
        evaluated(2.5, "model.pattern=local", "model.window=9", "data.tokens=byte"),
    ]
    assert compare.main(names) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.endswith("| bits per byte, difference to compare-001 |")
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[:-1] for row in cells] == [
        ["multi_head", "subword", "1,234", "1.5", "50.00", "2.000"],
        ["multi_head, local 9", "byte", "1,234", "1.5", "50.00", "2.500"],
        ["5 gram of tokens", "-", "-", "-", "60.00", "3.000"],
        ["5 gram of words", "-", "-", "-", "-", "4.000"],
    ]
    gaps = [f"+{x} [+{x}, +{x}]" for x in ("0.500", "1.000", "2.000")]
    assert [row[-1] for row in cells] == ["-", *gaps]


def test_other_texts_are_refused(evaluated, capsys):
    names = [evaluated(2.0), evaluated(2.0, sizes=SIZES + 1)]
    assert compare.main(names) == 2
    assert "compare-002 was evaluated on other texts" in capsys.readouterr().err


def test_what_is_not_causal_is_refused(evaluated, root, capsys):
    name = evaluated(2.0)
    run = runs.create(root, "language_modeling", "compare", PRESETS["compare"])
    run.record("evaluate", {"accuracy": 0.5}, {})
    assert compare.main([name, run.name]) == 2
    assert "compare-002 has no bits per byte" in capsys.readouterr().err
