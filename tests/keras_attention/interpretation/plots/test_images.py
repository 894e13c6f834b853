"""Maps over images: which lies where, in which colors."""

import itertools

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import plots

HEIGHT, WIDTH = 20, 30
IMAGE = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3)).astype("uint8")
MAPS = np.random.default_rng(1).uniform(0, 0.5, (5, 2, 3)).astype("float32")


def titles(figure):
    return [axes.get_title() for axes in figure.axes if axes.images]


def backdrop(figure, panel=1):
    return figure.axes[panel].images[0].get_array()


# ----------------------------------------------------------------------------- overlays


def test_the_image_comes_first_then_every_map():
    figure = plots.overlays(IMAGE, MAPS, title="block 0")
    assert figure.get_suptitle() == "block 0"
    assert titles(figure) == ["image", *(f"head {i}" for i in range(5))]
    shown = figure.axes[0].images[0].get_array()
    np.testing.assert_allclose(shown, IMAGE / 255, atol=1e-6)
    for axes, values in zip(figure.axes[1:6], MAPS, strict=True):
        np.testing.assert_array_equal(axes.images[1].get_array(), values)
    assert figure.axes[6].get_ylabel() == "attention weight"
    figure.canvas.draw()


def test_maps_of_any_resolution_cover_the_image():
    figure = plots.overlays(IMAGE, MAPS)
    image, laid_over = figure.axes[1].images
    assert laid_over.get_array().shape == (2, 3)
    assert tuple(laid_over.get_extent()) == tuple(image.get_extent())
    assert tuple(image.get_extent()) == (-0.5, 29.5, 19.5, -0.5)
    assert 0 < laid_over.get_alpha() < 1


def test_all_maps_have_one_scale():
    figure = plots.overlays(IMAGE, MAPS)
    for axes in figure.axes[1:6]:
        assert axes.images[1].get_clim() == (0, MAPS.max())
    figure = plots.overlays(IMAGE, MAPS, limits=(0, 1), value_name="gate")
    assert figure.axes[3].images[1].get_clim() == (0, 1)
    assert figure.axes[6].get_ylabel() == "gate"


def test_a_map_of_zeros_is_dark():
    figure = plots.overlays(IMAGE, np.zeros((1, 2, 3)), ["nothing"])
    assert figure.axes[1].images[1].get_clim() == (0, 1)
    figure.canvas.draw()


@pytest.mark.parametrize(("smooth", "how"), [(False, "nearest"), (True, "bilinear")])
def test_smooth(smooth, how):
    figure = plots.overlays(IMAGE, MAPS, smooth=smooth)
    assert figure.axes[1].images[1].get_interpolation() == how


@pytest.mark.parametrize(
    "image",
    [
        np.full((4, 6), 51, "uint8"),
        np.full((4, 6, 1), 51.0),
        np.full((4, 6, 3), 0.2),
        ops.full((4, 6, 1), 51, dtype="uint8"),
        ops.full((4, 6, 3), 0.2),
    ],
    ids=["gray", "floats", "up_to_1", "bytes", "tensor"],
)
def test_images_of_every_kind_are_one_gray(image):
    figure = plots.overlays(image, MAPS)
    np.testing.assert_allclose(backdrop(figure), np.full((4, 6), 0.2), atol=1e-6)


def test_a_dark_image_of_bytes_stays_dark():
    """Integers are 0..255 even where all of them are 0 or 1."""
    figure = plots.overlays(np.ones((4, 6), "uint8"), MAPS)
    np.testing.assert_allclose(backdrop(figure), np.full((4, 6), 1 / 255), atol=1e-6)


# -------------------------------------------------------------------------- film strips

WORDS = ["a", "red", "fox", "in", "snow"]


def test_a_film_strip_reads_from_the_image_on():
    figure = plots.film_strip(IMAGE, WORDS, MAPS, title="a red fox in snow")
    assert figure.get_suptitle() == "a red fox in snow"
    assert titles(figure) == ["image", *WORDS]
    for axes, values in zip(figure.axes[1:6], MAPS, strict=True):
        image, shadow = axes.images
        np.testing.assert_allclose(image.get_array(), IMAGE / 255, atol=1e-6)
        np.testing.assert_array_equal(shadow.get_array(), values)
        assert tuple(shadow.get_extent()) == tuple(image.get_extent())
        assert shadow.get_clim() == (0, MAPS.max())
    assert figure.axes[6].get_ylabel() == "attention weight"
    figure.canvas.draw()


