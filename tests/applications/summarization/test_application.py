"""The whole application, as a user meets it."""

import os
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from applications.summarization.application import Summarization
from applications.summarization.data import SummarizationData
from applications.summarization.summarizer import Summarizer, copies
from applications.text.alignment import has_attention
from applications.text.seq2seq_data import teacher_forced
from tests.applications.summarization.conftest import SMOKE, TEXT, summarize
from tests.applications.summarization.test_summarizer import TEXTS
from tests.applications.text.learning import assert_learns_decodes_and_reloads

# What is in each, whether it looks back at the text, and whether it copies from it.
KINDS = {
    "transformer": ("TransformerSeq2Seq", True, False),
    "pointer_transformer": ("PointerGenerator", True, True),
    "gru": ("RecurrentSeq2Seq", False, False),
    "gru_attention": ("RecurrentSeq2Seq", True, False),
    "pointer_generator": ("PointerGenerator", True, True),
}


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, smoke_run, capsys):
    printed = summarize.told(smoke, capsys)
    assert "texts cut after 24 subwords" in printed["train"]
    assert "rouge_l: " in printed["evaluate"]
    assert len(printed["predict"].splitlines()) == 3
    assert printed["predict"].splitlines()[1] == ""  # C41: a blank text stays blank
    assert "SavedModel alone equals this process on" in printed["export"]
    pictures = printed["explain"].splitlines()
    assert [picture.rpartition("-")[2] for picture in pictures][1] == "decoder_0.png"
    assert len(pictures) == 2
    assert all(os.path.getsize(picture) > 10_000 for picture in pictures)
    produced = {path.name for path in smoke_run.directory.iterdir()}
    assert {"summaries.tsv", "vocabulary.model", "model.keras", "card.md"} <= produced
    card = smoke_run.path("card.md").read_text(encoding="utf-8")
    assert "first 24 subwords are read" in card


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_chooses_the_model(kind, config, vocabulary_model):
    config = replace(config, model=replace(config.model, kind=kind))
    data = SummarizationData(config, vocabulary_model)
    model = Summarization().build_model(config, data)
    found = type(model).__name__, has_attention(model), copies(model)
    assert found == KINDS[kind]
    assert model.output_shape[-1] == data.tokenizer.vocabulary_size


@pytest.mark.slow
def test_the_copying_gru_learns_decodes_and_reloads(config, vocabulary_model, tmp_path):
    """The smoke run is the same for the copying transformer."""
    config = replace(config, model=replace(config.model, kind="pointer_generator"))
    data = SummarizationData(config, vocabulary_model)
    assert_learns_decodes_and_reloads(Summarization(), config, data, tmp_path)


def test_c53_smoothing_leaves_padding_out(config, vocabulary_model):
    """The loss of a batch does not depend on how far its summaries are padded."""
    data = SummarizationData(config, vocabulary_model)
    application = Summarization()
    objective = application.objective(config, data)
    assert objective["loss"].label_smoothing > 0
    model = application.build_model(config, data)
    ((inputs, labels),) = data.train.epochs(0, 1).map(teacher_forced).take(1)
    longer = inputs | {"target": tf.pad(inputs["target"], PAD)}
    found = [
        float(objective["loss"](y, model(x)))
        for x, y in ((inputs, labels), (longer, tf.pad(labels, PAD)))
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-5)


PAD = ((0, 0), (0, 3))


def test_the_task_metric_is_greedy_rouge(config, vocabulary_model, monkeypatch):
    data = SummarizationData(config, vocabulary_model)
    asked = []

    def answer(self, texts, search):
        asked.append((len(texts), search))
        return data.sentences("validation", len(texts))[1]

    monkeypatch.setattr(Summarizer, "__call__", answer)
    model = Summarization().build_model(config, data)
    assert Summarization().validate(config, data, model) == {"rouge_l": 1.0}
    assert asked == [(SMOKE.train.validation_sentences, "greedy")]
    assert Summarization.quality.name == "val_rouge_l"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'?"),
        ("train --preset smoke model.kind=lstm", "`model.kind` must be one of"),
        ("train --preset smoke model.kind=keras_hub", "`preset` names the weights"),
        ("train --preset smoke model.preset=here", "`preset` names the weights"),
        ("train --preset smoke data.name=missing.jsonl", "cannot be read"),
        ("train --preset smoke data.name=bad.jsonl", "line 1 is not JSON"),
        ("train --preset smoke data.name=debian", "Unknown corpus 'debian'"),
        ("train --preset smoke model.kind=keras_hub model.preset=./x", "./x cannot"),
        ("evaluate --preset smoke", "There is no trained run of preset 'smoke'"),
    ],
)
def test_bad_input_is_one_line(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text("no JSON")
    arguments = arguments.split()
    if "train" in arguments:
        arguments.append(f"data.data_dir={tmp_path / 'data'}")
    assert words in summarize.refused(capsys, *arguments)
    assert summarize.listing(root) == []


@pytest.mark.slow
def test_c41_and_c45_in_the_saved_model(smoke_run):
    """Texts of every kind; and the endpoint that shows what was looked at.

    That a process of its own answers the same is what `export` has seen to.
    """
    import tensorflow_text  # noqa: F401 (the SavedModel needs its operations)

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    assert set(loaded.signatures) == {"serving_default", "greedy", "beam", "attention"}

    def ask(endpoint, *texts):
        answer = loaded.signatures[endpoint](text=tf.constant(texts))
        if "log_probability" in answer:
            assert np.isfinite(answer["log_probability"]).all()
        return answer["summary"].numpy().tolist()

    for endpoint in ("greedy", "beam"):
        found = ask(endpoint, *TEXTS)
        assert (found[0], found[2]) == (b"", b"")
        assert [found[1]] == ask(endpoint, TEXTS[1])
        assert found[6] == found[7]
        assert ask(endpoint, "") == [b""]
        assert ask(endpoint, "", "") == [b"", b""]
    assert ask("serving_default", *TEXTS) == ask("greedy", *TEXTS)
    answer = loaded.signatures["attention"](text=tf.constant([TEXT, ""]))
    scores, target = answer["attention_scores"], answer["target_pieces"]
    assert scores.shape == (2, 2, target.shape[1], answer["source_pieces"].shape[1])
    written = (target.numpy() != b"<pad>")[:, None]
    sums = np.broadcast_to(written, scores.shape[:3])
    np.testing.assert_allclose(scores.numpy().sum(-1), sums, atol=1e-5)
