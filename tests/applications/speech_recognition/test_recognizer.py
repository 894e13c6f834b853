from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from applications.audio.samples import odd_sounds, wav
from keras_attention.decoding import JointCTC
from tests.applications.speech_recognition.conftest import LETTERS, spoken
from tests.backend import thorough_but


@pytest.fixture
def ctc(make_data, make_recognizer):
    """One that says different things of different clips: no class is the likeliest."""
    recognizer = make_recognizer(make_data(objective="ctc"))
    model, noise = recognizer.model, np.random.default_rng(4).normal(size=(1, 400, 20))
    memory, _ = model.encode(noise.astype("float32"), np.ones((1, 400), bool))
    kernel, bias = model.get_layer("ctc_logits").weights
    bias.assign_sub(tf.reduce_mean(model.ctc_logits(memory), axis=(0, 1)))
    for weight in (kernel, bias):
        weight.assign(9 * weight)
    return recognizer


@pytest.mark.parametrize("search", thorough_but(["beam"], ["greedy", "beam"]))
def test_the_graph_answers_as_python_does(ctc, tmp_path, search):
    """Odd sounds among others, which change no answer."""
    files = [wav(spoken("abcd ab")), *odd_sounds(), wav(spoken("dd"))]
    answer = tf.function(lambda x: ctc.answer(x, search), autograph=False)
    found = answer(tf.constant(files))
    assert np.isfinite(found["log_probability"]).all()
    clips = []
    for number in (0, len(files) - 1):
        path = tmp_path / f"{number}.wav"
        path.write_bytes(files[number])
        clips.append(ctc.reader.read_file(str(path)))
    texts = [text.decode() for text in found["text"].numpy()]
    assert ctc(clips, search) == [texts[0], texts[-1]]
    assert set("".join(texts)) <= {*LETTERS, " "}
    assert len(set(texts)) > 1


def test_texts_keep_the_order_of_many_clips(ctc):
    random = np.random.default_rng(0)
    clips = [
        random.normal(size=(length, 20)).astype("float32")
        for length in random.integers(1, 60, 40)  # more than one batch
    ]
    found = ctc(clips, "greedy")
    assert len(set(found)) > 20  # of 40
    rows = [3, 39, 17]
    assert ctc([clips[row] for row in rows], "greedy") == [found[row] for row in rows]
    assert ctc([]) == []


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_ctc_says_characters_only(ctc, search, monkeypatch):
    """An end in the middle of a clip would cut off what follows."""
    classes = np.eye(ctc.characters.vocabulary_size, dtype="float32")
    a, b = 4, 5
    logits = 9 * classes[None, [a, 2, b, 0, 1, b]] + 5 * classes[0]
    places = np.ones(logits.shape[:2], bool)
    monkeypatch.setattr(ctc.model, "encode", lambda *_: (None, places))
    monkeypatch.setattr(ctc.model, "ctc_logits", lambda _: logits)
    found = ctc.search(tf.zeros((1, 24, 20)), tf.constant([24]), search)
    assert ctc.characters.decode(found.tokens[:, 0]).numpy().tolist() == [b"abb"]


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("objective", "decoder"), [("joint", "transformer"), ("attention", "gru")]
)
def test_a_decoder_answers_a_clip_alone_as_among_others(
    make_data, make_recognizer, objective, decoder
):
    """As the smoke run's SavedModel does by its beam."""
    recognizer = make_recognizer(make_data(objective=objective, decoder=decoder))
    assert ("ctc_greedy" in recognizer.searches) == (objective == "joint")
    random = np.random.default_rng(2)
    clips = [random.normal(size=(n, 20)).astype("float32") for n in (1, 90, 40)]
    for search in recognizer.searches:
        together = recognizer(clips, search)
        assert [recognizer([clip], search)[0] for clip in clips] == together
        limit = recognizer.settings.max_length
        assert search == "ctc_greedy" or max(map(len, together)) <= limit


@pytest.mark.parametrize("weight", [0.4, 0.0])
def test_ctc_has_its_share_of_the_score(make_data, make_recognizer, weight):
    recognizer = make_recognizer(make_data())
    recognizer.settings = replace(recognizer.settings, ctc_weight=weight)
    found = recognizer._decodable()
    if weight:
        assert isinstance(found, JointCTC)
        assert (found.model, found.weight) == (recognizer.model, weight)
    else:
        assert found is recognizer.model
