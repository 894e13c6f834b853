"""Batches of labelled images: shuffled and augmented for training, plain for the rest.

Labels are rows of class shares, `(B, classes)`, in every split: mixing makes shares of
them in training, and one loss takes them all.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import tensorflow as tf

from applications.datasets.labelled import require_classes
from applications.datasets.load_images import ImageSet, describe, load_images
from applications.errors import UserError
from applications.images.augmentation import Augmentation
from applications.images.config import AugmentationConfig, ImageDataConfig
from applications.images.reader import ImageReader
from applications.pipeline.epochs import ShuffledBatches, as_written

# Decoded images of a split that stay in memory. Of a larger split this much is shuffled
# at a time, and its files are decoded anew in every epoch.
MEMORY_BYTES = 2**30

_READ_AT_ONCE = 1024


@dataclass
class ImageData:
    """A set by its config; each part is read when first asked for.

    Args:
        config: Which set, its size and its limits.
        augmentation: How training images are changed; the other splits never are.
        seed: Decides order and changes of the training images, with the epoch.
        known: What the set was when a model was trained on it. Its images are then read
            only if it still has these classes, and not needed for anything else.
    """

    config: ImageDataConfig
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    seed: int = 0
    known: ImageSet | None = None

    @cached_property
    def info(self) -> ImageSet:
        """Names of the classes, stored shape and licence."""
        return self.known or describe(self.config.name, self.config.data_dir)

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.info.class_names

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels of the model's input."""
        return self.reader.image_shape

    @cached_property
    def reader(self) -> ImageReader:
        """From a file's bytes to pixels, for prediction and export too."""
        height, width, channels = self.info.shape
        if self.config.image_size is not None:
            height = width = self.config.image_size
        if height is None or width is None:
            raise UserError(
                f"The images of {self.config.name} may differ in size; say to which "
                "they are resized, for example data.image_size=64."
            )
        channels = self.config.channels or (1 if channels == 1 else 3)
        return ImageReader((height, width, channels), self.config.aspect)

    @cached_property
    def train(self) -> ShuffledBatches:
        """Training batches by epoch."""
        pixels = self._pixels("train")
        examples = int(pixels.cardinality())
        augmentation = Augmentation(self.augmentation)

        def changed(
            images: tf.Tensor, labels: tf.Tensor, key: tf.Tensor
        ) -> tuple[tf.Tensor, tf.Tensor]:
            return augmentation(images, tf.one_hot(labels, self.num_classes), key)

        return ShuffledBatches(
            shuffled(pixels), changed, examples, self.config.batch_size, self.seed
        )

    @cached_property
    def validation(self) -> tf.data.Dataset:
        return self.evaluation_batches("validation")

    def evaluation_batches(self, split: str) -> tf.data.Dataset:
        """All images of a split in order, unchanged: float32 images and labels."""
        pixels = kept(self._pixels(split))

        @as_written
        def finished(images: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
            return tf.cast(images, tf.float32), tf.one_hot(labels, self.num_classes)

        batches = pixels.batch(self.config.batch_size)
        return batches.map(finished).prefetch(tf.data.AUTOTUNE)

    def arrays(
        self, split: str, limit: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The first images of a split, uint8, and the numbers of their classes."""
        pixels = self._pixels(split)
        return _arrays(pixels if limit is None else pixels.take(limit))

    def _pixels(self, split: str) -> tf.data.Dataset:
        """Images as the model takes them, still uint8, and labels; up to the limit."""
        name, data_dir = self.config.name, self.config.data_dir
        if self.known is not None:
            found = describe(name, data_dir)
            require_classes(name, self.known.class_names, found.class_names)
        rows = load_images(name, split, data_dir)
        limit = getattr(self.config, f"{split}_limit")
        if not int(rows.cardinality()):
            raise UserError(f"{self.config.name} has no images for {split}.")
        reader = self.reader
        return (rows if limit is None else rows.take(limit)).map(
            as_written(lambda row: (reader.read(row["image"]), row["label"])),
            num_parallel_calls=tf.data.AUTOTUNE,
            deterministic=True,
        )


def shuffled(
    pixels: tf.data.Dataset,
) -> Callable[[tf.Tensor, int], tf.data.Dataset]:
    """What `ShuffledBatches` shuffles: in memory where it fits, else by a buffer.

    Args:
        pixels: uint8 images of one shape, each with a number; of a known length.
    """
    if _fits(pixels):
        return _shuffled_in_memory(*_arrays(pixels))
    return _shuffled_by_buffer(pixels, MEMORY_BYTES // _bytes_of_one(pixels))


def kept(pixels: tf.data.Dataset) -> tf.data.Dataset:
    """The same images and numbers, read once and from memory where they fit."""
    if not _fits(pixels):
        return pixels
    return tf.data.Dataset.from_tensor_slices(_arrays(pixels))


def _fits(pixels: tf.data.Dataset) -> bool:
    return int(pixels.cardinality()) * _bytes_of_one(pixels) <= MEMORY_BYTES


def _bytes_of_one(pixels: tf.data.Dataset) -> int:
    image, _ = pixels.element_spec
    return math.prod(image.shape)


def _shuffled_in_memory(
    images: np.ndarray, labels: np.ndarray
) -> Callable[[tf.Tensor, int], tf.data.Dataset]:
    # As tensors they are no part of the graph; on a GPU they would go to its memory.
    with tf.device("CPU:0"):
        images, labels = tf.constant(images), tf.constant(labels)

    def batches(key: tf.Tensor, batch_size: int) -> tf.data.Dataset:
        order = tf.range(len(labels))
        order = tf.random.experimental.stateless_shuffle(order, key)
        rows = tf.data.Dataset.from_tensor_slices(order).batch(batch_size)
        return rows.map(
            as_written(lambda row: (tf.gather(images, row), tf.gather(labels, row)))
        )

    return batches


def _shuffled_by_buffer(
    pixels: tf.data.Dataset, size: int
) -> Callable[[tf.Tensor, int], tf.data.Dataset]:
    def batches(key: tf.Tensor, batch_size: int) -> tf.data.Dataset:
        seed = tf.random.stateless_uniform((), key, None, None, tf.int64)
        shuffled = pixels.shuffle(size, seed, reshuffle_each_iteration=False)
        return shuffled.batch(batch_size)

    return batches


def _arrays(pixels: tf.data.Dataset) -> tuple[np.ndarray, np.ndarray]:
    parts = list(pixels.batch(_READ_AT_ONCE).as_numpy_iterator())
    images, labels = zip(*parts, strict=True)
    return np.concatenate(images), np.concatenate(labels)
