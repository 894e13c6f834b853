import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from applications.datasets.captioned import Captioned, split, subject, transparent_png
from applications.datasets.errors import DataError
from applications.datasets.pairs import split_name

# The first numbers whose hash puts them into each split.
GROUPS = {
    name: next(str(i) for i in range(1000) if split_name(str(i)) == name)
    for name in ("train", "validation", "test")
}


def image(key, *captions, split="train", kin=""):
    return Captioned(key, Path(key), captions, GROUPS[split], kin)


def keys(parts):
    return {name: [one.key for one in part] for name, part in parts.items()}


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("A tiger.", "tiger"),
        ("tiger", "tiger"),
        ("The Letter A!", "letter a"),
        ("An", "an"),
        ("A", "a"),
        ("animal a", "animal a"),
        ("...", ""),
    ],
)
def test_subject_is_a_caption_without_its_article(caption, expected):
    assert subject(caption) == expected


def test_images_go_where_the_hash_of_their_group_says():
    images = [image(name, name, split=name) for name in GROUPS]
    assert keys(split(images)) == {name: [name] for name in GROUPS}


def test_what_train_gives_away_is_not_held_out():
    images = [
        image("1", "A dog.", "a hound", kin="dog"),
        image("2", "a wolf", "the hound", split="test"),
        image("3", "a puppy", split="test", kin="dog"),
        image("4", "a puppy", split="test", kin="cat"),
        image("5", "Dog", split="validation"),
        image("6", "a cat", split="validation"),
    ]
    assert keys(split(images)) == {"train": ["1"], "validation": ["6"], "test": ["4"]}


def test_no_kin_is_no_kinship():
    images = [image("1", "a dog"), image("2", "a cat", split="test")]
    assert len(split(images)["test"]) == 1


@pytest.fixture
def half_transparent():
    """Left half red and opaque, right half green and invisible."""
    pixels = np.zeros((6, 10, 4), np.uint8)
    pixels[:, :5] = 255, 0, 0, 255
    pixels[:, 5:] = 0, 255, 0, 0
    return pixels


def read(content):
    picture = Image.open(io.BytesIO(content))
    assert (picture.format, picture.mode) == ("PNG", "RGBA")
    return np.array(picture)


def test_a_small_image_keeps_its_pixels_and_alpha(tmp_path, half_transparent):
    Image.fromarray(half_transparent).save(tmp_path / "x.png")
    stored = read(transparent_png(tmp_path / "x.png", largest=10))
    np.testing.assert_array_equal(stored, half_transparent)


def test_a_large_image_shrinks_and_no_hidden_colour_shows(tmp_path, half_transparent):
    Image.fromarray(half_transparent.repeat(7, 0).repeat(7, 1)).save(tmp_path / "x.png")
    stored = read(transparent_png(tmp_path / "x.png", largest=15))
    assert stored.shape == (9, 15, 4)
    assert 0 < stored[0, 7, 3] < 255
    assert stored[..., 1][stored[..., 3] > 0].max() == 0


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGB"])
def test_every_mode_gets_an_alpha_channel(mode, tmp_path):
    Image.new("RGB", (4, 3), (51, 51, 51)).convert(mode).save(tmp_path / "x.png")
    stored = read(transparent_png(tmp_path / "x.png", largest=8))
    assert (stored == [51, 51, 51, 255]).all()


def test_the_transparent_colour_of_a_palette_is_kept(tmp_path):
    picture = Image.fromarray(np.array([[0, 1]], np.uint8), "P")
    picture.putpalette([1, 2, 3, 4, 5, 6])
    picture.save(tmp_path / "x.png", transparency=1)
    stored = read(transparent_png(tmp_path / "x.png", largest=8))
    assert stored[0, :, 3].tolist() == [255, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text", "x.png is no image that can be read."),
        (None, "x.png cannot be read: No such file or directory."),
        ("cut", "x.png cannot be read: "),
    ],
)
def test_a_bad_file_is_named_in_one_line(content, message, tmp_path, half_transparent):
    path = tmp_path / "x.png"
    if content == "cut":
        Image.fromarray(half_transparent).save(path)
        content = path.read_bytes()[:50]
    if content:
        path.write_bytes(content)
    with pytest.raises(DataError) as error:
        transparent_png(path, largest=8)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
