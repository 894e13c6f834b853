import random

import numpy as np
import pytest
import tensorflow as tf

from applications.images.augmentation import Augmentation, Backgrounds, KeyedSeeds
from applications.images.config import AugmentationConfig

COUNT, SIDE = 61, 29
KEY = tf.constant([3, 5])
LABELS = np.eye(COUNT, dtype=np.float32)
EVERYTHING = {"flip": True, "translation": 0.1, "rotation": 10.0, "zoom": 0.1}


def augmented(images, key=KEY, **config):
    augmentation = Augmentation(AugmentationConfig(**config))
    return [x.numpy() for x in augmentation(images, LABELS, tf.constant(key))]


def spots(row, column):
    """Images of one round spot, which stays one wherever it is moved."""
    y, x = np.mgrid[:SIDE, :SIDE]
    spot = 255 * np.exp(-((y - row) ** 2 + (x - column) ** 2) / 8)
    return np.tile(spot[None, :, :, None], (COUNT, 1, 1, 1)).astype(np.float32)


def centers(images):
    """Where the spots are, as rows and columns from the middle of the image."""
    mass = images[..., 0] / images.sum(axis=(1, 2, 3))[:, None, None]
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    return (mass * y).sum(axis=(1, 2)), (mass * x).sum(axis=(1, 2))


def coded():
    """Images of one value, which is their number: a mixture says of what."""
    values = np.arange(COUNT, dtype=np.float32)
    return np.broadcast_to(values[:, None, None, None], (COUNT, 28, 28, 1)).copy()


@pytest.mark.parametrize("mix", ["none", "mixup", "cutmix"])
def test_equal_keys_give_equal_results_and_others_others(mix):
    images = np.random.default_rng(0).uniform(0, 255, (COUNT, SIDE, SIDE, 3))
    config = {**EVERYTHING, "mix": mix}
    first = augmented(images, **config)
    augmented(images, key=(7, 7), **config)
    tf.random.set_seed(99)
    again = augmented(images, **config)
    other = augmented(images, key=(3, 6), **config)
    for index in range(2):
        np.testing.assert_array_equal(first[index], again[index])
    assert np.any(first[0] != other[0])
    assert first[0].dtype == first[1].dtype == np.float32
    assert first[0].shape == images.shape


def test_no_settings_change_nothing():
    images = np.random.default_rng(0).integers(0, 256, (COUNT, 5, 7, 3), np.uint8)
    output, labels = augmented(images)
    np.testing.assert_array_equal(output, images.astype(np.float32))
    np.testing.assert_array_equal(labels, LABELS)


def test_flip_mirrors_about_half():
    images = np.random.default_rng(0).uniform(0, 255, (COUNT, 5, 7, 3))
    images = images.astype(np.float32)
    output, labels = augmented(images, flip=True)
    same = np.all(output == images, axis=(1, 2, 3))
    mirrored = np.all(output == images[:, :, ::-1], axis=(1, 2, 3))
    assert np.all(same ^ mirrored)
    assert 0.3 < same.mean() < 0.7
    np.testing.assert_array_equal(labels, LABELS)


def test_translation_shifts_every_way_within_its_share():
    rows, columns = centers(augmented(spots(14, 14), translation=0.2)[0])
    for shift in (rows, columns):
        assert np.abs(shift).max() <= 0.2 * SIDE + 0.05
        assert shift.min() < -0.1 * SIDE
        assert shift.max() > 0.1 * SIDE
    assert abs(np.corrcoef(rows, columns)[0, 1]) < 0.4


def test_rotation_turns_both_ways_within_its_degrees():
    rows, columns = centers(augmented(spots(14, 22), rotation=30.0)[0])
    angles = np.degrees(np.arctan2(rows, columns))
    assert np.abs(angles).max() <= 30.5
    assert angles.min() < -15
    assert angles.max() > 15
    np.testing.assert_allclose(np.hypot(rows, columns), 8, atol=0.1)


def test_zoom_goes_both_ways_from_the_middle():
    rows, columns = centers(augmented(spots(14, 18), zoom=0.2)[0])
    np.testing.assert_allclose(rows, 0, atol=0.1)
    factors = columns / 4
    assert factors.min() >= 1 / 1.2 - 0.02
    assert factors.max() <= 1 / 0.8 + 0.02
    assert factors.min() < 0.92
    assert factors.max() > 1.1


