import numpy as np
import pytest
import tensorflow as tf

from applications.images.decoding import decode
from applications.images.reader import ImageReader, opacity
from applications.images.resizing import resize
from tests.applications.images.test_decoding import MODES

FILES = [contents for contents, _ in MODES.values()]


@pytest.mark.parametrize("aspect", ["crop", "pad", "stretch"])
@pytest.mark.parametrize("channels", [1, 3])
def test_reads_decoded_and_resized(aspect, channels):
    reader = ImageReader((7, 11, channels), aspect)
    for contents in FILES[:3]:
        expected = resize(decode(contents, channels), (7, 11), aspect)
        np.testing.assert_array_equal(reader.read(contents), expected)


def test_a_batch_holds_files_of_every_mode_and_size():
    reader = ImageReader((7, 11, 3))
    batch = reader.read_batch(tf.constant(FILES))
    assert batch.dtype == tf.float32
    for pixels, contents in zip(batch, FILES, strict=True):
        np.testing.assert_array_equal(pixels, reader.read(contents))
    assert reader.read_batch(tf.constant([], tf.string)).shape == (0, 7, 11, 3)


@pytest.mark.parametrize("aspect", ["crop", "pad", "stretch"])
def test_grounds_are_the_image_over_any_color(aspect):
    """To a rounding; over white they are what `read` gives, to the bit."""
    color = np.random.default_rng(0).integers(0, 256, (9, 6, 4), np.uint8)
    contents = tf.io.encode_png(color)
    reader = ImageReader((7, 11, 3), aspect)
    grounds = reader.read_grounds(contents).numpy()
    np.testing.assert_array_equal(grounds[..., 3:], reader.read(contents))
    over_gray = resize(decode(contents, 3, 100), (7, 11), aspect, 100)
    black, white = grounds[..., :3].astype(float), grounds[..., 3:]
    mixed = black + (white - black) * 100 / 255
    np.testing.assert_allclose(mixed, over_gray, atol=1.5)


def test_opacity_is_alpha_where_the_image_is_and_none_beside_it():
    alpha = np.zeros((8, 4, 1), np.uint8)
    alpha[:, :2] = 255
    color = np.full((8, 4, 3), 77, np.uint8)
    contents = tf.io.encode_png(np.concatenate([color, alpha], axis=-1))
    found = opacity(ImageReader((8, 8, 3), "pad").read_grounds(contents)).numpy()
    expected = np.zeros((8, 8))
    expected[:, 2:4] = 1
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.slow
def test_c66_training_and_a_saved_model_agree(tmp_path):
    """C66: what tf.data reads and what a SavedModel reads are equal, mode by mode."""
    reader = ImageReader((7, 11, 3))

    class Served(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((None,), tf.string)])
        def serve(self, image_bytes):
            return {"pixels": reader.read_batch(image_bytes)}

    module = Served()
    tf.saved_model.save(module, tmp_path, signatures={"serve": module.serve})
    serve = tf.saved_model.load(tmp_path).signatures["serve"]
    served = serve(image_bytes=tf.constant(FILES))["pixels"]
    trained = tf.data.Dataset.from_tensor_slices(FILES).map(reader.read)
    np.testing.assert_array_equal(served, list(trained.as_numpy_iterator()))
