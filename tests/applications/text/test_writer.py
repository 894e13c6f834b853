import numpy as np
import pytest
import tensorflow as tf

from applications.text.vocabulary import END, PADDING, START
from applications.text.writer import TEXTS_AT_ONCE, target_inputs

TEXTS = ["Open the file.", "Save", "Click the button to open the dialog."]


def test_target_inputs_by_hand():
    tokens = tf.constant(
        [
            [7, 8, END, PADDING, PADDING],  # ended
            [7, 8, 9, 10, 11],  # cut off
            [END, PADDING, PADDING, PADDING, PADDING],  # nothing written
            [7, 8, 9, 10, END],  # ended with the last step
        ]
    )
    expected = [
        [START, 7, 8, PADDING, PADDING],
        [START, 7, 8, 9, 10],
        [START, PADDING, PADDING, PADDING, PADDING],
        [START, 7, 8, 9, 10],
    ]
    inputs = target_inputs(tokens)
    assert inputs.numpy().tolist() == expected
    assert inputs.dtype == tokens.dtype


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_target_inputs_are_what_the_decoder_read(writer, search):
    """Teacher-forced on them the model repeats the probability of what it wrote."""
    source = writer.encode(tf.constant(TEXTS))
    found = writer.search(source, search)
    tokens = found.tokens[:, 0]
    inputs = {"source": source, "target": target_inputs(tokens)}
    log_probabilities = tf.nn.log_softmax(writer.model(inputs))
    written = tf.gather(log_probabilities, tokens, batch_dims=2)
    total = tf.reduce_sum(tf.where(tokens == PADDING, 0.0, written), axis=1)
    np.testing.assert_allclose(total, found.log_probabilities[:, 0], rtol=1e-4)


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_c41_blank_texts(writer, search):
    answers = writer(["", "hello", "   "], search)
    assert [answers[0], answers[2]] == ["", ""]
    assert answers[1] == writer(["hello"], search)[0] != ""
    assert writer([""], search) == [""]
    assert writer(["", ""], search) == ["", ""]


def test_no_texts(writer):
    assert writer([]) == []


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_a_text_is_answered_alone_as_in_a_batch(writer, search):
    together = writer(TEXTS, search)
    assert together == [writer([text], search)[0] for text in TEXTS]
    source = writer.encode(tf.constant(TEXTS))
    scores = writer.search(source, search).scores.numpy()
    alone = [
        writer.search(writer.encode(tf.constant([text])), search).scores[0]
        for text in TEXTS
    ]
    np.testing.assert_allclose(scores, alone, atol=1e-5)
    assert len(set(scores[:, 0].round(4))) == len(TEXTS)


def test_answers_keep_the_order_of_many_texts(writer):
    texts = [text for i in range(TEXTS_AT_ONCE) for text in (TEXTS[i % 3], "")]
    once = dict(zip(TEXTS, writer(TEXTS, "greedy"), strict=True)) | {"": ""}
    assert writer(texts, "greedy") == [once[text] for text in texts]


def test_long_sources_are_cut_and_end(writer):
    ids = writer.encode(tf.constant(["a b c d e f g h " * 50])).numpy()
    assert ids.shape == (1, writer.source_length)
    assert ids[0, -1] == END


def test_nothing_is_traced_again(writer):
    writer(TEXTS, "greedy")
    function = writer._compiled["greedy"]
    writer(["", "One more text of another length.", *TEXTS], "greedy")
    assert function.experimental_get_tracing_count() == 1