def test_the_more_is_looked_at_the_less_is_dark():
    figure = plots.film_strip(IMAGE, WORDS[:1], [[[0.0, 0.25, 0.5]]], smooth=False)
    shadow = figure.axes[1].images[1]
    np.testing.assert_allclose(shadow.get_alpha(), [[0.85, 0.425, 0.0]], atol=1e-6)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(float)
    box = figure.axes[1].get_window_extent()
    top, bottom = len(pixels) - int(box.y1) + 2, len(pixels) - int(box.y0) - 2
    edges = np.linspace(box.x0, box.x1, 4).astype(int)
    thirds = [
        pixels[top:bottom, left + 2 : right - 2].mean()
        for left, right in itertools.pairwise(edges)
    ]
    assert thirds[0] < thirds[1] < thirds[2]


@pytest.mark.parametrize(
    ("words", "longest_row", "expected"),
    [(5, 6, (1, 6)), (7, 6, (2, 4)), (5, 2, (3, 2))],
)
def test_rows_of_a_film_strip_are_of_one_length(words, longest_row, expected):
    maps = np.ones((words, 2, 3))
    figure = plots.film_strip(IMAGE, ["x"] * words, maps, longest_row=longest_row)
    assert figure.axes[0].get_gridspec().get_geometry() == expected
    places = [axes.get_subplotspec().num1 for axes in figure.axes[: words + 1]]
    assert places == list(range(words + 1))


# ----------------------------------------------------------------------------- in rows


def test_rows_of_images():
    maps = np.stack([MAPS[:2], 3 * MAPS[2:4]])
    figure = plots.overlay_rows(
        [IMAGE, IMAGE // 2], maps, ["CAM", "rollout"], ["label a", "label b"], "test"
    )
    assert figure.get_suptitle() == "test"
    assert titles(figure) == ["image", "CAM", "rollout", "", "", ""]
    assert [axes.get_xlabel() for axes in figure.axes[::3]] == ["label a", "label b"]
    np.testing.assert_array_equal(figure.axes[5].images[1].get_array(), maps[1, 1])
    # Each map by its own largest value.
    assert figure.axes[5].images[1].get_clim() == (0, maps[1, 1].max())
    assert figure.axes[1].images[1].get_clim() == (0, maps[0, 0].max())
    np.testing.assert_allclose(
        figure.axes[3].images[0].get_array(), IMAGE // 2 / 255, atol=1e-6
    )
    figure.canvas.draw()


# ------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("image", "maps", "names", "message"),
    [
        (IMAGE[None], MAPS, None, r"An image must have.*shape=\(1, 20, 30, 3\)"),
        (IMAGE[..., :2], MAPS, None, r"An image must have the shape"),
        (IMAGE, MAPS[0], None, r"Maps must have the shape"),
        (IMAGE, MAPS, ["one"], r"one name for each.*names=1"),
        (IMAGE, -MAPS, None, r"Maps must be at least 0.*smallest=-0\.4"),
        (IMAGE, np.full_like(MAPS, np.nan), None, r"at least 0.*smallest=nan"),
    ],
)
def test_wrong_pictures_are_refused(image, maps, names, message):
    with pytest.raises(ValueError, match=message):
        plots.overlays(image, maps, names)


def test_wrong_film_strips_are_refused():
    with pytest.raises(ValueError, match=r"one name for each.*names=4"):
        plots.film_strip(IMAGE, WORDS[:4], MAPS)
    with pytest.raises(ValueError, match="`longest_row` must be a positive integer"):
        plots.film_strip(IMAGE, WORDS, MAPS, longest_row=0)


def test_rows_need_names_and_maps_for_every_image():
    with pytest.raises(ValueError, match=r"Maps must have the shape.*images=2"):
        plots.overlay_rows([IMAGE] * 2, MAPS[None, :2], ["a", "b"])
    with pytest.raises(ValueError, match="`row_names` must be one an image"):
        plots.overlay_rows([IMAGE], MAPS[None, :2], ["a", "b"], ["x", "y"])
