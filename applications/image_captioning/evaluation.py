"""How good the captions are: the field's scores over the whole test split, beside
captions that need no decoder.
"""

import csv
from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from applications.errors import UserError
from applications.image_captioning import baselines
from applications.image_captioning.captioner import Captioner
from applications.image_captioning.concepts import Concepts
from applications.image_captioning.data import CaptionData, Example
from applications.image_captioning.objects import Looks
from applications.image_captioning.presets import ImageCaptioningConfig
from applications.pipeline import files
from applications.pipeline.run import Run
from applications.text.words import WordVocabulary
from keras_attention import losses, metrics

CAPTIONS = "captions.tsv"
_BETWEEN = " | "  # references of one image; normalized, they have no such sign

Scores = dict[str, metrics.CaptionScore]


class Written(NamedTuple):
    """A line of `captions.tsv`: a test image, what is said of it, and what is right."""

    key: str
    source: str
    caption: str
    nearest_training_image: str
    references: tuple[str, ...]


def evaluate(
    config: ImageCaptioningConfig, data: CaptionData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Metrics over the whole test split; writes all captions beside them.

    All systems are scored on the same references; intervals draw `Concepts`.
    """
    test, training = data.examples("test"), data.examples("train")
    references = [one.captions for one in test]
    captioner, concepts = Captioner(model, data), Concepts(references)
    beam, greedy = (
        captioner(data.image_batches("test"), search) for search in ("beam", "greedy")
    )
    systems = {
        "beam": [one.text for one in beam],
        "greedy": [one.text for one in greedy],
        "first_reference_in_known_words": _in_known_words(test, data.words),
        "most_frequent_caption": [baselines.most_frequent(training)] * len(test),
        "nearest_training_image": baselines.nearest(model, data, training),
    }
    if config == run.config(type(config)):  # else they are not those of the table
        _write(run, test, systems["beam"], systems["nearest_training_image"])
    scored = {
        name: metrics.caption_scores(texts, references)
        for name, texts in systems.items()
    }
    looks = Looks.of(beam, model, data)
    return {
        "images": len(test),
        "concepts": concepts.count,
        "protocol": {
            "search": f"beam {config.search.num_beams}, length penalty "
            f"{config.search.length_penalty:g}, at most {config.data.max_length} words",
            "intervals": "95 %, 1000 draws of concepts",
        },
        **_values(scored["beam"]),
        **_meteor(systems["beam"], references),
        "greedy": _values(scored["greedy"]),
        **_beside_baselines(systems, scored, references, concepts),
        **_limits(test, training, systems, scored, data.words),
        "perplexity_per_word": _perplexity(data, model),
        **looks.figures(concepts),
        **_by_set(test, scored, looks, concepts),
    }


def _values(scores: Scores) -> dict[str, float]:
    return {name: score.value for name, score in scores.items()}


def _meteor(
    texts: Sequence[str], references: Sequence[Sequence[str]]
) -> dict[str, float]:
    """METEOR where it can run."""
    if not metrics.java_is_present():
        return {}
    return {"meteor": metrics.meteor(texts, references).value}


def _beside_baselines(
    systems: dict[str, list[str]],
    scored: dict[str, Scores],
    references: Sequence[Sequence[str]],
    concepts: Concepts,
) -> dict[str, Any]:
    """Scores of the baselines, and how far above each in CIDEr the model is."""
    names = ("most_frequent_caption", "nearest_training_image")
    found: dict[str, Any] = {
        name: {**_values(scored[name]), **_meteor(systems[name], references)}
        for name in names
    }
    found["most_frequent_caption"]["caption"] = systems["most_frequent_caption"][0]
    own = scored["beam"]["cider"].per_image
    above = {
        f"above_{name}": concepts.difference(own, scored[name]["cider"].per_image)
        for name in names
    }
    return {"baselines": found} | {name: gap._asdict() for name, gap in above.items()}


def _by_set(
    test: Sequence[Example], scored: dict[str, Scores], looks: Looks, concepts: Concepts
) -> dict[str, Any]:
    """CIDEr and looks for each of several sets joined."""
    sources = np.array([example.source for example in test])
    names = dict.fromkeys(sources.tolist())
    if len(names) < 2:
        return {}
    found = {}
    for name in names:
        own = sources == name
        found[name] = {
            "images": int(own.sum()),
            "cider": {
                system: scores["cider"].per_image[own].mean()
                for system, scores in scored.items()
            },
            **looks.figures(concepts, own),
        }
    return {"by_set": found}


# ------------------------------------------------------------------ what limits a model


def _limits(
    test: Sequence[Example],
    training: Sequence[Example],
    systems: dict[str, list[str]],
    scored: dict[str, Scores],
    words: WordVocabulary,
) -> dict[str, Any]:
    """What the words of train allow at most, and how much is only repeated."""
    right = [w for example in test for text in example.captions for w in text.split()]
    known = {text for example in training for text in example.captions}
    return {
        "unknown_words": float(np.mean([word not in words for word in right])),
        "first_reference_in_known_words": _values(
            scored["first_reference_in_known_words"]
        ),
        "captions_of_train": float(np.mean([t in known for t in systems["beam"]])),
    }


def _in_known_words(test: Sequence[Example], words: WordVocabulary) -> list[str]:
    """The first reference of each image without the words that train does not have."""
    return [
        " ".join(word for word in example.captions[0].split() if word in words)
        for example in test
    ]


def _perplexity(data: CaptionData, model: keras.Model) -> float:
    """Of the test captions' words and ends, given the image and the words before."""
    model.compile(loss=losses.MaskedCrossentropy(), metrics=[metrics.Perplexity()])
    batches = data.evaluation_batches("test")
    return model.evaluate(batches, verbose=0, return_dict=True)["perplexity"]


# ------------------------------------------------------------------------ captions.tsv


def _write(
    run: Run, test: Sequence[Example], captions: Sequence[str], nearest: Sequence[str]
) -> None:
    with (
        files.replacing(run.path(CAPTIONS)) as path,
        open(path, "w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(Written._fields)
        for one, caption, near in zip(test, captions, nearest, strict=True):
            right = _BETWEEN.join(one.captions)
            writer.writerow((one.key, one.source, caption, near, right))


def read_captions(run: Run) -> list[Written]:
    """What an evaluated run says of every test image.

    Raises:
        UserError: It was evaluated with other settings than its own only.
    """
    path = run.path(CAPTIONS)
    if not path.exists():
        raise UserError(
            f"{run.name} has no {CAPTIONS}: evaluate it without changed settings."
        )
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    return [Written(*row[:-1], tuple(row[-1].split(_BETWEEN))) for row in rows]
