"""Recordings and their texts in a run: as they are stored, as frames and as batches."""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from applications.audio.augmentation import SpectrogramMasking, SpeedPerturbation
from applications.audio.clips import in_random_order, model_inputs, parallel
from applications.audio.readers import SoundReader
from applications.datasets.load_speech import SpeechSet, describe, load_speech
from applications.errors import UserError
from applications.pipeline.epochs import ShuffledBatches, as_written
from applications.speech_recognition.characters import Characters, teacher_forced
from applications.speech_recognition.learned import Learned, fitting, is_short, measured
from applications.speech_recognition.presets import SpeechConfig
from applications.speech_recognition.sorting import by_length

_random = tf.random.experimental


class Clips(NamedTuple):
    """Recordings of a split.

    Attributes:
        frames: `(T, F)` each.
        texts: What is said.
        keys: What the set calls them; empty where it has no names.
    """

    frames: list[np.ndarray]
    texts: list[str]
    keys: list[str]


class Stored(NamedTuple):
    """Recordings as a set has them: int16 samples of one rate, and what is said."""

    samples: list[np.ndarray]
    texts: list[str]
    rate: int


@dataclass
class SpeechData:
    """What the stages need of the data; each part is read when first asked for.

    Args:
        config: Of the run, or as a stage changes it.
        learned: What the run learns from.
    """

    config: SpeechConfig
    learned: Learned

    @cached_property
    def characters(self) -> Characters:
        return Characters(self.learned.characters)

    @cached_property
    def reader(self) -> SoundReader:
        """From clips of any length to frames, for prediction and export too."""
        return SoundReader(self.config.front_end)

    # ------------------------------------------------------------------------ batches

    @cached_property
    def train(self) -> ShuffledBatches:
        """Training batches by epoch, of clips of like length, changed at random."""
        settings, learned = self.config.augmentation, self.learned
        rows, known = self._rows("train")
        perturb, mask = SpeedPerturbation(settings), SpectrogramMasking(settings)
        order = in_random_order(
            _spelled(_kept(rows, known, self.config, learned), self.characters),
            self.config.data.clips_in_memory,
            learned.examples,
        )

        def shuffled(key: tf.Tensor, batch_size: int) -> tf.data.Dataset:
            for_order, for_clips, for_batches = tf.unstack(
                _random.stateless_split(key, 3)
            )

            @as_written
            def heard(number: tf.Tensor, row: tuple[tf.Tensor, tf.Tensor]) -> tuple:
                own = _random.stateless_fold_in(for_clips, number)
                change = partial(perturb, key=own)
                return self.reader.stored(row[0], known.sample_rate, change), row[1]

            clips = parallel(order(for_order).enumerate(), heard)
            return by_length(clips, batch_size, for_batches)

        def changed(
            frames: tf.Tensor,
            lengths: tf.Tensor,
            ids: tf.Tensor,
            counts: tf.Tensor,
            key: tf.Tensor,
        ) -> tuple[dict[str, Any], dict[str, tf.Tensor]]:
            return self._labelled(mask(frames, lengths, key), lengths, ids, counts)

        return ShuffledBatches(
            shuffled,
            changed,
            learned.examples,
            self.config.data.batch_size,
            self.config.train.seed,
        )

    @cached_property
    def validation(self) -> tf.data.Dataset:
        """All validation clips, in batches of like length."""
        rows, known = self._rows("validation")
        rows = _spelled(rows, self.characters)

        @as_written
        def heard(clip: tf.Tensor, ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return self.reader.stored(clip, known.sample_rate), ids

        size, key = self.config.data.batch_size, tf.constant([0, 0])
        batches = by_length(parallel(rows, heard), size, key)
        count = tf.data.experimental.assert_cardinality(-(-len(rows) // size))
        return batches.map(as_written(self._labelled)).apply(count).cache()

    def _labelled(
        self, frames: tf.Tensor, lengths: tf.Tensor, ids: tf.Tensor, counts: tf.Tensor
    ) -> tuple[dict[str, Any], dict[str, tf.Tensor]]:
        """Inputs of the model and the labels of its outputs, by their names."""
        given, wanted = teacher_forced(ids, counts)
        inputs, objective = model_inputs(frames, lengths), self.config.model.objective
        if objective == "ctc":
            return inputs, {"ctc": ids}
        inputs["target"] = given
        if objective == "attention":
            return inputs, {"attention": wanted}
        return inputs, {"ctc": ids, "attention": wanted}

    # -------------------------------------------------------------------------- clips

    @cached_property
    def validated(self) -> Clips:
        """The validation clips that are recognized after each epoch."""
        return self.clips("validation", self.config.train.validation_clips)

    def clips(self, split: str, limit: int | None = None) -> Clips:
        """The first clips of a split, unchanged, all of those that the config takes."""
        rows, known = self._rows(split)

        @as_written
        def heard(row: dict[str, tf.Tensor]) -> tuple[tf.Tensor, ...]:
            frames = self.reader.stored(row["audio"], known.sample_rate)
            return frames, row["text"], row["key"]

        found = list(islice(parallel(rows, heard).as_numpy_iterator(), limit))
        frames, texts, keys = zip(*found, strict=True)
        return Clips(list(frames), *([x.decode() for x in y] for y in (texts, keys)))

    def stored(self, split: str, limit: int) -> Stored:
        """The first clips of a split as the set has them."""
        rows, known = self._rows(split)
        found = list(islice(rows.as_numpy_iterator(), limit))
        texts = [row["text"].decode() for row in found]
        return Stored([row["audio"] for row in found], texts, known.sample_rate)

    def impossible(self, split: str) -> int:
        """How many texts of a split CTC cannot say in the time of their clips."""
        rows, known = self._rows(split)
        samples, texts = map(list, zip(*measured(rows), strict=True))
        return int((~fitting(self.config, known, samples, texts)).sum())

    def _rows(self, split: str) -> tuple[tf.data.Dataset, SpeechSet]:
        """Stored clips of a split, up to the limit, and what is known of the set.

        Raises:
            UserError: There are none.
        """
        config = self.config.data
        rows = load_speech(config.name, split, config.data_dir)
        limit = getattr(config, f"{split}_limit")
        rows = rows if limit is None else rows.take(limit)
        if not int(rows.cardinality()):
            raise UserError(f"{config.name} has no clips for {split}.")
        return rows, described(self.config)


def described(config: SpeechConfig) -> SpeechSet:
    """What is known of the set before it is heard."""
    return describe(config.data.name, config.data.data_dir)


def _kept(
    rows: tf.data.Dataset, known: SpeechSet, config: SpeechConfig, learned: Learned
) -> tf.data.Dataset:
    """The training clips that are learned from."""

    @as_written
    def short(row: dict[str, tf.Tensor]) -> tf.Tensor:
        return is_short(row["audio"], known, config.data)

    return (
        rows.filter(short)
        .take(learned.clips)
        .apply(tf.data.experimental.assert_cardinality(learned.clips))
    )


def _spelled(rows: tf.data.Dataset, characters: Characters) -> tf.data.Dataset:
    """Stored clips, and their texts as ids."""
    return rows.map(
        as_written(lambda row: (row["audio"], characters.encode(row["text"])))
    )
