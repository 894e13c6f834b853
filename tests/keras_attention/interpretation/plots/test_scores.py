"""Scores between tokens: what stands on the figures, not their pixels."""

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import plots

ROWS, COLUMNS = ["▁Größe", "▁ändern", "</s>"], ["▁change", "▁the", "▁$ize$", "</s>"]
N, T, S = 5, len(ROWS), len(COLUMNS)


def weights(*shape):
    return np.random.default_rng(0).dirichlet(np.ones(shape[-1]), size=shape[:-1])


def texts(labels):
    return [label.get_text() for label in labels]


def panels(figure):
    return [axes for axes in figure.axes if axes.images]


def heading(figure):
    return figure.get_suptitle()


# ------------------------------------------------------------------------------ heatmap


def test_heatmap_labels_every_token():
    scores = weights(T, S)
    figure = plots.heatmap(scores, ROWS, COLUMNS, "greedy")
    axes, color_bar = figure.axes
    assert texts(axes.get_yticklabels()) == ROWS
    assert texts(axes.get_xticklabels()) == COLUMNS
    assert heading(figure) == "greedy"
    assert figure.get_supylabel() == "attending token"
    assert figure.get_supxlabel() == "attended token"
    assert color_bar.get_ylabel() == "attention weight"
    np.testing.assert_allclose(axes.images[0].get_array(), scores, atol=1e-6)


def test_colors_go_from_0_to_1_whatever_the_weights():
    figure = plots.heatmap(np.full((T, S), 0.1), ROWS, COLUMNS)
    assert figure.axes[0].images[0].get_clim() == (0, 1)
    assert heading(figure) == ""


def test_tensors_are_taken():
    scores = ops.convert_to_tensor(weights(T, S), dtype="float16")
    figure = plots.heatmap(scores, ROWS, COLUMNS)
    assert figure.axes[0].images[0].get_array().shape == (T, S)


def test_long_sentences_get_larger_figures_then_say_what_is_cut():
    def figure(rows, columns):
        return plots.heatmap(
            weights(rows, columns), ["token"] * rows, ["token"] * columns, "long"
        )

    short, whole, long = figure(8, 8), figure(60, 60), figure(70, 1000)
    assert (whole.get_size_inches() > short.get_size_inches()).all()
    assert heading(whole) == "long"
    assert heading(long).splitlines() == [
        "long",
        "the first 60 of 70 attending tokens",
        "the first 60 of 1000 attended tokens",
    ]
    assert long.axes[0].images[0].get_array().shape == (60, 60)
    assert (long.get_size_inches() < 16).all()
    # Readable in print: 6 points and more.
    assert long.axes[0].get_xticklabels()[0].get_fontsize() >= 6


# -------------------------------------------------------------------------- head panels


def test_every_head_has_a_panel():
    scores = weights(N, T, S)
    figure = plots.head_panels(scores, ROWS, COLUMNS, "block 0")
    found = panels(figure)
    assert [axes.get_title() for axes in found] == [f"head {n}" for n in range(N)]
    for axes, head in zip(found, scores, strict=True):
        np.testing.assert_allclose(axes.images[0].get_array(), head, atol=1e-6)
        assert axes.images[0].get_clim() == (0, 1)
    assert len(figure.axes) == N + 1  # one color bar


def test_mean_stands_beside_the_heads_never_alone():
    scores = weights(2, T, S)
    found = panels(plots.head_panels(scores, ROWS, COLUMNS, show_mean=True))
    assert [axes.get_title() for axes in found] == [
        "head 0",
        "head 1",
        "mean of 2 heads",
    ]
    shown = found[-1].images[0].get_array()
    np.testing.assert_allclose(shown, scores.mean(axis=0), atol=1e-6)


def test_tokens_stand_left_and_below():
    # Five panels in rows of three: the third has nothing below it.
    found = panels(plots.head_panels(weights(N, T, S), ROWS, COLUMNS))
    assert [texts(axes.get_yticklabels()) == ROWS for axes in found] == [
        *(True, False, False),
        *(True, False),
    ]
    assert [texts(axes.get_xticklabels()) == COLUMNS for axes in found] == [
        *(False, False, True),
        *(True, True),
    ]


# ------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.ones((1, T, S)), r"shape \(T, S\).*shape=\(1, 3, 4\)"),
        (np.ones((T, S - 1)), "one a token.*column_labels=4"),
        (np.ones((T + 1, S)), "one a token.*row_labels=3"),
        (np.full((T, S), 2.0), r"in \[0, 1\].*largest=2"),
        (np.full((T, S), -1.0), r"in \[0, 1\].*smallest=-1"),
        (np.full((T, S), np.nan), r"in \[0, 1\].*smallest=nan"),
    ],
)
def test_wrong_scores_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        plots.heatmap(scores, ROWS, COLUMNS)


def test_head_panels_need_heads():
    with pytest.raises(ValueError, match=r"shape \(N, T, S\)"):
        plots.head_panels(weights(T, S), ROWS, COLUMNS)
