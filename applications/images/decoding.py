"""Any image file to the same kind of array, inside a TensorFlow graph.

The one way from bytes to pixels: training reads its files with it, and a SavedModel
holds it, so that both see equal arrays.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from applications.errors import UserError

WHITE = 255
OPAQUE = 255

# Fields of a BMP file: offset and length in bytes.
_HEADER_SIZE = 14, 4
_BITS_PER_PIXEL = 28, 2
_COMPRESSION = 30, 4
_ALPHA_MASK = 66, 4
_HEADER_END = 70
_SMALLEST_WITH_MASK = 56  # bytes of the header, the alpha mask included
_PALETTE_COLORS = 256
_PALETTE_AFTER = 14  # bytes before the header


def decode(
    contents: tf.Tensor, channels: int = 3, background: int | Sequence[int] = WHITE
) -> tf.Tensor:
    """Return the pixels of an image file, uint8 `(height, width, channels)`.

    PNG, JPEG, BMP and GIF of every mode give what one sees: gray, colour, palette, with
    and without alpha; 16 bits a channel lose their lower 8; of an animation the first
    picture counts. Not looked at are colour profiles, the orientation a camera notes
    (EXIF), a single transparent colour of a PNG without palette, and transparency in a
    GIF, whose transparent pixels are black.

    Args:
        contents: The bytes of the file, a scalar string tensor.
        channels: 3 for colour, 1 for gray by luminance. A gray file keeps its values
            in either.
        background: What shows through where the image is transparent: a gray value or
            three colour values from 0 to 255. Drawings are made for white paper, and
            hidden under a transparent pixel is most often black.

    Raises:
        InvalidArgumentError: The bytes are no image; when the graph runs.

    Examples:
    >>> file = tf.io.encode_png(tf.constant([[[10, 20, 30, 0]]], "uint8"))
    >>> decode(file, background=7).numpy()
    array([[[7, 7, 7]]], dtype=uint8)
    """
    # TensorFlow's own conversion drops alpha and fails on BMP, so ask for the file's
    # channels: gray, gray and alpha, colour, colour and alpha.
    pixels = tf.io.decode_image(contents, channels=0, expand_animations=False)
    pixels.set_shape((None, None, None))
    is_bmp = tf.strings.substr(contents, 0, 2) == b"BM"
    pixels = tf.cond(is_bmp, lambda: _bmp_pixels(contents, pixels), lambda: pixels)
    as_asked = tf.shape(pixels)[-1] == channels
    converted = tf.cond(
        as_asked,
        lambda: pixels,
        lambda: _converted(pixels, channels, background),
    )
    return tf.ensure_shape(converted, (None, None, channels))


def decode_file(path: Path | str, channels: int = 3) -> np.ndarray:
    """Return the pixels of a file, as `decode` does.

    Raises:
        UserError: The file cannot be read or is no image of the four formats.
    """
    try:
        contents = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        return decode(tf.constant(contents), channels).numpy()
    except tf.errors.InvalidArgumentError as error:
        raise UserError(
            f"{path} is no image that can be read: expected a PNG, JPEG, BMP or GIF "
            f"file. {_reason(error)}"
        ) from error


def _reason(error: tf.errors.InvalidArgumentError) -> str:
    """TensorFlow's reason without the name of the operation around it."""
    said = error.message.splitlines()[0].rpartition("}} ")[2]
    return f"{said.partition(' [Op:')[0].strip().rstrip('.')}."


def _converted(
    pixels: tf.Tensor, channels: int, background: int | Sequence[int]
) -> tf.Tensor:
    """Gray or colour, with or without alpha, to gray or colour without."""
    count = tf.shape(pixels)[-1]
    color = tf.cond(
        count < 3,
        lambda: tf.repeat(pixels[..., :1], 3, axis=-1),
        lambda: pixels[..., :3],
    )
    color = tf.ensure_shape(color, (None, None, 3))
    color = tf.cond(
        count % 2 == 0,
        lambda: _over(color, pixels[..., -1:], background),
        lambda: color,
    )
    return tf.image.rgb_to_grayscale(color) if channels == 1 else color


def _over(
    color: tf.Tensor, alpha: tf.Tensor, background: int | Sequence[int]
) -> tf.Tensor:
    """Blend `color` over a background, rounding to the nearest in whole numbers."""
    color, alpha = tf.cast(color, tf.int32), tf.cast(alpha, tf.int32)
    behind = tf.constant(background, tf.int32)
    blend = color * alpha + behind * (OPAQUE - alpha)
    return tf.cast((blend + OPAQUE // 2) // OPAQUE, tf.uint8)


def _bmp_pixels(contents: tf.Tensor, pixels: tf.Tensor) -> tf.Tensor:
    """Put right what TensorFlow makes of a BMP file.

    It gives the indices of a palette for a gray image, and a fourth byte for alpha
    where most files have it unused.
    """
    header = tf.strings.substr(contents, 0, _HEADER_END)
    bits = _number(header, *_BITS_PER_PIXEL)

    def colors() -> tf.Tensor:
        indices = tf.cast(pixels[..., 0], tf.int32)
        return tf.gather(_palette(contents, header), indices)

    unused = (bits == 32) & ~_has_alpha(header)
    cases = [(bits == 8, colors), (unused, lambda: pixels[..., :3])]
    return tf.case(cases, default=lambda: pixels)


def _has_alpha(header: tf.Tensor) -> tf.Tensor:
    """Whether a BMP header names the bits of an alpha channel."""
    large = _number(header, *_HEADER_SIZE) >= _SMALLEST_WITH_MASK
    masks = _number(header, *_COMPRESSION) != 0
    return large & masks & (_number(header, *_ALPHA_MASK) != 0)


def _palette(contents: tf.Tensor, header: tf.Tensor) -> tf.Tensor:
    """The colours of a BMP file, `(256, 3)`; those not in the file are black."""
    start = _PALETTE_AFTER + _number(header, *_HEADER_SIZE)
    colors = _bytes(tf.strings.substr(contents, start, 4 * _PALETTE_COLORS))
    colors = tf.reshape(colors[: 4 * (tf.size(colors) // 4)], (-1, 4))
    missing = _PALETTE_COLORS - tf.shape(colors)[0]
    return tf.pad(colors, [[0, missing], [0, 0]])[:, 2::-1]  # stored as B, G, R, 0


def _number(header: tf.Tensor, offset: int, length: int) -> tf.Tensor:
    """Read an unsigned number, its lowest byte first; 0 past the header's end."""
    digits = tf.cast(_bytes(header)[offset : offset + length], tf.int64)
    return tf.cast(
        tf.reduce_sum(digits * 256 ** tf.range(tf.size(digits, tf.int64))), tf.int32
    )


def _bytes(text: tf.Tensor) -> tf.Tensor:
    return tf.io.decode_raw(text, tf.uint8)
