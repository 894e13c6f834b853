import functools

import numpy as np
import pytest
import tensorflow as tf

from applications.datasets.load_images import load_images
from applications.errors import UserError
from applications.images import batches
from applications.images.batches import ImageData
from applications.images.config import AugmentationConfig, ImageDataConfig
from applications.images.reader import ImageReader
from tests.applications.image_files import photo_folder

AUGMENTATION = AugmentationConfig(
    flip=True, translation=0.2, rotation=20.0, zoom=0.2, mix="cutmix", mix_alpha=1.0
)

loaded = functools.cache(load_images)
_read = ImageReader.read


@functools.cache
def graph(reader):
    signature = [tf.TensorSpec((), tf.string)]
    return tf.function(functools.partial(_read, reader), input_signature=signature)


@pytest.fixture(autouse=True)
def opened_once(monkeypatch):
    """Sets are opened and readers traced once for all tests here, to save time."""
    monkeypatch.setattr(batches, "load_images", loaded)
    monkeypatch.setattr(ImageReader, "read", lambda self, file: graph(self)(file))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder of images, and that of its prepared set."""
    root = tmp_path_factory.mktemp("images")
    return str(photo_folder(root / "my photos")), str(root / "data")


@pytest.fixture
def data(prepared):
    """A function that makes the data anew, as another process would."""

    def make(augmentation=AUGMENTATION, seed=7, **config):
        name, data_dir = prepared
        settings = {"image_size": 8, "batch_size": 23, "aspect": "stretch", **config}
        config = ImageDataConfig(name=name, data_dir=data_dir, **settings)
        return ImageData(config, augmentation, seed)

    return make


@pytest.fixture(params=["in_memory", "by_buffer"])
def memory(request, monkeypatch):
    """Both ways to hold a split."""
    if request.param == "by_buffer":
        monkeypatch.setattr(batches, "MEMORY_BYTES", 50 * 8 * 8 * 3)
        tf.random.set_seed(1)  # tf.data takes no tensor as a seed beside 0
    return request.param


def arrays(dataset):
    return [(x.numpy(), y.numpy()) for x, y in dataset]


def epochs(data, first, last):
    return arrays(tf.data.Dataset.range(first, last).flat_map(data.train.epoch))


def equal(first, second):
    return len(first) == len(second) and all(
        np.array_equal(x, y)
        for pair in zip(first, second, strict=True)
        for x, y in zip(*pair, strict=True)
    )


@pytest.mark.slow
def test_an_epoch_depends_on_seed_and_number_only(data, memory):
    whole = data(train_limit=60)
    count = whole.train.count
    first = epochs(whole, 0, 4)
    third = epochs(data(train_limit=60), 3, 4)
    assert len(third) == count
    assert equal(first[3 * count :], third)
    assert not equal(first[:count], first[count : 2 * count])
    assert not equal(third, epochs(data(train_limit=60, seed=8), 3, 4))


def test_in_memory_the_state_of_tensorflow_plays_no_part(data):
    train = data(train_limit=30).train
    expected = arrays(train.epoch(3))
    tf.random.set_seed(1234)
    tf.random.normal(())
    assert equal(arrays(train.epoch(3)), expected)


def test_every_training_image_comes_once_an_epoch(data, memory):
    plain = data(AugmentationConfig())
    images, labels = plain.arrays("train")
    expected = sorted(
        (image.astype(np.float32).tobytes(), int(label))
        for image, label in zip(images, labels, strict=True)
    )
    for epoch in range(2):
        seen = [
            (image.tobytes(), int(label.argmax()))
            for batch in arrays(plain.train.epoch(epoch))
            for image, label in zip(*batch, strict=True)
        ]
        assert sorted(seen) == expected
        assert seen != expected
    assert plain.train.examples == len(expected)
    assert [len(x) for x, _ in plain.train.epoch(0)][:-1] == [23] * (
        plain.train.count - 1
    )


def test_two_images_of_a_batch_are_changed_differently(data):
    same = data(AugmentationConfig(translation=0.4))
    same.train._shuffled = lambda key, size: tf.data.Dataset.from_tensors(
        (
            tf.random.stateless_uniform((1, 8, 8, 3), (1, 2)) * tf.ones((5, 1, 1, 1)),
            tf.zeros(5, tf.int64),
        )
    ).repeat(2)
    changed = np.concatenate([x for x, _ in arrays(same.train.epoch(0))])
    assert len({image.tobytes() for image in changed}) == 10


@pytest.mark.parametrize("split", ["validation", "test"])
def test_held_out_images_are_never_changed(data, memory, split, prepared):
    changed = data()
    rows = loaded(prepared[0], split, prepared[1])
    expected = [
        (changed.reader.read(row["image"]), np.eye(2)[row["label"]])
        for row in rows.as_numpy_iterator()
    ]
    for _ in range(2):
        evaluated = changed.evaluation_batches(split)
        assert evaluated.element_spec[0].dtype == tf.float32
        images, labels = map(np.concatenate, zip(*arrays(evaluated), strict=True))
        np.testing.assert_array_equal(images, [image for image, _ in expected])
        np.testing.assert_array_equal(labels, [label for _, label in expected])
    assert equal(arrays(changed.validation), arrays(data().validation))


def test_what_is_known_of_the_set(data):
    known = data(image_size=9, channels=1)
    assert known.class_names == ("cat", "dog")
    assert known.num_classes == 2
    assert known.image_shape == (9, 9, 1)
    assert data().image_shape == (8, 8, 3)
    assert next(iter(known.validation))[0].shape[1:] == (9, 9, 1)


def test_fashion_mnist_is_taken_as_stored():
    stored = ImageData(ImageDataConfig())
    assert stored.image_shape == (28, 28, 1)
    assert stored.num_classes == 10
    config = ImageDataConfig(image_size=32, channels=3)
    assert ImageData(config).image_shape == (32, 32, 3)


def test_limits_take_the_first_of_each_split(data):
    limits = {"train_limit": 30, "validation_limit": 2, "test_limit": 1}
    limited = data(**limits)
    assert (limited.train.examples, limited.train.count) == (30, 2)
    for setting, limit in limits.items():
        images, labels = limited.arrays(setting.removesuffix("_limit"))
        assert len(images) == len(labels) == limit
    first, _ = data().arrays("validation", 2)
    np.testing.assert_array_equal(limited.arrays("validation")[0], first)
    assert sum(len(x) for x, _ in limited.validation) == 2


def test_images_of_several_sizes_need_one(data):
    with pytest.raises(UserError, match=r"for example data\.image_size=64") as error:
        _ = data(image_size=None).train
    assert "\n" not in str(error.value)


def test_a_split_without_images_is_one_line(data, monkeypatch):
    monkeypatch.setattr(batches, "load_images", lambda *args: loaded(*args).take(0))
    with pytest.raises(UserError, match="has no images for test") as error:
        data().arrays("test")
    assert "\n" not in str(error.value)
