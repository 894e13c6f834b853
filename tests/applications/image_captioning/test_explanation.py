import numpy as np
import pytest
from PIL import Image

from applications.errors import UserError
from applications.image_captioning import explanation
from applications.image_captioning.captioner import Caption, Captioner
from applications.pipeline import run as runs
from tests.applications.image_captioning.conftest import GRID, SIZE, model_of


@pytest.fixture
def draw(config, data, root):
    """Draws for a model; gives the names of the figures, which are no blank sheets."""
    run = runs.create(root, "image_captioning", "smoke", config)

    def explain(model, inputs):
        paths = explanation.explain(data, model, run, inputs)
        for path in paths:
            assert np.asarray(Image.open(path).convert("L")).std() > 5
        return [path.stem for path in paths]

    return explain


@pytest.fixture
def inputs(shapes):
    return [str(shapes / "test/red-circle-0.png")]


def test_a_strip_for_an_image_and_its_heads_apart(draw, captioner, inputs, monkeypatch):
    scores = np.random.default_rng(0).uniform(size=(2, 2, GRID[0] * GRID[1]))
    said = [Caption(("red", "circle"), -1.0, scores.astype("float32"))]

    class TwoHeads(Captioner):
        def __call__(self, batches, search="beam"):
            (image,) = batches
            assert image.shape == (1, *SIZE, 3)
            return said

    monkeypatch.setattr(explanation, "Captioner", TwoHeads)
    assert draw(captioner.model, inputs) == ["red-circle-0", "red-circle-0-heads"]


@pytest.mark.parametrize("tokens", [0, 1], ids=["places", "class-token"])
def test_a_panel_a_word_with_its_map_over_the_image(tokens):
    """On a grid that is no square, the heads' mean over the whole image."""
    words = ("a", "red", "circle")
    scores = np.random.default_rng(0).uniform(size=(2, 3, tokens + GRID[0] * GRID[1]))
    image = np.zeros((*SIZE, 3), np.uint8)
    caption = Caption(words, -1.0, scores.astype("float32"))
    drawn = dict(explanation._drawn(image, "circle", caption, GRID))
    scores = scores[..., tokens:]
    strip, heads = drawn[""], drawn["-heads"]
    titles = [axes.get_title() for axes in strip.axes[:4]]
    assert titles == ["image", *words]
    assert strip.get_suptitle() == "circle: a red circle"
    maps = scores.mean(axis=0).reshape(3, *GRID)
    for axes, expected in zip(strip.axes[1:4], maps, strict=True):
        shown = axes.get_images()[-1]
        np.testing.assert_allclose(shown.get_array(), expected, rtol=1e-5)
        assert shown.get_extent() == [-0.5, SIZE[1] - 0.5, SIZE[0] - 0.5, -0.5]
    assert [axes.get_xlabel() for axes in heads.axes[::4]] == ["head 0", "head 1"]
    for head in range(2):
        shown = heads.axes[4 * head + 2].get_images()[-1].get_array()
        np.testing.assert_allclose(shown, scores[head, 1].reshape(GRID), rtol=1e-5)


def test_examples_are_evenly_apart_with_their_own_names(data):
    shown = explanation._examples(data)
    assert len(shown.images) == len(shown.names) == 6
    test = [one.captions[0] for one in data.examples("test")]
    chosen = [0, 2, 4, 6, 8, 11]
    assert shown.names == [test[i] for i in chosen]
    served = np.concatenate(list(data.image_batches("test")))
    np.testing.assert_array_equal(shown.images, served[chosen])


def test_a_model_without_attention_has_nothing_to_show(draw, config, data, inputs):
    with pytest.raises(UserError, match="without attention has nothing to show"):
        draw(model_of(config, data, attention="none"), inputs)
