import numpy as np
import pytest

from applications.errors import UserError
from applications.image_captioning import export
from applications.image_captioning.captioner import Caption
from keras_attention import export as exporting

FILES = [b"one", b"two", b"three", b"four", b"five"]
IMAGES = np.arange(5)


class Saying:
    """Stands for a captioner: of each image a caption of its own."""

    searches = dict.fromkeys(("greedy", "beam"))

    def __init__(self, has_attention=True):
        self.has_attention = has_attention

    def __call__(self, batches, search):
        (images,) = batches
        return [Caption((search, str(one)), -float(one), None) for one in images]


@pytest.fixture
def answering(monkeypatch):
    """Makes the fresh process answer as `Saying` does, then changed."""

    def answers(change):
        def ask(directory, batches, endpoints):
            assert directory == "folder"
            assert batches == [FILES[:1], FILES[1:]]  # the files as they are
            assert endpoints[:2] == ["greedy", "beam"]
            return {name: answer(name) for name in endpoints}

        def answer(name):
            search = "greedy" if name == "attention" else name
            found = Saying()([IMAGES], search)
            texts, chances = ([one.text for one in found], [-float(i) for i in IMAGES])
            texts, chances = change(name, texts, chances)
            cuts = (slice(0, 1), slice(1, None))
            return [
                {"caption": texts[cut], "log_probability": chances[cut]} for cut in cuts
            ]

        monkeypatch.setattr(exporting, "ask_alone", ask)

    return answers


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda name, texts, p: (
                ["?", *texts[1:]] if name == "greedy" else texts,
                p,
            ),
            "greedy endpoint answers otherwise: 1 of 5 captions",
        ),
        (
            lambda name, texts, p: (
                texts,
                [one - 0.01 * (name == "beam") for one in p],
            ),
            "beam endpoint .* differ by up to 1.0e-02",
        ),
        (
            lambda name, texts, p: (texts[::-1] if name == "attention" else texts, p),
            "attention endpoint has other captions",
        ),
    ],
    ids=["captions", "log-probabilities", "attention"],
)
def test_a_difference_is_an_error_that_shows_it(answering, change, words):
    answering(change)
    with pytest.raises(UserError, match=words):
        export.check("folder", FILES, IMAGES, Saying())


@pytest.mark.parametrize("has_attention", [True, False])
def test_equal_answers_are_counted(answering, capsys, has_attention):
    answering(lambda name, texts, chances: (texts, chances))
    found = export.check("folder", FILES, IMAGES, Saying(has_attention))
    assert found == {"greedy": 0, "beam": 0}
    assert capsys.readouterr().out.count("on 5 images") == 2


@pytest.mark.slow
def test_the_endpoints_of_the_smoke_run(smoke_run):
    """What they answer is checked by the stage itself, in a fresh process."""
    from tensorflow.core.protobuf import saved_model_pb2

    saved = saved_model_pb2.SavedModel()
    saved.ParseFromString(smoke_run.path("saved_model/1/saved_model.pb").read_bytes())
    signatures = saved.meta_graphs[0].signature_def
    answer = {"caption", "log_probability"}
    outputs = {
        "greedy": answer,
        "beam": answer,
        "serving_default": answer,
        "attention": {"caption", "words", "attention_scores"},
    }
    for name, expected in outputs.items():
        assert set(signatures[name].inputs) == {"image"}
        assert set(signatures[name].outputs) == expected
