"""The maps of all positions in one picture."""

import numpy as np
import pytest

from keras_attention.interpretation import plots, position_similarity


def test_every_map_lies_at_its_position():
    table = np.random.default_rng(0).normal(size=(6, 4))
    similarity = position_similarity(table, grid=(2, 3))
    figure = plots.position_similarity(similarity, "positions")
    axes, color_bar = figure.axes
    shown = np.ma.filled(axes.images[0].get_array(), np.nan)
    # Maps of 2 x 3 with one empty cell between them, two down and three across.
    assert shown.shape == (2 * 3 - 1, 3 * 4 - 1)
    for row in range(2):
        for column in range(3):
            tile = shown[3 * row : 3 * row + 2, 4 * column : 4 * column + 3]
            np.testing.assert_array_equal(tile, similarity[row, column])
    assert np.isnan(shown[2]).all()
    assert np.isnan(shown[:, [3, 7]]).all()
    assert axes.images[0].get_clim() == (-1, 1)
    assert list(axes.get_yticks()) == [0.5, 3.5]
    assert list(axes.get_xticks()) == [1, 5, 9]
    assert color_bar.get_ylabel() == "cosine similarity"
    figure.canvas.draw()


@pytest.mark.parametrize("shape", [(6, 6), (2, 3, 3, 2), (0, 3, 0, 3)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"shape \(h, w, h, w\)"):
        plots.position_similarity(np.zeros(shape))
