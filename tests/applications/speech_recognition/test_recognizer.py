import numpy as np
import pytest
import tensorflow as tf

from applications.audio.samples import odd_sounds, wav
from tests.applications.speech_recognition.conftest import LETTERS, spoken


@pytest.fixture
def ctc(make_data, make_recognizer):
    return make_recognizer(make_data(objective="ctc"))


@pytest.mark.parametrize("search", ["greedy", "beam"])
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
    rows = [3, 39, 17]
    assert ctc([clips[row] for row in rows], "greedy") == [found[row] for row in rows]
    assert ctc([]) == []


def test_greedy_ctc_is_the_best_path(make_data, make_recognizer):
    recognizer = make_recognizer(make_data(objective="ctc"))
    clip = np.random.default_rng(1).normal(size=(1, 80, 20)).astype("float32")
    memory, _ = recognizer.model.encode(clip, np.ones((1, 80), bool))
    best = np.argmax(recognizer.model.ctc_logits(memory)[0], axis=-1)
    merged = [one for row, one in enumerate(best) if not row or best[row - 1] != one]
    said = [one for one in merged if one > 2 or one == 2]
    said = said[: said.index(2)] if 2 in said else said
    text = "".join(recognizer.characters.characters[one - 3] for one in said)
    assert recognizer([clip[0]], "greedy") == [" ".join(text.split())]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objective", "decoder"), [("joint", "transformer"), ("attention", "gru")]
)
def test_a_decoder_answers_a_clip_alone_as_among_others(
    make_data, make_recognizer, objective, decoder
):
    recognizer = make_recognizer(make_data(objective=objective, decoder=decoder))
    assert ("ctc_greedy" in recognizer.searches) == (objective == "joint")
    random = np.random.default_rng(2)
    clips = [random.normal(size=(n, 20)).astype("float32") for n in (1, 90, 40)]
    for search in recognizer.searches:
        together = recognizer(clips, search)
        assert [recognizer([clip], search)[0] for clip in clips] == together
        limit = recognizer.settings.max_length
        assert search == "ctc_greedy" or max(map(len, together)) <= limit


@pytest.mark.slow
def test_ctc_has_a_share_of_the_score(make_data, make_recognizer):
    """With all of it, no text is longer than CTC has places for."""
    recognizer = make_recognizer(make_data())
    object.__setattr__(recognizer.settings, "ctc_weight", 0.99)
    clip = np.random.default_rng(3).normal(size=(9, 20)).astype("float32")
    (text,) = recognizer([clip], "beam")
    assert len(text) <= 3
