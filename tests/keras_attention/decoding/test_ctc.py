"""Greedy and prefix search of CTC logits, against every alignment."""

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import ctc_beam_search, ctc_greedy_search
from tests.backend import compiled, tensorflow_only, thorough_but, to_numpy
from tests.keras_attention.ctc_reference import collapsed, texts
from tests.keras_attention.decoding.toys import arrays, log_softmax, padded

B, S, V = 3, 4, 3
LENGTHS = np.array([4, 3, 1])
MASK = np.arange(S) < LENGTHS[:, None]
EVERY = 31  # more than there are texts of four frames and two tokens


def logits(seed=0, padding=0.0):
    numbers = np.random.default_rng(seed).normal(scale=1.5, size=(B, S, V))
    return np.where(MASK[..., None], numbers, padding).astype("float32")


def run(function, given=None, **options):
    """`function`, compiled, of logits and the mask of padding."""

    def search(logits, mask):
        return function(logits, mask, **options)

    given = logits() if given is None else given
    return arrays(compiled(search)(*map(ops.convert_to_tensor, (given, MASK))))


def said(classes, size):
    """Logits of frames that name `classes`."""
    return 9.0 * np.eye(size, dtype="float32")[None, classes]


@pytest.mark.parametrize("search", [ctc_greedy_search, ctc_beam_search])
def test_c60_frames_that_say_baa(search):
    """C60 (c): b, a, a, nothing, a is "baa", with the blank first and last."""
    first = arrays(search(said([2, 1, 1, 0, 1], 3)))
    assert first.tokens.tolist() == [[[2, 1, 1, 0, 0]]]
    last = arrays(search(said([1, 0, 0, 2, 0], 3), blank=2, pad_token=-1))
    assert last.tokens.tolist() == [[[1, 0, 0, -1, -1]]]
    assert first.lengths.tolist() == last.lengths.tolist() == [[3]]


@pytest.mark.parametrize("padding", thorough_but([np.nan], [0.0, np.nan]))
def test_greedy_is_the_best_alignment(padding):
    found = run(ctc_greedy_search, logits(padding=padding))
    for item, length in enumerate(LENGTHS):
        frames = log_softmax(logits()[item, :length])
        text = collapsed(frames.argmax(-1).tolist())
        assert found.tokens[item, 0].tolist() == padded(text, S)
        assert found.lengths[item, 0] == len(text)
        total = frames.max(-1).sum()
        np.testing.assert_allclose(found.scores[item, 0], total, rtol=1e-5)


def test_greedy_is_as_keras():
    given = np.random.default_rng(2).normal(size=(5, 17, 4)).astype("float32")
    lengths = np.array([17, 9, 4, 1, 12])
    mask = np.arange(17) < lengths[:, None]
    found = arrays(ctc_greedy_search(given, mask, pad_token=-1))
    expected, _ = ops.nn.ctc_decode(given, lengths, mask_index=0)
    expected = to_numpy(expected)[0]
    np.testing.assert_array_equal(found.tokens[:, 0, : expected.shape[1]], expected)
    assert (found.tokens[:, 0, expected.shape[1] :] == -1).all()


@pytest.mark.parametrize("seed", thorough_but([0], range(2)))
def test_a_wide_beam_finds_every_text_in_order(seed):
    found = run(ctc_beam_search, logits(seed), num_beams=EVERY, num_return=EVERY)
    for item, length in enumerate(LENGTHS):
        chances = texts(logits(seed)[item, :length])
        count = len(chances)
        assert (found.lengths[item, count:] == 0).all()
        assert (found.scores[item, count:] == -np.inf).all()
        expected = np.log(sorted(chances.values(), reverse=True))
        scores = found.scores[item, :count]
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
        rows = zip(found.tokens[item], found.lengths[item], scores, strict=False)
        ours = {tuple(row[:n].tolist()): score for row, n, score in rows}
        assert set(ours) == set(chances)
        for text, score in ours.items():
            np.testing.assert_allclose(score, np.log(chances[text]), atol=1e-4)


def test_nan_in_padding_is_not_seen():
    expected = run(ctc_beam_search, num_beams=3, num_return=2)
    found = run(ctc_beam_search, logits(padding=np.nan), num_beams=3, num_return=2)
    for x, y in zip(found[:-1], expected[:-1], strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_beam_returns_texts_the_best_first_and_below_the_truth():
    found = run(ctc_beam_search, num_beams=2, num_return=2)
    chances = texts(logits()[0])
    assert found.tokens.shape == (B, 2, S)
    assert (np.diff(found.scores, axis=1) <= 0).all()
    for row, length, score in zip(
        found.tokens[0], found.lengths[0], found.scores[0], strict=True
    ):
        assert score <= np.log(chances[tuple(row[:length].tolist())]) + 1e-5


def test_no_text_is_longer_than_asked_for():
    found = run(ctc_beam_search, num_beams=EVERY, num_return=EVERY, max_length=1)
    assert found.tokens.shape == (B, EVERY, 1)
    chances = texts(logits()[0])
    short = sorted(text for text in chances if len(text) <= 1)
    rows = zip(found.tokens[0], found.lengths[0], strict=True)
    assert sorted(tuple(row[:n].tolist()) for row, n in rows)[-2:] == short[-2:]
    np.testing.assert_allclose(
        np.sort(found.scores[0, :3]),
        np.sort(np.log([chances[text] for text in short])),
        atol=1e-4,
    )


@pytest.mark.parametrize("search", [ctc_greedy_search, ctc_beam_search])
def test_classes_that_no_text_has(search):
    """As if they were not there: the others sum to 1 without them."""
    wider = np.insert(logits(), [1, 1], 5.0, axis=2)  # 1 and 2, the likeliest
    found, expected = run(search, wider, without=(1, 2)), run(search, logits())
    tokens = np.where(expected.tokens > 0, expected.tokens + 2, 0)
    np.testing.assert_array_equal(found.tokens, tokens)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)


def test_padding_alone_says_nothing():
    nobody = np.zeros((B, S), bool)
    for search in (ctc_greedy_search, ctc_beam_search):
        found = arrays(search(logits(padding=np.nan), nobody))
        assert (found.lengths == 0).all()
        assert (found.tokens == 0).all()
        np.testing.assert_array_equal(found.scores, 0)


@tensorflow_only
@pytest.mark.parametrize("search", [ctc_greedy_search, ctc_beam_search])
def test_traces_once_for_any_batch_and_length(search):
    import tensorflow as tf

    traces = []

    def run(logits, mask):
        traces.append(logits)
        found = search(logits, mask)
        return found.tokens, found.lengths, found.scores

    signature = [tf.TensorSpec((None, None, V)), tf.TensorSpec((None, None), tf.bool)]
    graph = tf.function(run, input_signature=signature, autograph=False)
    for rows, width in ((3, 4), (1, 3)):
        given = logits()[:rows, :width], MASK[:rows, :width]
        for x, y in zip(graph(*given), search(*given)[:3], strict=True):
            np.testing.assert_allclose(x, y, atol=1e-5)
    assert len(traces) == 1


@tensorflow_only
@pytest.mark.slow
def test_compiles_with_xla():
    def run(logits, mask):
        return ctc_beam_search(logits, mask)[:-1]

    given = tuple(map(ops.convert_to_tensor, (logits(), MASK)))
    for x, y in zip(compiled(run, jit=True)(*given), run(*given), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_beams": 0}, "`num_beams` must be a positive integer"),
        ({"num_beams": 2, "num_return": 3}, "`num_return` must be at most"),
        ({"max_length": 0}, "`max_length` must be a positive integer"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        ctc_beam_search(logits(), **options)
