import numpy as np
import pytest
import tensorflow as tf

from applications.image_captioning.captioner import Captioner, has_attention
from applications.text.vocabulary import END, PADDING, START, UNKNOWN
from tests.applications.image_captioning.conftest import GRID, model_of

NOT_WORDS = (PADDING, START, UNKNOWN)


@pytest.fixture(scope="module")
def images(data):
    return next(iter(data.image_batches("test")))


def test_the_graph_answers_as_python_does(captioner, data, shapes):
    """Files through the graph of the SavedModel, and images from Python."""
    paths = [shapes / one.key for one in data.examples("test")[:3]]
    contents = tf.constant([path.read_bytes() for path in paths])
    answer = tf.function(lambda x: captioner.caption(x, "greedy"), autograph=False)(
        contents
    )
    pictures = np.stack([data.reader.read_file(path) for path in paths])
    expected = captioner([pictures], "greedy")
    texts = [text.decode() for text in answer["caption"].numpy()]
    assert texts == [one.text for one in expected]
    chances = [one.log_probability for one in expected]
    np.testing.assert_allclose(answer["log_probability"], chances, atol=1e-4)


def test_attention_of_files_is_a_map_for_every_word(captioner, data, shapes):
    contents = tf.constant([(shapes / "test/red-circle-0.png").read_bytes()])
    answer = captioner.attend(contents)
    words = [word.decode() for word in answer["words"][0].numpy()]
    maps = answer["attention_scores"].numpy()
    steps = data.config.data.max_length
    assert maps.shape == (1, 1, steps, *GRID)
    written = sum(map(bool, words))
    assert answer["caption"].numpy()[0].decode() == " ".join(words[:written])
    sums = maps.sum(axis=(3, 4))[0, 0]
    np.testing.assert_allclose(sums[:written], 1, atol=1e-5)
    assert not sums[written:].any()


def test_scores_are_those_of_the_words_that_were_written(captioner, images):
    """The scores a search kept are those of reading its caption again."""
    (one,) = captioner([images[:1]], "greedy")
    ids = captioner.words.encode([one.text], len(one.words))[:, :-1]
    scores = captioner.model.cross_attention_scores(images[:1], ids).numpy()
    np.testing.assert_allclose(one.scores, scores[0, :, : len(one.words)], atol=1e-5)


def test_nothing_but_words_is_written(config, data, images):
    """Though the model would like best what is none."""
    model = model_of(config, data)
    table = np.array(model.get_layer("embedding").embeddings)
    table[list(NOT_WORDS)] = 9
    model.get_layer("embedding").embeddings.assign(table)
    captioner, pictures = Captioner(model, data), tf.cast(images[:4], tf.float32)
    for search in ("greedy", "beam"):
        tokens = captioner.search(pictures, search).tokens[:, 0].numpy()
        assert not np.isin(tokens[:, 0], (END, *NOT_WORDS)).any()  # a word at least
        written = tokens[np.cumsum(tokens == END, axis=1) == 0]
        assert not np.isin(written, NOT_WORDS).any()


def test_a_model_without_attention_has_no_scores(config, data, images):
    model = model_of(config, data, attention="none")
    assert not has_attention(model)
    assert has_attention(model_of(config, data, kind="transformer"))
    (one,) = Captioner(model, data)([images[:1]], "greedy")
    assert one.scores is None
    assert one.words