def test_what_comes_into_view_repeats_the_edge():
    bright = np.full((COUNT, SIDE, SIDE, 1), 200.0)
    output, _ = augmented(bright, translation=0.3, rotation=45.0, zoom=0.3)
    np.testing.assert_allclose(output, 200, rtol=1e-5)


@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_mixup_mixes_labels_as_images(alpha):
    images, labels = augmented(coded(), mix="mixup", mix_alpha=alpha)
    expected = labels @ np.arange(COUNT, dtype=np.float32)
    np.testing.assert_allclose(images[:, 3, 5, 0], expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(labels.sum(axis=1), 1, rtol=1e-6)
    assert np.std(labels.max(axis=1)) > 0.05


@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_cutmix_labels_are_the_shares_of_the_pixels(alpha):
    """Keras's own label is off by a part of a pixel's width, here up to 0.07."""
    images, labels = augmented(coded(), mix="cutmix", mix_alpha=alpha)
    shares = [(images == number).mean(axis=(1, 2, 3)) for number in range(COUNT)]
    np.testing.assert_allclose(labels, np.stack(shares, axis=1), atol=1e-6)
    assert np.std(labels.max(axis=1)) > 0.05


def test_batches_of_any_length_in_a_graph():
    augmentation = Augmentation(AugmentationConfig(**EVERYTHING, mix="cutmix"))
    images = tf.data.Dataset.from_tensors((coded(), LABELS)).unbatch().batch(40)
    lengths = [len(x) for x, _ in images.map(lambda x, y: augmentation(x, y, KEY))]
    assert lengths == [40, 21]


def test_seeds_follow_from_the_key_and_never_repeat():
    seeds, again = KeyedSeeds(KEY), KeyedSeeds(KEY)
    drawn = [tuple(seeds.next().numpy()) for _ in range(9)]
    assert len(set(drawn)) == 9
    assert drawn == [tuple(again.next().numpy()) for _ in range(9)]


def test_making_the_layers_draws_no_random_number():
    before = random.getstate()
    Augmentation(AugmentationConfig(**EVERYTHING, mix="mixup"))
    assert random.getstate() == before


def grounds():
    """The same images, half transparent on the left, over black and over white."""
    color = (
        np.random.default_rng(0).integers(0, 256, (COUNT, 5, 8, 3)).astype("float32")
    )
    alpha = np.repeat([0.5, 1.0], 4)[:, None]
    over = [color * alpha + ground * (1 - alpha) for ground in (0, 255)]
    return color, alpha, np.concatenate(over, axis=-1)


def test_without_random_colors_images_lie_on_white():
    _, _, images = grounds()
    output = Backgrounds(0.0)(images, KeyedSeeds(KEY)).numpy()
    np.testing.assert_array_equal(output, images[..., 3:].astype("float32"))


def test_a_random_color_shows_where_an_image_is_transparent():
    color, alpha, images = grounds()
    output = Backgrounds(1.0)(images, KeyedSeeds(KEY)).numpy()
    np.testing.assert_allclose(output[:, :, 4:], color[:, :, 4:], atol=1e-3)
    behind = ((output - color * alpha) / (1 - alpha[:4].mean()))[:, :, :4]
    assert np.ptp(behind, axis=(1, 2)).max() < 0.01  # one colour behind an image
    colors = behind.mean(axis=(1, 2))  # (B, 3)
    assert colors.min() > -0.01
    assert colors.max() < 255.01
    assert np.all(colors.std(axis=0) > 50)
    again = Backgrounds(1.0)(images, KeyedSeeds(KEY)).numpy()
    np.testing.assert_array_equal(output, again)


def test_a_share_of_the_images_gets_a_color():
    _, _, images = grounds()
    output = Backgrounds(0.4)(images, KeyedSeeds(KEY)).numpy()
    white = np.all(output == images[..., 3:].astype("float32"), axis=(1, 2, 3))
    assert 0.4 < white.mean() < 0.8
