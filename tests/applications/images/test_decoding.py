import functools
import re

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from applications.errors import UserError
from applications.images.decoding import decode, decode_file
from tests.applications.image_files import encoded

COLOR = np.random.default_rng(0).integers(0, 256, (3, 5, 3), dtype=np.uint8)
ALPHA = np.random.default_rng(1).integers(0, 256, (3, 5, 4), dtype=np.uint8)
GRAY = COLOR[..., 0]
PALETTE = Image.fromarray(COLOR).quantize(7)
ON_WHITE = np.round(
    ALPHA[..., :3] * (ALPHA[..., 3:] / 255) + (255 - ALPHA[..., 3:])
).astype(np.uint8)


def in_color(gray):
    return np.repeat(np.asarray(gray)[..., None], 3, axis=-1)


def pixels(contents, **options):
    """Eager, and in a graph that knows nothing of the file: the same."""
    eager = decode(tf.constant(contents), **options)
    np.testing.assert_array_equal(graph(**options)(contents), eager)
    return eager.numpy()


@functools.cache
def graph(**options):
    """One for the files of every mode."""
    signature = [tf.TensorSpec((), tf.string)]
    return tf.function(lambda x: decode(x, **options), input_signature=signature)


def with_alpha_bits(bmp):
    """Turn a 32-bit BMP file into one whose header names its alpha channel."""
    masks = b"\0\0\xff\0\0\xff\0\0\xff\0\0\0\0\0\0\xff"  # red, green, blue, alpha
    header = (108).to_bytes(4, "little") + bmp[18:54] + masks + b"\0" * 52
    header = header[:16] + (3).to_bytes(4, "little") + header[20:]
    start = (14 + len(header)).to_bytes(4, "little")
    return bmp[:10] + start + header + bmp[54:]


ALPHA_BMP = with_alpha_bits(encoded(ALPHA, "BMP"))

MODES = {
    "png_gray": (encoded(GRAY, "PNG"), in_color(GRAY)),
    "png_gray_alpha": (
        encoded(Image.merge("LA", [Image.fromarray(GRAY)] * 2), "PNG"),
        in_color(np.round(GRAY * (GRAY / 255) + 255 - GRAY).astype(np.uint8)),
    ),
    "png_color": (encoded(COLOR, "PNG"), COLOR),
    "png_alpha": (encoded(ALPHA, "PNG"), ON_WHITE),
    "png_palette": (encoded(PALETTE, "PNG"), PALETTE.convert("RGB")),
    "png_palette_transparent": (
        encoded(PALETTE, "PNG", transparency=0),
        np.where(in_color(PALETTE) == 0, 255, PALETTE.convert("RGB")),
    ),
    "png_1_bit": (
        encoded(Image.fromarray(GRAY > 99), "PNG"),
        in_color(255 * (GRAY > 99)),
    ),
    "png_16_bit": (
        encoded(GRAY.astype(np.uint16) * 256 + 201, "PNG"),
        in_color(GRAY),
    ),
    "bmp_gray": (encoded(GRAY, "BMP"), in_color(GRAY)),
    "bmp_palette": (encoded(PALETTE, "BMP"), PALETTE.convert("RGB")),
    "bmp_color": (encoded(COLOR, "BMP"), COLOR),
    "bmp_32_bit_unused": (encoded(ALPHA, "BMP"), ALPHA[..., :3]),
    "bmp_32_bit_alpha": (ALPHA_BMP, ON_WHITE),
    "gif": (encoded(PALETTE, "GIF"), PALETTE.convert("RGB")),
    "gif_animated": (
        encoded(
            PALETTE,
            "GIF",
            save_all=True,
            append_images=[PALETTE.rotate(180), PALETTE.rotate(90)],
        ),
        PALETTE.convert("RGB"),
    ),
}


@pytest.mark.parametrize("mode", MODES)
def test_c66_every_mode_is_what_one_sees(mode):
    """C66: no mode of file crashes or means something else when served."""
    contents, expected = MODES[mode]
    np.testing.assert_array_equal(pixels(contents), expected)


