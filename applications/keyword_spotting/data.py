"""Labelled clips of a run: as they are stored, as frames and as batches."""

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from applications.audio.augmentation import SpectrogramMasking, SpeedPerturbation
from applications.audio.clips import in_random_order, model_inputs, parallel
from applications.audio.readers import ClipReader
from applications.datasets.labelled import require_classes
from applications.datasets.load_audio import AudioSet, describe, load_audio
from applications.errors import UserError
from applications.keyword_spotting.presets import DataConfig, KeywordSpottingConfig
from applications.keyword_spotting.readers import reader_of
from applications.pipeline.epochs import ShuffledBatches, as_written

_random = tf.random.experimental


class Clips(NamedTuple):
    """The frames of clips, `(T, F)` each, and the numbers of their classes `(n,)`."""

    frames: list[np.ndarray]
    labels: np.ndarray


@dataclass
class ClipData:
    """What the stages need of the data; each part is read when first asked for.

    Args:
        config: Of the run, or as a stage changes it.
        known: What the set was when the model was trained on it.
    """

    config: KeywordSpottingConfig
    known: AudioSet

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.known.class_names

    @cached_property
    def reader(self) -> ClipReader:
        """From clips to frames, for prediction and export too."""
        return reader_of(self.known, self.config.front_end, self.config.data.max_frames)

    @cached_property
    def train(self) -> ShuffledBatches:
        """Training batches by epoch, changed at random."""
        settings = self.config.augmentation
        if settings.speeds and self.known.frame_size is not None:
            raise UserError(
                f"{self.config.data.name} holds frames, which cannot be played faster. "
                "Set augmentation.speeds= to nothing."
            )
        rows, rate = self._rows("train")
        perturb, mask = SpeedPerturbation(settings), SpectrogramMasking(settings)
        order = in_random_order(rows, self.config.data.clips_in_memory)

        def shuffled(key: tf.Tensor, batch_size: int) -> tf.data.Dataset:
            for_order, for_clips = tf.unstack(_random.stateless_split(key, 2))

            @as_written
            def heard(number: tf.Tensor, row: tuple[tf.Tensor, tf.Tensor]) -> tuple:
                own = _random.stateless_fold_in(for_clips, number)
                frames = self.reader.stored(row[0], rate, lambda x: perturb(x, own))
                return frames, tf.shape(frames)[0], row[1]

            clips = order(for_order).enumerate()
            return parallel(clips, heard).padded_batch(batch_size)

        def changed(
            frames: tf.Tensor, lengths: tf.Tensor, labels: tf.Tensor, key: tf.Tensor
        ) -> tuple[dict[str, Any], tf.Tensor]:
            return self._labelled(mask(frames, lengths, key), lengths, labels)

        return ShuffledBatches(
            shuffled,
            changed,
            int(rows.cardinality()),
            self.config.data.batch_size,
            self.config.train.seed,
        )

    @cached_property
    def validation(self) -> tf.data.Dataset:
        batches = self._heard("validation").padded_batch(self.config.data.batch_size)
        return batches.map(as_written(self._labelled)).cache()

    def clips(self, split: str, limit: int | None = None) -> Clips:
        """The first clips of a split, unchanged, all of those that the config takes."""
        rows = list(islice(self._heard(split).as_numpy_iterator(), limit))
        frames, _, labels = zip(*rows, strict=True)
        return Clips(list(frames), np.array(labels))

    def stored(self, split: str, limit: int) -> tuple[list[np.ndarray], int | None]:
        """The first clips of a split as they are stored, and their rate."""
        rows, rate = self._rows(split)
        return [clip for clip, _ in rows.take(limit).as_numpy_iterator()], rate

    def _labelled(
        self, frames: tf.Tensor, lengths: tf.Tensor, labels: tf.Tensor
    ) -> tuple[dict[str, Any], tf.Tensor]:
        """Inputs of the model and rows of class shares `(B, C)`."""
        shares = tf.one_hot(labels, len(self.class_names))
        return model_inputs(frames, lengths), shares

    def _heard(self, split: str) -> tf.data.Dataset:
        """Frames, how many, and label of every clip of a split in order."""
        rows, rate = self._rows(split)

        @as_written
        def heard(clip: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, ...]:
            frames = self.reader.stored(clip, rate)
            return frames, tf.shape(frames)[0], label

        return parallel(rows, heard)

    def _rows(self, split: str) -> tuple[tf.data.Dataset, int | None]:
        """Stored clips and labels of a split, up to the limit, and their rate.

        Raises:
            UserError: The set has other classes than the model, other frames, or no
                such clips.
        """
        config = self.config.data
        found = described(config)
        require_classes(config.name, self.known.class_names, found.class_names)
        if found.frame_size != self.known.frame_size:
            here, there = (_content(one) for one in (found, self.known))
            raise UserError(
                f"{config.name} holds {here}; the model was trained on {there}."
            )
        rows = load_audio(config.name, split, config.data_dir)
        limit = getattr(config, f"{split}_limit")
        rows = rows if limit is None else rows.take(limit)
        if not int(rows.cardinality()):
            raise UserError(f"{config.name} has no clips for {split}.")
        return rows.map(as_written(lambda row: (row["audio"], row["label"]))), (
            found.sample_rate
        )


def described(config: DataConfig) -> AudioSet:
    """What is known of the set before it is heard."""
    return describe(config.name, config.data_dir)


def _content(known: AudioSet) -> str:
    if known.frame_size is None:
        return "sounds"
    return f"frames of {known.frame_size} numbers"
