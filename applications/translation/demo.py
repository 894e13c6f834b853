"""`make demo`: train, evaluate, explain and export a small model, then ask it.

Runs the stages a user would run, one after the other, and ends with what they made: the
test score, three translations, a picture of the attention, and the answer of the
SavedModel in a process of its own.
"""

import sys

from applications.pipeline import cli
from applications.pipeline import run as runs
from applications.translation.__main__ import load
from applications.translation.presets import PRESETS

PRESET = "demo"
SENTENCE = "Click the button to open the dialog."


def main() -> int:
    """Run all stages of the preset and print what they gave."""
    for stage in ("train", "evaluate", "explain", "export"):
        print(f"\n=== {stage}", flush=True)
        code = cli.main("translation", PRESETS, load, [stage, "--preset", PRESET])
        if code:
            return code
    _report(runs.find(runs.default_root(), "translation", preset=PRESET))
    return 0


def _report(run: runs.Run) -> None:
    from applications.translation.evaluation import read_translations
    from keras_attention import export

    metrics = run.results()["evaluate"]["metrics"]
    print(f"\n=== {run.name}\n")
    print(f"test BLEU {metrics['bleu']:.1f}, chrF {metrics['chrf']:.1f}, "
          f"{metrics['sentences']} sentences")  # fmt: skip
    for source, reference, translation in _shortest(*read_translations(run)):
        print(f"\n  source       {source}")
        print(f"  translation  {translation}")
        print(f"  reference    {reference}")
    picture = sorted(run.path("figures").glob("*.png"))[-1]
    print(f"\nattention: {picture}")
    saved_model = run.path("saved_model", "1")
    (answer,) = export.ask_alone(saved_model, [[SENTENCE]], ["beam"])["beam"]
    print(f"SavedModel: {saved_model}")
    print(f"  {SENTENCE} -> {answer['translation'][0]}")


def _shortest(sources, references, translations, count: int = 3):
    """The first test sentences that fit a line."""
    rows = zip(sources, references, translations, strict=True)
    return [row for row in rows if 5 <= len(row[0].split()) <= 10][:count]


if __name__ == "__main__":
    sys.exit(main())
