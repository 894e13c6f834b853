"""Presets of KerasHub: tiny BARTs and T5s of random weights, saved here."""

import io
from dataclasses import replace

import keras
import keras_hub
import numpy as np
import pytest
import sentencepiece
import tensorflow as tf

from applications.errors import UserError
from applications.pipeline.run import Run
from applications.summarization.application import Summarization
from applications.summarization.hub import (
    HubSeq2Seq,
    HubTokenizer,
    load_preset,
    save_preprocessor,
)
from applications.summarization.summarizer import Summarizer
from applications.text import seq2seq_export
from applications.text.alignment import has_attention
from keras_attention import export

pytestmark = [
    # KerasHub's T5 has layers that drop the hidden mask; it passes on one of its own.
    pytest.mark.filterwarnings("ignore:.*a mask attached to it:UserWarning"),
    # It also leaves the file of a SentencePiece model open.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]

SIZES = {"num_layers": 1, "num_heads": 2, "hidden_dim": 12, "intermediate_dim": 16}
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:!?'()/-"


def bart():
    """Letters are its tokens: it has no merges to speak of."""
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<mask>": 3, "Ġ": 4, "Ġt": 5}
    for letter in LETTERS:
        vocabulary.setdefault(letter, len(vocabulary))
    tokenizer = keras_hub.models.BartTokenizer(vocabulary, ["Ġ t"])
    backbone = keras_hub.models.BartBackbone(
        len(vocabulary), max_sequence_length=64, **SIZES
    )
    preprocessor = keras_hub.models.BartSeq2SeqLMPreprocessor(tokenizer)
    return keras_hub.models.BartSeq2SeqLM(backbone, preprocessor)


def t5():
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([f"{LETTERS} the file {i}" for i in range(50)]),
        model_writer=written,
        vocab_size=100,
        model_type="bpe",
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        minloglevel=2,
    )
    tokenizer = keras_hub.models.T5Tokenizer(written.getvalue())
    backbone = keras_hub.models.T5Backbone(tokenizer.vocabulary_size(), **SIZES)
    preprocessor = keras_hub.models.T5Seq2SeqLMPreprocessor(tokenizer)
    return keras_hub.models.T5Seq2SeqLM(backbone, preprocessor)


@pytest.fixture(scope="module", params=[bart, t5], ids=lambda make: make.__name__)
def preset(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param.__name__)
    request.param().save_to_preset(str(folder))
    return folder


@pytest.fixture
def tokenizer(preset, tmp_path):
    save_preprocessor(str(preset), tmp_path / "preprocessor")
    return HubTokenizer(tmp_path / "preprocessor")


def test_texts_come_back_and_markers_stand_where_the_preset_has_them(preset, tokenizer):
    theirs = keras_hub.models.Seq2SeqLMPreprocessor.from_preset(str(preset))
    texts = ["the file", "Open", ""]
    given = {"encoder_text": texts, "decoder_text": texts}
    inputs, *_ = theirs(given)
    padding = theirs.tokenizer.pad_token_id
    for side, ours in (
        (inputs["encoder_token_ids"], tokenizer.encode(texts, add_end=True)),
        (inputs["decoder_token_ids"], tokenizer.encode(texts, add_start=True)),
    ):
        found = _without_end(np.array(ours), tokenizer.end)
        expected = _swapped(np.array(side), padding)
        expected = _without_end(expected[:, : found.shape[1]], tokenizer.end)
        np.testing.assert_array_equal(found[:, 1:], expected[:, 1:])
    targets = tokenizer.encode(texts, add_start=True, add_end=True)
    assert (targets[:, 0].numpy() == tokenizer.start).all()
    assert [x.decode() for x in tokenizer.decode(targets[:, 1:]).numpy()] == texts
    cut = tokenizer.ragged(["the file " * 9], add_end=True, max_length=7)
    assert cut.row_lengths().numpy().tolist() == [7]
    assert cut[0, -1] == tokenizer.end
    assert "".join(tokenizer.pieces(targets[0].numpy())).count("file") == 1


def _swapped(ids, padding):
    return np.where(ids == padding, 0, np.where(ids == 0, padding, ids))


def _without_end(ids, end):
    return np.where(ids == end, 0, ids)


def test_the_model_is_theirs_and_reloads(preset, tokenizer, tmp_path):
    lm = load_preset(keras_hub.models.Seq2SeqLM, str(preset), preprocessor=None)
    model = HubSeq2Seq(lm, tokenizer.padding)
    source = tokenizer.encode(["the file", "Open"], add_end=True)
    target = tokenizer.encode(["file", "Open a"], add_start=True)
    logits = np.array(model({"source": source, "target": target}))
    theirs = np.array(
        lm(
            {
                "encoder_token_ids": _swapped(source.numpy(), tokenizer.padding),
                "encoder_padding_mask": (source.numpy() != 0).astype("int32"),
                "decoder_token_ids": _swapped(target.numpy(), tokenizer.padding),
                "decoder_padding_mask": np.ones(target.shape, "int32"),
            }
        )
    )
    order = _swapped(np.arange(logits.shape[-1]), tokenizer.padding)
    real = target.numpy() != 0
    real[:, 0] = True
    np.testing.assert_allclose(logits[real], theirs[..., order][real], atol=1e-5)
    state, steps = model.initial_state(source, target.shape[1]), []
    for t in range(target.shape[1]):
        step, state = model.step(target[:, t], state)
        steps.append(np.array(step))
    np.testing.assert_allclose(np.stack(steps, 1)[real], logits[real], atol=1e-4)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again({"source": source, "target": target}), logits)
    assert not has_attention(again)


@pytest.mark.slow
@pytest.mark.parametrize("preset", [bart], indirect=True)
def test_a_preset_goes_through_the_application(preset, config, tmp_path):
    config = replace(
        config,
        model=replace(
            config.model, kind="keras_hub", preset=str(preset), prompt="sum: "
        ),
        data=replace(config.data, train_limit=20),
    )
    application, run = Summarization(), Run(tmp_path / "run")
    application.prepare(config, run)
    data = application.load(config, run)
    assert data.tokenizer.prompt == "sum: "
    model = application.build_model(config, data)
    batches = application.train_batches(config, data)
    model.compile(optimizer="adam", **application.objective(config, data))
    found = model.fit(batches.epoch(tf.constant(0)), verbose=0, shuffle=False)
    assert np.isfinite(found.history["loss"]).all()
    summarizer = Summarizer(model, data.tokenizer, config)
    texts = ["", "Open the file.", "👍"]
    answers = summarizer(texts)
    assert answers[0] == ""
    seq2seq_export.export(summarizer, tmp_path / "saved", "summary")
    alone = export.ask_alone(tmp_path / "saved", [texts], ["beam"])["beam"]
    assert alone[0]["summary"] == answers


@pytest.mark.parametrize("name", ["no/such/folder", "no_such_preset"])
def test_a_preset_that_is_not_there_is_one_line(name):
    with pytest.raises(UserError, match="cannot be loaded") as error:
        load_preset(keras_hub.models.Seq2SeqLM, name)
    assert "\n" not in str(error.value)
