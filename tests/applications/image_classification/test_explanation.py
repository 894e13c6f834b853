import numpy as np
import pytest
from PIL import Image

from applications.errors import UserError
from applications.image_classification import explanation
from applications.pipeline import run as runs
from tests.applications.image_classification.conftest import cnn, transformer


@pytest.fixture
def draw(config, data, root, monkeypatch):
    """Draws for a model; gives the names of the figures, which are no blank sheets."""
    monkeypatch.setattr(explanation, "_EXAMPLES", 2)
    run = runs.create(root, "image_classification", "smoke", config)

    def explain(model, inputs=()):
        paths = explanation.explain(data, model, run, inputs)
        for path in paths:
            assert np.asarray(Image.open(path).convert("L")).std() > 5
        return [path.stem for path in paths]

    return explain


@pytest.mark.parametrize(
    ("pooling", "positions", "names"),
    [
        ("class_token", "learned", ["attention", "positions"]),
        ("attention", "rotary_2d", ["attention"]),
        ("mean", "sinusoidal_2d", ["attention"]),
    ],
)
def test_a_transformer_on_the_users_own_images(draw, digits, pooling, positions, names):
    inputs = [str(path) for path in sorted(digits.glob("7/*.png"))[:2]]
    assert draw(transformer(pooling=pooling, positions=positions), inputs) == names


@pytest.mark.parametrize(
    ("attention", "channels"),
    [
        ("none", False),
        ("squeeze_excitation", True),
        ("bam", True),
        ("selective_kernel", True),
    ],
)
def test_a_cnn(draw, attention, channels):
    gates = ["channels", "channels-by-image"] if channels else []
    assert draw(cnn(attention)) == ["grad-cam", *gates]


def test_attention_without_scores_shows_its_positions(draw):
    assert draw(transformer(attention="linear")) == ["positions"]
    with pytest.raises(UserError, match="nothing to show"):
        draw(transformer(attention="linear", positions="sinusoidal_2d"))


def test_too_many_images_for_a_picture(draw, digits):
    inputs = [str(path) for path in sorted(digits.glob("7/*.png"))[:25]]
    with pytest.raises(UserError, match="24 images at most"):
        draw(transformer(), inputs)


def test_what_reaches_the_classifier_by_rollout():
    """Of attention pooling: its heads' mean, through the blocks below."""
    heads = np.array([[[1.0, 0.0], [0.0, 1.0]]])  # (B, N, L)
    followed = np.array([[[0.75, 0.25], [0.5, 0.5]]])
    model = transformer(pooling="attention")
    read = explanation._read(model, heads, followed)
    np.testing.assert_allclose(read, [[0.625, 0.375]])
    pooled = explanation._read(transformer(pooling="mean"), None, followed)
    np.testing.assert_allclose(pooled, [[0.625, 0.375]])
    token = explanation._read(transformer(), heads, followed)
    np.testing.assert_allclose(token, [[0.75, 0.25]])


def test_maps_of_several_sizes_become_one():
    small, large = np.array([[[1.0, 2.0]]]), np.zeros((1, 2, 4))
    maps = explanation._one_size([small, large])
    assert maps[0, 0].tolist() == [[1, 1, 2, 2], [1, 1, 2, 2]]
    assert maps.shape == (1, 2, 2, 4)
