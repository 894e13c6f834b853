"""Captioned images of a run: captions as words, images as batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import tensorflow as tf

from applications.datasets.load_captions import load_captions
from applications.errors import UserError
from applications.image_captioning.presets import ImageCaptioningConfig
from applications.images.augmentation import Backgrounds, Geometry, KeyedSeeds
from applications.images.batches import kept, shuffled
from applications.images.decoding import decode
from applications.images.reader import BLACK, WHITE, ImageReader, opacity
from applications.pipeline.epochs import ShuffledBatches, as_written
from applications.text.vocabulary import PADDING
from applications.text.words import WordVocabulary
from keras_attention.metrics import normalized_caption

T = TypeVar("T")


class Example(NamedTuple):
    """An image by its name within its set, that set, and its normalized captions."""

    key: str
    source: str
    captions: tuple[str, ...]


@dataclass
class CaptionData:
    """What the stages need of the data; each part is read when first asked for.

    Args:
        config: The run's config.
        words: Those of its training captions.
        warm_start: A saved model whose encoder is the start of training, if any.
    """

    config: ImageCaptioningConfig
    words: WordVocabulary
    warm_start: Path | None = None
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels of the model's input."""
        return (*self.config.data.image_size, self.config.data.channels)

    @property
    def reader(self) -> ImageReader:
        """From a file's bytes to pixels, for prediction and export too."""
        return ImageReader(self.image_shape, self.config.data.aspect)

    # ------------------------------------------------------------------------ batches

    @cached_property
    def train(self) -> ShuffledBatches:
        """Training batches by epoch: `{"image", "target"}` and the words after each.

        Of an image with several captions an epoch takes one, each as often.
        """
        settings = self.config.augmentation
        background, geometry = Backgrounds(settings.background), Geometry(settings)
        with tf.device("CPU:0"):  # as tensors they are no part of the graph
            ids, counts = map(tf.constant, self._caption_ids("train"))
        read = self.reader.read_grounds if settings.background else self.reader.read

        def changed(images: tf.Tensor, numbers: tf.Tensor, key: tf.Tensor) -> tuple:
            seeds = KeyedSeeds(key)
            caption = _one_of(tf.gather(counts, numbers), seeds)
            if settings.background:
                images = background(images, seeds)
            images = geometry(tf.cast(images, tf.float32), seeds)
            return teacher_forced(
                images, tf.gather_nd(ids, tf.stack([numbers, caption], 1))
            )

        return ShuffledBatches(
            shuffled(_numbered(self._images("train", read))),
            changed,
            len(counts),
            self.config.data.batch_size,
            self.config.train.seed,
        )

    def evaluation_batches(self, split: str) -> tf.data.Dataset:
        """Every caption of every image of a split, with its image, in order."""
        ids, _ = self._caption_ids(split)

        @as_written
        def paired(images: tf.Tensor, numbers: tf.Tensor) -> tuple:
            captions = tf.gather(ids, numbers)  # (B, R, T)
            there = tf.not_equal(captions[:, :, 0], PADDING)
            image = tf.where(there)[:, 0]
            return teacher_forced(
                tf.gather(tf.cast(images, tf.float32), image),
                tf.boolean_mask(captions, there),
            )

        return self._pictures(split).batch(self.config.data.batch_size).map(paired)

    def image_batches(self, split: str) -> tf.data.Dataset:
        """The images of a split in order, as they are served: uint8 `(B, h, w, c)`."""
        images = self._pictures(split).map(as_written(lambda image, number: image))
        return images.batch(self.config.data.batch_size)

    def files(self, split: str) -> tf.data.Dataset:
        """The content of the files of a split in order, scalar strings."""
        return self._images(split, tf.identity)

    def objects(
        self, split: str, grid: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """How opaque the places of images are, and of which images that says anything.

        Returns:
            float32 `(n, rows, columns)` from 0 to 1, means over the area of each place
            of the image that the model sees; and bool `(n,)`, whether the file has
            transparent pixels.
        """

        def read(contents: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            over = [decode(contents, 1, ground) for ground in (BLACK, WHITE)]
            cut_out = tf.reduce_any(tf.not_equal(*over))
            pixels = opacity(self.reader.read_grounds(contents))
            return tf.image.resize(pixels[..., None], grid, "area")[..., 0], cut_out

        rows = list(self._images(split, read).as_numpy_iterator())
        cells, cut_out = zip(*rows, strict=True)
        return np.stack(cells), np.array(cut_out)

    # ------------------------------------------------------------------------- pieces

    def examples(self, split: str) -> list[Example]:
        """All of a split in order, up to its limit."""
        return self._once(("examples", split), lambda: _examples(self._rows(split)))

    def _pictures(self, split: str) -> tf.data.Dataset:
        """A held-out split as it is served, with numbers; read once if it fits."""
        return self._once(
            ("pictures", split),
            lambda: kept(_numbered(self._images(split, self.reader.read))),
        )

    def _images(self, split: str, read: Callable) -> tf.data.Dataset:
        """What `read` makes of the files of a split."""
        return self._rows(split).map(
            as_written(lambda row: read(row["image"])),
            num_parallel_calls=tf.data.AUTOTUNE,
            deterministic=True,
        )

    def _rows(self, split: str) -> tf.data.Dataset:
        """Files and captions; what of joined sets is left out is found out once."""
        return self._once(("rows", split), lambda: _rows(self.config, split))

    def _once(self, name: tuple[str, str], make: Callable[[], T]) -> T:
        """What `make` makes the first time it is asked for by this name."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def _caption_ids(self, split: str) -> tuple[np.ndarray, np.ndarray]:
        """Ids of all captions `(n, R, T)`, padded, and how many an image has `(n,)`."""
        captions = [example.captions for example in self.examples(split)]
        counts = np.array([len(texts) for texts in captions], np.int32)
        longest = self.config.data.max_length
        ids = np.full((len(counts), counts.max(), longest + 2), PADDING, np.int32)
        there = np.arange(counts.max()) < counts[:, None]
        texts = [text for texts in captions for text in texts]
        ids[there] = self.words.encode(texts, longest)
        return ids, counts


def examples(config: ImageCaptioningConfig, split: str) -> list[Example]:
    """All examples of a split in order, up to its limit, without their images."""
    return _examples(_rows(config, split))


def _examples(rows: tf.data.Dataset) -> list[Example]:
    names = ("key", "set", "captions")
    rows = rows.map(as_written(lambda row: {name: row[name] for name in names}))
    return [
        Example(
            row["key"].decode(),
            row["set"].decode(),
            _normalized(row["captions"], row["key"].decode()),
        )
        for row in rows.as_numpy_iterator()
    ]


def teacher_forced(images: tf.Tensor, ids: tf.Tensor) -> tuple[dict, tf.Tensor]:
    """Inputs and labels: the decoder reads a word and predicts the next one."""
    return {"image": images, "target": ids[:, :-1]}, ids[:, 1:]


def _rows(config: ImageCaptioningConfig, split: str) -> tf.data.Dataset:
    rows = load_captions(config.data.name, split, config.data.data_dir)
    if not int(rows.cardinality()):
        raise UserError(f"{config.data.name} has no images for {split}.")
    limit = getattr(config.data, f"{split}_limit")
    return rows if limit is None else rows.take(limit)


def _normalized(captions: Sequence[bytes], key: str) -> tuple[str, ...]:
    texts = [normalized_caption(caption.decode("utf-8")) for caption in captions]
    texts = [text for text in dict.fromkeys(texts) if text]
    if not texts:
        raise UserError(f"The image {key} has no caption with a word.")
    return tuple(texts)


def _numbered(images: tf.data.Dataset) -> tf.data.Dataset:
    """Images with their numbers, by which captions are found."""
    return tf.data.Dataset.zip(images, tf.data.Dataset.range(len(images)))


def _one_of(counts: tf.Tensor, seeds: KeyedSeeds) -> tf.Tensor:
    """For each of `counts` `(B,)` a number below it, int64."""
    drawn = tf.random.stateless_uniform(tf.shape(counts), seeds.next())
    drawn = tf.cast(drawn * tf.cast(counts, tf.float32), tf.int64)
    return tf.minimum(drawn, tf.cast(counts, tf.int64) - 1)
