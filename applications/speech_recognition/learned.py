"""What a run learns from, noted before training: a set may change, or go, after it."""

import json
from collections import Counter
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from applications.audio.config import SAMPLE_RATE
from applications.audio.features import FrontEnd
from applications.datasets.load_speech import SpeechSet, describe, load_speech
from applications.errors import UserError
from applications.pipeline import files
from applications.pipeline.epochs import as_written
from applications.pipeline.run import Run
from applications.speech_recognition.characters import Characters
from applications.speech_recognition.presets import DataConfig, SpeechConfig
from keras_attention import blocks, losses

FILE = "learned.json"


class Learned(NamedTuple):
    """The training clips of a run.

    Attributes:
        characters: Those of their texts.
        clips: How many different ones there are.
        examples: How many an epoch has; more, where only a share is learned from.
        seconds: How long all different ones are together.
        too_long: How many are left out because of `data.max_seconds`.
        impossible: How many have a text that does not fit their places, by CTC's rule;
            CTC's loss leaves them out.
        most_frequent_text: What is said most often.
    """

    characters: tuple[str, ...]
    clips: int
    examples: int
    seconds: float
    too_long: int
    impossible: int
    most_frequent_text: str


def learn(config: SpeechConfig) -> Learned:
    """Read the training split once.

    Raises:
        UserError: It has no clips that are short enough, or no texts.
    """
    known = describe(config.data.name, config.data.data_dir)
    kept, too_long = [], 0
    for samples, text in measured(_rows(config.data)):
        if samples <= _longest(known, config.data):
            kept.append((samples, text))
        else:
            too_long += 1
    if not kept:
        raise UserError(
            f"{config.data.name} has no training clips of at most "
            f"{config.data.max_seconds:g} seconds."
        )
    # A share of the examples, one at least.
    some = kept[: max(1, round(config.data.train_share * len(kept)))]
    texts = [text for _, text in some]
    fits = fitting(config, known, [samples for samples, _ in some], texts)
    return Learned(
        characters=Characters.of(texts).characters,
        clips=len(some),
        examples=len(kept),
        seconds=sum(samples for samples, _ in some) / known.sample_rate,
        too_long=too_long,
        impossible=int((~fits).sum()),
        most_frequent_text=most_frequent(texts),
    )


def note(run: Run, learned: Learned) -> None:
    """Write it into a run."""
    text = json.dumps(learned._asdict(), indent=2, ensure_ascii=False)
    files.write_text(run.path(FILE), text + "\n")


def noted(run: Run) -> Learned:
    """Read it back."""
    values = json.loads(run.path(FILE).read_text(encoding="utf-8"))
    return Learned(**{**values, "characters": tuple(values["characters"])})


def is_short(clip: tf.Tensor, known: SpeechSet, config: DataConfig) -> tf.Tensor:
    """Whether a stored training clip is used, in a graph too."""
    return tf.size(clip) <= _longest(known, config)


def measured(rows: tf.data.Dataset) -> list[tuple[int, str]]:
    """Samples and text of each stored clip, in order."""
    sizes = rows.map(as_written(lambda row: (tf.size(row["audio"]), row["text"])))
    return [(int(size), text.decode()) for size, text in sizes.as_numpy_iterator()]


def fitting(
    config: SpeechConfig, known: SpeechSet, samples: list[int], texts: list[str]
) -> np.ndarray:
    """Whether CTC has places enough for the text of each clip, `(n,)` bool.

    Args:
        config: Of the front end.
        known: What the clips are of.
        samples: How many each stored clip has.
        texts: What is said.
    """
    front_end, ratio = FrontEnd(config.front_end), Fraction(SAMPLE_RATE)
    ratio /= known.sample_rate
    frames = [front_end.count(ceil(count * ratio)) for count in samples]
    places = [blocks.ConvolutionalSubsampling.places(count) for count in frames]
    rows = tf.ragged.constant([[ord(one) for one in text] for text in texts], tf.int32)
    found = losses.fits_ctc(rows.to_tensor(), rows.row_lengths(), tf.constant(places))
    return np.asarray(found)


def most_frequent(texts: list[str]) -> str:
    """What is said most often, the first of equals in alphabetical order.

    Examples:
    >>> most_frequent(["yes", "no", "yes", "no", "ah"])
    'no'
    """
    counts = Counter(texts)
    return min(counts, key=lambda text: (-counts[text], text))


def _longest(known: SpeechSet, config: DataConfig) -> int:
    """Samples of a training clip, at most."""
    return int(config.max_seconds * known.sample_rate)


def _rows(config: DataConfig) -> tf.data.Dataset:
    """The training clips, up to the limit."""
    rows = load_speech(config.name, "train", config.data_dir)
    return rows if config.train_limit is None else rows.take(config.train_limit)
