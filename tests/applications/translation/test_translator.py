import numpy as np
import pytest
import tensorflow as tf

from applications.text.vocabulary import END, PADDING, START
from applications.translation.translator import SENTENCES_AT_ONCE, target_inputs

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
def test_target_inputs_are_what_the_decoder_read(translator, search):
    """Teacher-forced on them the model repeats the probability of what it wrote."""
    source = translator.encode(tf.constant(TEXTS))
    found = translator.search(source, search)
    tokens = found.tokens[:, 0]
    inputs = {"source": source, "target": target_inputs(tokens)}
    log_probabilities = tf.nn.log_softmax(translator.model(inputs))
    written = tf.gather(log_probabilities, tokens, batch_dims=2)
    total = tf.reduce_sum(tf.where(tokens == PADDING, 0.0, written), axis=1)
    np.testing.assert_allclose(total, found.log_probabilities[:, 0], rtol=1e-4)


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_c41_blank_texts(translator, search):
    answers = translator(["", "hello", "   "], search)
    assert [answers[0], answers[2]] == ["", ""]
    assert answers[1] == translator(["hello"], search)[0] != ""
    assert translator([""], search) == [""]
    assert translator(["", ""], search) == ["", ""]


def test_no_texts(translator):
    assert translator([]) == []


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_a_text_is_translated_alone_as_in_a_batch(translator, search):
    together = translator(TEXTS, search)
    assert together == [translator([text], search)[0] for text in TEXTS]
    source = translator.encode(tf.constant(TEXTS))
    scores = translator.search(source, search).scores.numpy()
    alone = [
        translator.search(translator.encode(tf.constant([text])), search).scores[0]
        for text in TEXTS
    ]
    np.testing.assert_allclose(scores, alone, atol=1e-5)
    assert len(set(scores[:, 0].round(4))) == len(TEXTS)


def test_answers_keep_the_order_of_many_texts(translator):
    texts = [text for i in range(SENTENCES_AT_ONCE) for text in (TEXTS[i % 3], "")]
    once = dict(zip(TEXTS, translator(TEXTS, "greedy"), strict=True)) | {"": ""}
    assert translator(texts, "greedy") == [once[text] for text in texts]


def test_long_sources_are_cut_and_end(translator):
    ids = translator.encode(tf.constant(["a b c d e f g h " * 50])).numpy()
    assert ids.shape == (1, translator.source_length)
    assert ids[0, -1] == END


def test_nothing_is_traced_again(translator):
    translator(TEXTS, "greedy")
    function = translator._compiled["greedy"]
    translator(["", "One more text of another length.", *TEXTS], "greedy")
    assert function.experimental_get_tracing_count() == 1
