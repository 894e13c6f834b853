"""`python -m applications.image_captioning.compare RUN RUN ...`: evaluated runs side by
side.

Prints a Markdown table of the runs' test scores and of the baselines, with the 95 %
bootstrap interval over concepts of each difference in CIDEr to the first run.
"""

import sys
from collections.abc import Sequence
from typing import Any

from applications import markdown
from applications.image_captioning.presets import ImageCaptioningConfig
from applications.pipeline import cli, comparison, quiet
from applications.pipeline import run as runs
from applications.pipeline.comparison import evaluated, interval, number

_SCORES = {
    "bleu_1": "BLEU-1",
    "bleu_4": "BLEU-4",
    "meteor": "METEOR",
    "rouge_l": "ROUGE-L",
    "cider": "CIDEr",
}


def main(names: Sequence[str]) -> int:
    """Compare runs by name; the first is the one the others are held against."""
    return cli.on_runs(str(__doc__), names, _print)


def _print(names: Sequence[str]) -> None:
    found = comparison.named("image_captioning", names)
    with quiet.startup():
        print("\n".join(table(found)))


def table(found: Sequence[runs.Run]) -> list[str]:
    """The lines of the Markdown table."""
    from applications.image_captioning.concepts import Concepts
    from applications.image_captioning.evaluation import read_captions
    from keras_attention import metrics

    measured = [evaluated(run) for run in found]
    written = [read_captions(run) for run in found]
    right = [[row.references for row in rows] for rows in written]
    comparison.require_same(found, right, "images")
    references = right[0]
    concepts = Concepts(references)

    def cider(captions: list[str]) -> Any:
        return metrics.caption_scores(captions, references)["cider"].per_image

    first = cider([row.caption for row in written[0]])
    baselines = measured[0]["baselines"]
    usual = baselines["most_frequent_caption"]["caption"]
    said = {
        "most_frequent_caption": [usual] * len(references),
        "nearest_training_image": [row.nearest_training_image for row in written[0]],
    }
    heads = ["model", "parameters", "training minutes", *_SCORES.values()]
    heads += [f"CIDEr, difference to {found[0].name}"]
    lines = [
        _cells(
            _label(run),
            values,
            run.results()["train"]["metrics"],
            None
            if run is found[0]
            else concepts.difference(cider([row.caption for row in rows]), first),
        )
        for run, values, rows in zip(found, measured, written, strict=True)
    ]
    lines += [
        _cells(
            name.replace("_", " "),
            baselines[name],
            None,
            concepts.difference(cider(captions), first),
        )
        for name, captions in said.items()
    ]
    return markdown.table(heads, lines)


def _cells(
    name: str, values: dict[str, Any], train: dict[str, Any] | None, gap: Any
) -> list[str]:
    return [
        name,
        f"{train['parameters']:,}" if train else "-",
        number(train["seconds"] / 60 if train else None),
        *(number(values.get(one), 2 if one == "cider" else 1) for one in _SCORES),
        "-" if gap is None else interval(gap, 2),
    ]


def _label(run: runs.Run) -> str:
    """What a run is made of, and its name."""
    config = run.config(ImageCaptioningConfig)
    encoder, decoder = config.encoder, config.decoder
    sees = " ".join(filter(None, (encoder.kind, encoder.attention)))
    writes = "gru " + decoder.attention if decoder.kind == "gru" else decoder.kind
    start = ", warm start" if config.train.warm_start else ""
    return f"{sees} + {writes}{start} ({run.name})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
