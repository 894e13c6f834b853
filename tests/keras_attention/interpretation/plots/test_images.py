"""Maps over images: which lies where, in which colors."""

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


def test_rows_need_names_and_maps_for_every_image():
    with pytest.raises(ValueError, match=r"Maps must have the shape.*images=2"):
        plots.overlay_rows([IMAGE] * 2, MAPS[None, :2], ["a", "b"])
    with pytest.raises(ValueError, match="`row_names` must be one an image"):
        plots.overlay_rows([IMAGE], MAPS[None, :2], ["a", "b"], ["x", "y"])
