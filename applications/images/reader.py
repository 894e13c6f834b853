"""From the bytes of an image file to the input of a model, everywhere the same."""

from dataclasses import dataclass

import tensorflow as tf

from applications.images.config import Aspect
from applications.images.decoding import decode
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
        height, width, channels = self.image_shape
        return resize(decode(contents, channels), (height, width), self.aspect)

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
