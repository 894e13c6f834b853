import subprocess
import sys
import unicodedata

import keras
import numpy as np
import pytest
import sentencepiece
import tensorflow as tf

from applications.text.tokenizer import SubwordTokenizer
from applications.text.vocabulary import END, PADDING, START
from tests.applications.text.test_vocabulary import SCRIPTS


@pytest.fixture
def tokenizer(model):
    return SubwordTokenizer(model)


def texts_of(strings):
    return [string.decode() for string in strings.numpy()]


def test_ids_are_those_of_python(tokenizer, model, texts):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    assert tokenizer.ragged(texts).to_list() == processor.encode(texts)
    assert tokenizer.vocabulary_size == processor.vocab_size()


def test_encode_pads_and_marks(tokenizer):
    ids = tokenizer.encode(["Datei", "", "Open the file."], True, True).numpy()
    assert ids.dtype == np.int32
    assert (ids[:, 0] == START).all()
    assert ((ids == END).sum(axis=1) == 1).all()
    assert ids[1].tolist() == [START, END] + [PADDING] * (ids.shape[1] - 2)


@pytest.mark.parametrize("markers", [(False, False), (True, False), (True, True)])
def test_max_length_counts_markers_and_keeps_the_end(tokenizer, markers):
    whole = tokenizer.encode(["Open the file in another window."], *markers).numpy()[0]
    ids = tokenizer.encode(["Open the file in another window."], *markers, 7).numpy()[0]
    assert len(ids) == 7 < len(whole)
    assert ids[:-1].tolist() == whole[:6].tolist()
    assert ids[-1] == (END if markers[1] else whole[6])


@pytest.mark.parametrize(
    ("batch", "shape"), [(["", ""], (2, 1)), ([" "], (1, 1)), ([], (0, 1))]
)
def test_empty_texts_never_give_width_zero(tokenizer, batch, shape):
    assert tuple(tokenizer.encode(batch).shape) == shape
    assert tuple(tokenizer.encode(batch, add_end=True).shape) == shape


def test_decode_stops_at_the_end_and_skips_markers(tokenizer):
    word, other = tokenizer.ragged(["Datei", "Fenster"]).to_list()
    rows = [
        [START, *word, END, *other, END],
        [PADDING, START, *word, *other],
        [END],
        [],
    ]
    ids = tf.ragged.constant(rows, dtype=tf.int32).to_tensor(PADDING)
    assert texts_of(tokenizer.decode(ids)) == ["Datei", "Datei Fenster", "", ""]
    assert texts_of(tokenizer.decode(tf.zeros((2, 0), tf.int32))) == ["", ""]


@pytest.mark.parametrize("script", SCRIPTS)
def test_c45_every_script_round_trips_in_a_graph(tokenizer, script):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def round_trip(texts):
        return tokenizer.decode(tokenizer.encode(texts, True, True))

    text = SCRIPTS[script]
    expected = unicodedata.normalize("NFC", text)
    assert texts_of(round_trip(tf.constant([text, "", text]))) == [
        expected,
        "",
        expected,
    ]


def test_c45_composed_and_decomposed_are_one_in_tf_data(tokenizer):
    rows = tf.data.Dataset.from_tensor_slices(["caf\u00e9", "cafe\u0301"]).batch(2)
    (ids,) = rows.map(tokenizer.encode)
    assert ids[0].numpy().tolist() == ids[1].numpy().tolist()


def test_pieces_are_one_label_an_id(tokenizer):
    ids = tokenizer.encode(["Öffnen 猫👧"], True, True).numpy()[0]
    labels = tokenizer.pieces(ids)
    assert len(labels) == len(ids)
    assert (labels[0], labels[-1]) == ("<s>", "</s>")
    assert "".join(labels[1:-1]) == "▁Öffnen▁猫👧"
    assert labels[labels.index("猫") + 1 :][:2] == ["", ""]


def test_pieces_show_broken_bytes_as_they_are(tokenizer):
    cat = tokenizer.ragged(["猫"]).to_list()[0][-3:]
    assert tokenizer.pieces([cat[0], *cat, cat[1]]) == [
        "<0xE7>",
        "猫",
        "",
        "",
        "<0x8C>",
    ]


@pytest.mark.slow
def test_a_saved_model_tokenizes_without_this_package(tokenizer, tmp_path):
    archive = keras.export.ExportArchive()
    archive.track(tokenizer.layer)
    archive.add_endpoint(
        "serve",
        lambda text: {"text": tokenizer.decode(tokenizer.encode(text, True, True))},
        input_signature=[tf.TensorSpec([None], tf.string, name="text")],
    )
    archive.write_out(str(tmp_path / "model"), verbose=False)
    script = (
        "import sys, tensorflow as tf, tensorflow_text;"
        "serve = tf.saved_model.load(sys.argv[1]).signatures['serving_default'];"
        "texts = serve(text=tf.constant(['cafe\\u0301 猫', '']))['text'].numpy();"
        "assert [text.decode() for text in texts] == ['caf\\u00e9 猫', ''], texts;"
        "assert 'keras_hub' not in sys.modules and 'applications' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "model")],
        check=True,
        cwd=tmp_path,
    )
