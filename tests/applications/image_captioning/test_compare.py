from dataclasses import replace

import pytest

from applications.image_captioning import compare
from applications.image_captioning.presets import PRESETS
from applications.pipeline import run as runs

THINGS = ("red apple", "big old tree", "small dog", "happy cat", "tall blue house")


@pytest.fixture
def evaluated(root):
    """Makes a run that says some things right, two drawings of each."""

    def make(right, **decoder):
        preset = PRESETS["smoke"]
        config = replace(preset, decoder=replace(preset.decoder, **decoder))
        run = runs.create(root, "image_captioning", "smoke", config)
        lines = ["key\tsource\tcaption\tnearest_training_image\treferences"]
        for number, thing in enumerate(THINGS * 2):
            said = thing if number % len(THINGS) < right else "a spoon"
            cells = (str(number), "drawn", said, "a red thing", f"{thing} | a {thing}")
            lines.append("\t".join(cells))
        run.path("captions.tsv").write_text("\n".join(lines) + "\n")
        run.record("train", {"parameters": 12345, "seconds": 90.0}, {})
        scores = dict.fromkeys(("bleu_1", "bleu_4", "rouge_l"), 10.0 * right)
        scores["cider"] = float(right)
        usual = {**dict.fromkeys(scores, 1.0), "caption": "a red apple"}
        near = dict.fromkeys(scores, 2.0)
        baselines = {"most_frequent_caption": usual, "nearest_training_image": near}
        run.record("evaluate", {**scores, "baselines": baselines}, {})
        return run.name

    return make


def test_runs_and_baselines_side_by_side(evaluated, capsys):
    names = [evaluated(4), evaluated(2, attention="none")]
    assert compare.main(names) == 0
    head, line, first, second, usual, nearest = capsys.readouterr().out.splitlines()
    assert head.endswith("| CIDEr | CIDEr, difference to smoke-001 |")
    assert set(line) == {"|", "-", " "}
    assert first == (
        "| cnn squeeze_excitation + gru additive (smoke-001) | 12,345 | 1.5 | 40.0 | "
        "40.0 | - | 40.0 | 4.00 | - |"
    )
    assert second.startswith("| cnn squeeze_excitation + gru none (smoke-002) | ")
    value, interval = second.split("|")[-2].strip().split(" ", 1)
    low, high = map(float, interval.strip("[]").split(", "))
    assert low < float(value) < high <= 0
    assert usual.startswith("| most frequent caption | - | - | 1.0 | 1.0 | - | 1.0 |")
    assert nearest.startswith("| nearest training image | - | - | 2.0 | 2.0 | - | 2.0")
    assert float(nearest.split("|")[-2].split()[0]) < 0


def test_other_images_are_refused(evaluated, root, capsys):
    names = [evaluated(4), evaluated(2)]
    path = root / "image_captioning" / names[1] / "captions.tsv"
    path.write_text(path.read_text().replace("a small dog", "a large dog"))
    assert compare.main(names) == 2
    assert "was evaluated on other images than smoke-001" in capsys.readouterr().err


def test_a_run_without_captions_is_named(evaluated, root, capsys):
    names = [evaluated(4), evaluated(2)]
    (root / "image_captioning" / names[1] / "captions.tsv").unlink()
    assert compare.main(names) == 2
    assert "smoke-002 has no captions.tsv: evaluate it" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help(capsys, flag):
    assert compare.main([flag]) == 0
    assert capsys.readouterr().out.strip() == compare.__doc__.strip()


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["smoke-001"], "Name at least two evaluated runs"),
        (["smoke-001", "smoke-009"], "Unknown run of image_captioning 'smoke-009'"),
        (["smoke-001", "smoke-002"], "smoke-002 is not evaluated. Run: python -m"),
    ],
)
def test_mistakes_are_one_line(evaluated, root, capsys, names, words):
    evaluated(4)
    runs.create(root, "image_captioning", "smoke", PRESETS["smoke"])
    assert compare.main(names) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert words in line
