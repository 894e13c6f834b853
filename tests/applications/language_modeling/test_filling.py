import numpy as np
import pytest
import tensorflow as tf

from applications.language_modeling import networks
from applications.language_modeling.filling import SpanFiller
from applications.language_modeling.tokens import ByteTokens
from tests.applications.language_modeling.conftest import SMOKE
from tests.applications.language_modeling.test_networks import changed
from tests.applications.untrained import restarted

TEXTS = ["O[MASK]en t[MASK]e", "none", "[MASK]", ""]


@pytest.fixture(scope="module")
def spans():
    tokens = ByteTokens(with_gap=True, num_sentinels=3)
    model = networks.build(changed("span_corruption"), tokens.vocabulary_size)
    return SpanFiller(restarted(model), tokens, SMOKE.data.length)


def test_each_gap_gets_its_likeliest_token(masked):
    found = masked(TEXTS)
    assert found[1] == "none"
    assert found[3] == ""
    assert "[MASK]" not in "".join(found)
    first, second = masked.candidates(TEXTS[0], 2)
    assert first[0][1] >= first[1][1] > 0
    answer = masked.answer(tf.constant(TEXTS))
    expected = [first[0][1] * second[0][1], 1.0]
    np.testing.assert_allclose(answer["probability"][:2], expected, rtol=1e-4)
    (alone,) = masked(TEXTS[:1])
    assert alone == found[0]


def test_only_text_is_put_into_a_gap(masked):
    _, chances = masked.chances(masked.ids(tf.constant(TEXTS)))
    chances = chances.numpy()
    assert chances.shape == (4, 2, masked.tokens.vocabulary_size)
    np.testing.assert_allclose(chances.sum(axis=-1), 1, rtol=1e-5)
    assert chances[..., list(masked.tokens.special)].max() == 0


def test_gaps_become_sentinels_in_their_order(spans):
    ids = spans.ids(tf.constant(["a[MASK]b[MASK]", "[MASK]" * 5])).numpy()
    first = spans.tokens.sentinels.start
    assert ids[0, :5].tolist() == [4 + ord("a"), first, 4 + ord("b"), first + 1, 2]
    # More gaps than sentinels share the last one.
    assert ids[1].tolist() == [first, first + 1, *[first + 2] * 3, 2]


def test_spans_go_where_their_sentinels_stand(spans):
    def ids(text):
        marks = {"0": 260, "1": 261, "2": 262, "$": 2, "_": 0}
        return [marks.get(letter, 4 + ord(letter)) for letter in text]

    source = tf.constant([ids("a0b1c$_"), ids("0xyz1$_"), ids("abc$___")])
    written = tf.constant([ids("w0pq1r2s$"), ids("1ef0gh$__"), ids("0no1gap$_")])
    restored = spans.restored(source, written)
    # What belongs to no gap is left out.
    expected = [b"apqbrc", b"ghxyzef", b"abc"]
    assert spans.tokens.decode(restored).numpy().tolist() == expected


def test_texts_are_whole_again(spans):
    found = spans(TEXTS)
    assert found == [spans([text])[0] for text in TEXTS]
    assert found[0].startswith("O")
    assert (found[1], found[3]) == ("none", "")
