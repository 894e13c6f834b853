import functools
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from applications.errors import UserError
from applications.image_captioning import data as captioned
from applications.image_captioning.data import CaptionData, examples
from applications.text.vocabulary import END, START
from tests.applications.image_captioning.conftest import GRID, SIZE

loaded = functools.cache(captioned.load_captions)


@pytest.fixture(autouse=True)
def opened_once(monkeypatch):
    """Sets are opened once for all tests here, to save time."""
    monkeypatch.setattr(captioned, "load_captions", loaded)


def test_captions_are_normalized_and_of_their_set(config, data, shapes):
    found = data.examples("test")
    assert len(found) == 12
    by_key = {one.key: one for one in found}
    one = by_key["test/red-circle-0.png"]
    assert one.captions == ("a red circle", "circle red")
    assert one.source == str(shapes)
    assert len(examples(config, "train")) == 36


def test_equal_captions_count_once_and_one_must_have_words():
    assert captioned._normalized([b"A cat!", b"a  cat", b"..."], "x") == ("a cat",)
    with pytest.raises(UserError, match="The image x has no caption with a word"):
        captioned._normalized([b"..."], "x")


def epochs(data, *numbers):
    """Images, inputs and labels of each of these epochs."""
    batches = tf.data.Dataset.from_tensor_slices(list(numbers)).flat_map(
        data.train.epoch
    )
    rows = list(batches.unbatch().batch(36).as_numpy_iterator())
    assert len(rows) == len(numbers)
    return [(inputs["image"], inputs["target"], labels) for inputs, labels in rows]


@pytest.fixture(scope="module")
def first_epochs(data):
    return epochs(data, *range(5))


def fresh(config, vocabulary, **changes):
    settings = replace(config.augmentation, **changes)
    return CaptionData(replace(config, augmentation=settings), vocabulary)


def test_an_epoch_depends_on_its_number_and_the_seed_only(
    first_epochs, config, vocabulary
):
    first, later = first_epochs[3:]
    _, again = epochs(fresh(config, vocabulary), 0, 3)
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert np.any(first[0] != later[0])


def test_training_reads_a_word_and_predicts_the_next(first_epochs):
    images, target, labels = first_epochs[0]
    assert images.shape == (36, *SIZE, 3)
    assert images.dtype == np.float32
    assert np.all(target[:, 0] == START)
    np.testing.assert_array_equal(target[:, 1:], labels[:, :-1])
    assert np.all((labels == END).sum(axis=1) == 1)


def test_every_caption_of_an_image_is_taken_in_turn(first_epochs):
    labels = np.concatenate([labels for _, _, labels in first_epochs])
    lengths = (labels > END).sum(axis=1)
    assert set(lengths) == {2, 3}  # `circle red`, `a red circle`
    assert 0.3 < (lengths == 2).mean() < 0.7


def test_captions_go_with_their_images(config, vocabulary):
    """Unchanged, each training image has the color that its caption names."""
    plain = {"flip": False, "translation": 0.0, "zoom": 0.0, "background": 0.0}
    ((images, _, labels),) = epochs(fresh(config, vocabulary, **plain), 1)
    texts = [text.decode() for text in vocabulary.decode(labels).numpy()]
    darkest = images.sum(axis=-1).reshape(36, -1).argmin(axis=1)
    colors = images.reshape(36, -1, 3)[np.arange(36), darkest]
    named = [("red", "green", "blue")[color.argmax()] for color in colors]
    assert all(name in text for name, text in zip(named, texts, strict=True))


def test_backgrounds_are_of_training_only(config, vocabulary):
    changes = {"flip": False, "translation": 0.0, "zoom": 0.0, "background": 1.0}
    ((images, _, _),) = epochs(fresh(config, vocabulary, **changes), 0)
    assert (images[:, 0, 0] == 255).all(axis=-1).mean() < 0.2
    served = np.concatenate(list(fresh(config, vocabulary).image_batches("test")))
    assert np.all(served[:, 0, 0] == 255)


def test_what_is_evaluated_is_what_is_served(data, shapes):
    served = np.concatenate(list(data.image_batches("test")))
    assert served.dtype == np.uint8
    for image, one in zip(served, data.examples("test"), strict=True):
        np.testing.assert_array_equal(image, data.reader.read_file(shapes / one.key))


def test_every_caption_is_evaluated_with_its_image(data):
    images, served = [], np.concatenate(list(data.image_batches("test")))
    texts = []
    for inputs, labels in data.evaluation_batches("test"):
        images.append(inputs["image"])
        texts += [text.decode() for text in data.words.decode(labels).numpy()]
    expected = [text for one in data.examples("test") for text in one.captions]
    assert texts == expected
    np.testing.assert_array_equal(np.concatenate(images), np.repeat(served, 2, axis=0))


def test_objects_are_where_the_alpha_channel_is(data, shapes):
    """Area by area, on the image as the model sees it: here padded to its sides."""
    cells, cut_out = data.objects("test", GRID)
    assert cells.shape == (12, *GRID)
    assert cut_out.all()
    for cell, one in zip(cells, data.examples("test"), strict=True):
        alpha = np.asarray(Image.open(shapes / one.key))[..., 3] / 255
        scale = min(SIZE[0] / alpha.shape[0], SIZE[1] / alpha.shape[1])
        seen = round(alpha.shape[0] * scale) * round(alpha.shape[1] * scale)
        assert cell.mean() == pytest.approx(
            alpha.mean() * seen / (SIZE[0] * SIZE[1]), abs=0.01
        )


def test_a_photograph_is_no_cut_out_though_it_is_padded(
    config, vocabulary, tmp_path, monkeypatch
):
    path = tmp_path / "photo.png"
    Image.new("RGB", (9, 30), (200, 10, 10)).save(path)
    rows = tf.data.Dataset.from_tensors({"image": path.read_bytes()})
    monkeypatch.setattr(captioned, "_rows", lambda config, split: rows)
    cells, cut_out = CaptionData(config, vocabulary).objects("test", GRID)
    assert not cut_out.any()
    assert cells.mean() < 0.5
