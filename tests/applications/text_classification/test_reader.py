import unicodedata

import numpy as np
import pytest
import tensorflow as tf

from applications.text.vocabulary import END, PADDING, START
from applications.text_classification.reader import (
    TextReader,
    cleaned_texts,
    is_blank,
)
from tests.applications.text.test_vocabulary import SCRIPTS


@pytest.fixture
def reader(vocabulary_model):
    return TextReader(vocabulary_model, 12)


def ids(reader, *texts):
    """Ids of each text, without padding."""
    return [row[row != PADDING].tolist() for row in reader.ids(list(texts)).numpy()]


def test_c41_blank_texts_are_padding(reader):
    """C41: a batch of nothing has a width, and 'hello' is the same as when alone."""
    for texts in (["", ""], ["   "], ["", "hello", "   "]):
        found = reader.ids(texts).numpy()
        assert found.shape[1] >= 1
        assert is_blank(found).numpy().tolist() == [not t.strip() for t in texts]
    assert ids(reader, "", "hello", "   ")[1] == ids(reader, "hello")[0]


def test_c43_case_is_dropped_in_every_script(reader):
    """C43: the vocabulary holds no capital, and every spelling has the same ids."""
    words = ["ÉCOLE", "École", "école"]
    assert cleaned_texts([*words, "Яя Аа", "ÇA"]) == ["école"] * 3 + ["яя аа", "ça"]
    found = ids(reader, *words)
    assert found[0] == found[1] == found[2]
    pieces = reader.pieces(range(4 + 256, reader.tokenizer.vocabulary_size))
    assert len(pieces) > 300  # without special ones and bytes
    assert not [piece for piece in pieces if piece != piece.lower()]


def test_c44_no_text_spells_a_marker_and_signs_are_apart(reader):
    """C44: what looks like a marker is text; signs are not glued to words."""
    marker, word = ids(reader, "<s> [start] </s> <pad>", "start")
    assert not {START, END} & {*marker, *word}
    for text in ("¿qué pasa? “hola” — sí…", "[start] the race will start [end]"):
        for piece in reader.pieces(ids(reader, text)[0]):
            letters = [c.isalnum() for c in piece.strip("▁")]
            assert all(letters) or not any(letters)


def test_c45_composed_and_decomposed_are_one(reader):
    """C45: also where capitals are decomposed."""
    first, second, third = ids(reader, "caf\u00e9", "cafe\u0301", "CAFE\u0301")
    assert first == second == third


@pytest.mark.parametrize("script", SCRIPTS)
def test_c45_every_script_round_trips(vocabulary_model, script):
    """C45: but for its case nothing is lost."""
    reader = TextReader(vocabulary_model, 200)
    decoded = reader.tokenizer.decode(reader.ids([SCRIPTS[script]])).numpy()[0]
    assert decoded.decode() == unicodedata.normalize("NFC", SCRIPTS[script].lower())


def test_long_texts_lose_their_end(reader):
    whole = reader.whole(["open the file " * 1000]).to_list()[0]
    assert len(whole) > 1000
    assert ids(reader, "open the file " * 1000)[0] == whole[:12]


def test_what_holds_nothing_to_read(reader):
    blank = ["", " \t\r\n", "\u00a0\u3000", "<br/> <BR />"]
    texts = [*blank, "a", "?", "\u200d"]
    found = reader.readable(texts)
    assert found.tolist() == [False] * 4 + [True] * 3
    assert found.tolist() == (~is_blank(reader.ids(texts)).numpy()).tolist()


def test_blanks_and_broken_bytes():
    assert cleaned_texts(["a\tb\r\n c\u00a0\u2003d"]) == ["a b c d"]
    assert cleaned_texts(["A<br />b<BR>c"]) == ["a b c"]
    assert cleaned_texts([b"ab\xff"]) == ["ab\N{REPLACEMENT CHARACTER}"]


def test_a_graph_reads_as_python_does(reader):
    texts = ["Open the file.", "", "猫 🎉"]
    graph = tf.function(reader.ids, input_signature=[tf.TensorSpec([None], tf.string)])
    np.testing.assert_array_equal(graph(tf.constant(texts)), reader.ids(texts))
