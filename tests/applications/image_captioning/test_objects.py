import numpy as np
import pytest

from applications.image_captioning.captioner import Caption
from applications.image_captioning.concepts import Concepts
from applications.image_captioning.objects import Looks, looked_at
from tests.applications.image_captioning.conftest import model_of

# The object is the left one of three places above, of two rows.
CELLS = np.array([[[1.0, 0.5, 0.0], [0.0, 0.0, 0.0]]])
GRID = (2, 3)


class Cut:
    """Stands for the data: images of these cells, all cut out but those named."""

    def __init__(self, cells, whole=()):
        self.cells = np.array(cells)
        self.cut_out = ~np.isin(np.arange(len(cells)), whole)

    def objects(self, split, grid):
        assert (split, grid) == ("test", GRID)
        return self.cells, self.cut_out


class Looking:
    """Stands for a model with attention."""

    grid = GRID

    def get_config(self):
        return {"decoder": "gru", "decoder_options": None}


def looks_of(captions, cells, **whole):
    return Looks.of(captions, Looking(), Cut(cells, **whole))


def looking(*heads):
    return Caption(("a",) * len(heads[0]), -1.0, np.array(heads, "float32"))


def test_attention_inside_is_the_mean_of_words_and_heads():
    on_it, beside = [1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]
    edge, even = [0, 1, 0, 0, 0, 0], [1 / 6] * 6
    for caption, expected in [
        (looking([on_it]), 1.0),
        (looking([beside, beside]), 0.0),
        (looking([edge]), 0.5),
        (looking([even]), 0.25),
        (looking([on_it, beside], [on_it, edge]), 0.625),
    ]:
        found = looks_of([caption], CELLS)
        assert found.inside == pytest.approx([expected])
        assert found.area == pytest.approx([0.25])


def test_the_share_of_a_class_token_counts_for_neither_side():
    maps = looked_at([looking([[0.6, 0.2, 0, 0, 0.2, 0, 0]])], GRID)
    np.testing.assert_allclose(maps, [[[0.5, 0, 0], [0.5, 0, 0]]])


def test_a_habit_is_to_look_at_the_same_places_whatever_the_image():
    """Of two models the objects have as much; only one of them follows the objects."""
    left, right = np.zeros((2, 2, 3))
    left[:, 0] = right[:, 2] = 1
    at_left, at_right = looking([[0.5, 0, 0, 0.5, 0, 0]]), looking([[0, 0, 1, 0, 0, 0]])
    following = looks_of([at_left, at_right], [left, right])
    assert following.inside == pytest.approx([1, 1])
    assert following.habit == pytest.approx([0.5, 0.5])
    whole = looks_of([at_left, at_left, at_right], [left, left, right], whole=[2])
    assert whole.habit == pytest.approx([1, 1, 0])  # of cut-outs only


def test_figures_are_of_cut_outs_only():
    cut_out = np.array([True, False, True])
    inside, area, habit = [0.8, 0.0, 0.6], [0.5, 0.9, 0.3], [0.7, 0.0, 0.5]
    looks = Looks(*map(np.array, (inside, area, habit)), cut_out)
    concepts = Concepts([["a"], ["b"], ["c"]])
    found = looks.figures(concepts)["attention_inside_the_object"]
    assert found["images"] == 2
    assert (found["share"], found["area"]) == pytest.approx((0.7, 0.4))
    assert found["above_area"]["value"] == pytest.approx(0.3)
    assert found["mean_map"] == pytest.approx(0.6)
    assert found["above_mean_map"]["value"] == pytest.approx(0.1)
    chosen = looks.figures(concepts, np.array([True, True, False]))
    assert chosen["attention_inside_the_object"]["share"] == pytest.approx(0.8)
    assert looks.figures(concepts, ~cut_out) == {}


def test_a_model_that_does_not_look_has_no_figures(config, data):
    captions = [Caption(("a",), -1.0, None)] * 12
    looks = Looks.of(captions, model_of(config, data, attention="none"), data)
    assert looks.figures(Concepts([[str(i)] for i in range(12)])) == {}
