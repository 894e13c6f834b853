"""From the bytes of an image file to the input of a model, everywhere the same."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tensorflow as tf

from applications.images.config import Aspect
from applications.images.decoding import OPAQUE, WHITE, decode, decode_file
from applications.images.resizing import resize

BLACK = 0


@dataclass(frozen=True)
class ImageReader:
    """Decodes and resizes; training, prediction and a SavedModel call the same one.

    Attributes:
        image_shape: Height, width and channels (1 or 3) of the model's input.
        aspect: What happens to an image of another shape; see `resize`.
    """

    image_shape: tuple[int, int, int]
    aspect: Aspect = "crop"

    def read(self, contents: tf.Tensor) -> tf.Tensor:
        """One file's bytes, a scalar string, to uint8 pixels of `image_shape`."""
        return _reading(self.image_shape, self.aspect, WHITE)(contents)

    def read_grounds(self, contents: tf.Tensor) -> tf.Tensor:
        """One file over black, and in further channels over white, as `read` gives it.

        What is transparent, or beside a padded image, differs between the two. So they
        are the image over any ground (`augmentation.Backgrounds`), and its `opacity`.
        """
        over = [
            _reading(self.image_shape, self.aspect, ground)(contents)
            for ground in (BLACK, WHITE)
        ]
        return tf.concat(over, axis=-1)

    def read_file(self, path: Path | str) -> np.ndarray:
        """One file to uint8 pixels of `image_shape`.

        Raises:
            UserError: The file cannot be read or is no image.
        """
        pixels = decode_file(path, self.image_shape[2])
        return resize(pixels, self.image_shape[:2], self.aspect).numpy()

    def read_batch(self, contents: tf.Tensor) -> tf.Tensor:
        """Bytes of any number of files, `(B,)`, to float32 `(B, *image_shape)`.

        Values are from 0 to 255, which is what the model's own first layer scales.
        """
        pixels = tf.map_fn(
            self.read,
            contents,
            fn_output_signature=tf.TensorSpec(self.image_shape, tf.uint8),
        )
        return tf.cast(pixels, tf.float32)


@functools.cache
def _reading(
    image_shape: tuple[int, int, int], aspect: Aspect, background: int
) -> Callable[[tf.Tensor], tf.Tensor]:
    """Reads one file over a ground; traced once, for every split and endpoint."""

    def read(contents: tf.Tensor) -> tf.Tensor:
        pixels = decode(contents, image_shape[2], background)
        return resize(pixels, image_shape[:2], aspect, background)

    signature = [tf.TensorSpec([], tf.string)]
    return tf.function(read, input_signature=signature, autograph=False)


def opacity(grounds: tf.Tensor) -> tf.Tensor:
    """How opaque each pixel is, 0..1, `(..., h, w)` of what `read_grounds` gives."""
    black, white = tf.split(tf.cast(grounds, tf.float32), 2, axis=-1)
    return 1 - tf.reduce_mean(white - black, axis=-1) / OPAQUE
