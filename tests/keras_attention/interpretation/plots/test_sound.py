"""Spectrograms with what their frames are given: one axis of time."""

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import plots

FRAMES = np.random.default_rng(0).normal(size=(7, 5)).astype("float32")


def test_frames_and_measures_share_their_axis():
    measures = {
        "attention": ops.softmax(ops.arange(7, dtype="float32")),
        "heads": np.full((3, 7), 1 / 7),
        "gradient": np.linspace(-1, 1, 7),
    }
    figure = plots.attended_spectrogram(FRAMES, measures, "seven 0.9", seconds=0.01)
    above, *panels = figure.axes
    assert figure.get_suptitle() == "seven 0.9"
    (image,) = above.images
    np.testing.assert_array_equal(image.get_array(), FRAMES.T)
    assert image.get_extent() == pytest.approx([0, 0.07, 0, 5])
    assert image.origin == "lower"
    assert [axes.get_title(loc="left") for axes in panels] == list(measures)
    for axes, lines in zip(panels, (1, 3, 1), strict=True):
        assert len(axes.patches) == lines
        values, edges, _ = axes.patches[0].get_data()
        assert len(values) == 7
        np.testing.assert_allclose(edges, np.arange(8) * 0.01, atol=1e-6)
        assert axes.get_xlim() == above.get_xlim()
    assert [axes.get_legend() is None for axes in panels] == [True, False, True]
    assert panels[-1].get_xlabel() == "seconds"
    assert len(panels[-1].lines) == 1  # 0, of a measure with both signs
    figure.canvas.draw()


def test_a_spectrogram_alone_counts_frames(tmp_path):
    figure = plots.attended_spectrogram(FRAMES[:1], {}, band_name="coefficient")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("frame", "coefficient")
    assert plots.save(figure, tmp_path / "sound.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("frames", "measures", "message"),
    [
        (FRAMES[0], {}, r"`frames` must have the shape \(T, F\)"),
        (FRAMES[:0], {}, r"`frames` must have the shape \(T, F\)"),
        (FRAMES, {"m": np.ones(6)}, "measure 'm' must be one finite number a frame"),
        (FRAMES, {"m": np.full(7, np.nan)}, "measure 'm' must be one finite number"),
        (FRAMES, {"m": np.ones((1, 2, 7))}, "measure 'm' must be one finite number"),
    ],
)
def test_other_shapes_are_refused(frames, measures, message):
    with pytest.raises(ValueError, match=message):
        plots.attended_spectrogram(frames, measures)


def test_characters_stand_under_the_sound_that_says_them():
    first, second = np.eye(2, 4), np.full((2, 4), 0.25)
    figure = plots.aligned_spectrogram(
        FRAMES, {"head 0": first, "head 1": second}, ["a", " "], "a", seconds=0.01
    )
    above, *panels = figure.axes
    assert figure.get_suptitle() == "a"
    assert above.images[0].get_extent() == pytest.approx([0, 0.07, 0, 5])
    assert [axes.get_title(loc="left") for axes in panels] == ["head 0", "head 1"]
    for axes, values in zip(panels, (first, second), strict=True):
        (image,) = axes.images
        np.testing.assert_allclose(image.get_array(), values)
        # The first character above; places from the first frame to the last.
        assert image.get_extent() == pytest.approx([0, 0.07, 1.5, -0.5])
        assert image.get_clim() == (0, 1)
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "␣"]
        assert axes.get_xlim() == above.get_xlim()
    assert panels[-1].get_xlabel() == "seconds"
    figure.canvas.draw()


@pytest.mark.parametrize(
    "values", [np.ones((3, 4)), np.ones(4), np.full((2, 4), 2), np.full((2, 4), np.nan)]
)
def test_other_alignments_are_refused(values):
    with pytest.raises(ValueError, match="alignment 'x' must be a number in"):
        plots.aligned_spectrogram(FRAMES, {"x": values}, ["a", "b"])