def test_c66_the_named_files():
    """C66: 2 x 2 PNG files of known pixels."""
    size = (2, 2)
    gray = encoded(Image.new("L", size, 128), "PNG")
    deep = encoded(np.full(size, 0x8000, np.uint16), "PNG")
    clear = encoded(Image.new("RGBA", size, (10, 20, 30, 0)), "PNG")
    half = encoded(Image.new("RGBA", size, (10, 20, 30, 51)), "PNG")
    palette = Image.new("P", size, 1)
    palette.putpalette([1, 2, 3, 10, 20, 30])
    for contents, expected in [
        (gray, (128, 128, 128)),
        (deep, (128, 128, 128)),
        (clear, (255, 255, 255)),
        (half, (206, 208, 210)),
        (encoded(palette, "PNG"), (10, 20, 30)),
    ]:
        np.testing.assert_array_equal(pixels(contents), np.full((*size, 3), expected))


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_c66_jpeg_of_every_mode(mode):
    """C66: JPEG loses something, so near to PIL's own decoder is right."""
    smooth = Image.linear_gradient("L").resize((16, 24)).convert("RGB")
    contents = encoded(smooth.convert(mode), "JPEG", quality=95)
    difference = np.abs(pixels(contents).astype(int) - np.asarray(smooth))
    assert pixels(contents).shape == (24, 16, 3)
    assert difference.max() <= 5


def test_c66_a_file_on_disk_is_its_bytes(tmp_path):
    for mode, (contents, expected) in MODES.items():
        path = tmp_path / mode
        path.write_bytes(contents)
        np.testing.assert_array_equal(decode_file(path), expected)


@pytest.mark.parametrize("background", [0, 7, (1, 20, 255)])
def test_background_shows_through(background):
    alpha = ALPHA[..., 3:] / 255
    expected = np.round(ALPHA[..., :3] * alpha + np.array(background) * (1 - alpha))
    np.testing.assert_array_equal(
        pixels(encoded(ALPHA, "PNG"), background=background), expected
    )
    np.testing.assert_array_equal(
        pixels(encoded(COLOR, "PNG"), background=background), COLOR
    )


def test_one_channel_is_luminance_and_keeps_gray():
    every = np.arange(256, dtype=np.uint8).reshape(16, 16)
    for contents in (encoded(every, "PNG"), encoded(in_color(every), "PNG")):
        np.testing.assert_array_equal(pixels(contents, channels=1)[..., 0], every)
    luminance = COLOR @ [0.2989, 0.5870, 0.1140]
    got = pixels(encoded(COLOR, "PNG"), channels=1)[..., 0]
    np.testing.assert_allclose(got, luminance, atol=1)
    np.testing.assert_array_equal(
        pixels(encoded(ALPHA, "PNG"), channels=1),
        tf.image.rgb_to_grayscale(ON_WHITE),
    )


def test_static_shape_says_the_channels():
    for channels in (1, 3):
        shape = (
            tf.data.Dataset.from_tensors(encoded(GRAY, "PNG"))
            .map(lambda x, c=channels: decode(x, c))
            .element_spec.shape
        )
        assert shape.as_list() == [None, None, channels]


@pytest.mark.parametrize(
    "contents",
    [b"", b"no image", b"BM", b"BM" + b"\0" * 60, encoded(COLOR, "PNG")[:50]],
    ids=["empty", "text", "two_bytes", "bmp_of_zeros", "cut"],
)
def test_what_is_no_image_is_one_line_with_its_name(contents, tmp_path):
    (tmp_path / "x.png").write_bytes(contents)
    message = re.escape("x.png is no image that can be read: expected a PNG, JPEG, BMP")
    with pytest.raises(UserError, match=message) as error:
        decode_file(tmp_path / "x.png")
    assert "\n" not in str(error.value)
    assert "{{" not in str(error.value)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(UserError, match="cannot be read: No such file or directory"):
        decode_file(tmp_path / "none.png")
