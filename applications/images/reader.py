"""From the bytes of an image file to the input of a model, everywhere the same."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tensorflow as tf

from applications.images.config import Aspect
from applications.images.decoding import decode, decode_file
from applications.images.resizing import resize


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
        return self._fitted(decode(contents, self.image_shape[2]))

    def read_file(self, path: Path | str) -> np.ndarray:
        """One file to uint8 pixels of `image_shape`.

        Raises:
            UserError: The file cannot be read or is no image.
        """
        return self._fitted(decode_file(path, self.image_shape[2])).numpy()

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

    def _fitted(self, pixels: tf.Tensor | np.ndarray) -> tf.Tensor:
        return resize(pixels, self.image_shape[:2], self.aspect)
