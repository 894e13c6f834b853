import numpy as np
import pytest
import tensorflow as tf

from applications.text.alignment import alignments, has_attention
from applications.text.vocabulary import END
from applications.text.writer import Answer, Writer
from keras_attention import models
from tests.applications.text.conftest import DECODE, LENGTH
from tests.applications.untrained import restarted

TEXTS = ["Open the file.", "Save", "Click 12 times to open the dialog."]


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_rows_are_the_steps_that_wrote_the_tokens(writer, search):
    """Each row is what the model attends when it predicts that very token."""
    source = writer.encode(tf.constant(TEXTS))
    tokens = writer.search(source, search).tokens[:, 0].numpy()
    found = list(alignments(writer, writer.answers(TEXTS, search)))
    assert len(found) == len(TEXTS)
    for row, (text, alignment) in enumerate(zip(TEXTS, found, strict=True)):
        ids = [i for i in source[row].numpy() if i]
        written = _until_end(tokens[row])
        assert alignment.source == writer.tokenizer.pieces(ids)
        assert alignment.target == writer.tokenizer.pieces(written)
        assert alignment.source[-1] == "</s>"
        assert set(alignment.scores) == {"decoder_0", "decoder_1"}
        expected = _step_by_step(writer, text, written)
        for name, scores in alignment.scores.items():
            assert scores.shape == (2, len(written), len(ids))
            np.testing.assert_allclose(scores.sum(-1), 1.0, atol=1e-5)
            np.testing.assert_allclose(scores, expected[name], atol=1e-5)


def _until_end(tokens):
    tokens = list(tokens)
    return tokens[: tokens.index(END) + 1] if END in tokens else tokens


def _step_by_step(writer, text, written):
    """Cross-attention of every cached step of a decoding, by decoder block."""
    model, source = writer.model, writer.encode(tf.constant([text]))
    state = model.initial_state(source, len(written))
    found = {layer.name: [] for layer in model.decoders}
    for t, token in enumerate([1, *written[:-1]]):
        x = model.embedding(tf.constant([[token]]), start_index=t)
        caches = []
        for layer, own, cross in zip(
            model.decoders, state["self"], state["cross"], strict=True
        ):
            x, _, scores, cache = layer(
                x,
                None,
                return_attention_scores=True,
                self_attention_cache=own,
                self_attention_cache_update_index=t,
                cross_attention_cache=cross,
            )
            caches.append(cache)
            found[layer.name].append(scores.numpy()[0])
        state["self"] = caches
    return {name: np.concatenate(steps, axis=1) for name, steps in found.items()}


@pytest.mark.parametrize("order", ["bahdanau", "luong"])
def test_a_recurrent_model_has_one_head(writer, order):
    size = writer.tokenizer.vocabulary_size
    model = restarted(models.RecurrentSeq2Seq(size, 16, order=order))
    recurrent = Writer(model, writer.tokenizer, DECODE, LENGTH)
    for alignment in alignments(recurrent, recurrent.answers(TEXTS, "greedy")):
        (scores,) = alignment.scores.values()
        assert list(alignment.scores) == ["decoder"]
        assert scores.shape == (1, len(alignment.target), len(alignment.source))
        np.testing.assert_allclose(scores.sum(-1), 1.0, atol=1e-5)


def test_texts_come_in_order_over_several_batches(writer, monkeypatch):
    once = list(alignments(writer, writer.answers(TEXTS, "greedy")))
    monkeypatch.setattr("applications.text.alignment.TEXTS_AT_ONCE", 2)
    again = list(alignments(writer, writer.answers(TEXTS, "greedy")))
    for a, b in zip(once, again, strict=True):
        assert (a.source, a.target) == (b.source, b.target)
        for name in a.scores:
            np.testing.assert_allclose(a.scores[name], b.scores[name], atol=1e-5)


def test_a_blank_text(writer):
    (alignment,) = alignments(writer, writer.answers([""], "greedy"))
    assert alignment.source == ["</s>"]
    np.testing.assert_allclose(alignment.scores["decoder_0"], 1.0, atol=1e-6)


def test_a_copying_model_shows_all_its_heads(writer):
    gru = models.RecurrentSeq2Seq(
        writer.tokenizer.vocabulary_size, 8, "coverage", "luong"
    )
    expected = {"decoder_0": 2, "decoder_1": 2}, {"decoder": 1}
    for inside, heads in zip((writer.model, gru), expected, strict=True):
        model = models.PointerGenerator(inside)
        copying = Writer(model, writer.tokenizer, DECODE, LENGTH)
        answer = Answer("", source=[5, 6, 7, END], target=[8, 9, END])
        (alignment,) = alignments(copying, [answer])
        shapes = {name: scores.shape for name, scores in alignment.scores.items()}
        assert shapes == {name: (count, 3, 4) for name, count in heads.items()}


@pytest.mark.parametrize(
    ("attention", "expected"), [("additive", True), ("general", True), ("none", False)]
)
def test_has_attention(attention, expected):
    assert has_attention(models.RecurrentSeq2Seq(9, 4, attention)) is expected


def test_who_else_has_attention(writer):
    assert has_attention(writer.model)
    assert has_attention(models.PointerGenerator(writer.model))
    assert not has_attention(models.TextClassifier)
