import numpy as np
import pytest
from PIL import Image

from applications.errors import UserError
from applications.keyword_spotting import explanation
from applications.pipeline import run as runs


@pytest.fixture
def draw(root, make_classifier, monkeypatch):
    """Draws for a model; gives the names of the figures, which are no blank sheets."""
    monkeypatch.setattr(explanation, "_EXAMPLES", 2)

    def explain(data, inputs=(), **options):
        run = runs.create(root, "keyword_spotting", "smoke", data.config)
        model = make_classifier(data, **options).model
        paths = explanation.explain(data, model, run, inputs)
        for path in paths:
            assert np.asarray(Image.open(path).convert("L")).std() > 5
        return [path.stem for path in paths]

    return explain


def test_examples_and_the_users_own(draw, make_data, tones):
    assert draw(make_data(frames=True), kind="temporal_attention") == ["0", "1"]
    inputs = [str(tones / word / "3.wav") for word in ("low", "high")]
    assert draw(make_data(), inputs, kind="mean_frames") == ["3", "3-2"]
    with pytest.raises(UserError, match="At most 24 clips"):
        draw(make_data(), inputs * 13)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"kind": "mean_frames"}, []),
        ({"kind": "temporal_attention"}, ["attention"]),
        ({}, ["attention", explanation.HEADS]),
        ({"attention": "linear"}, []),
    ],
)
def test_measures_are_one_number_a_frame(make_data, make_classifier, options, names):
    data = make_data(frames=True)
    model = make_classifier(data, **options).model
    clips = data.clips("test").frames[:3]
    for clip, found in zip(clips, explanation.measures(model, clips), strict=True):
        assert list(found) == [*names, explanation.GRADIENT]
        for name, values in found.items():
            heads = (2,) if name == explanation.HEADS else ()
            assert values.shape == (*heads, len(clip))
        if names:
            assert 0 < found["attention"].sum() <= 1 + 1e-5
