"""The whole application, as a user meets it."""

import os
from dataclasses import replace

import keras
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
    root, said = smoke
    seconds = {stage: round(taken, 1) for stage, (taken, _) in said.items()}
    with capsys.disabled():
        print(f"\nsmoke: {seconds}, {sum(seconds.values()):.1f} s together")
    printed = {stage: text for stage, (_, text) in said.items()}
    assert "Epoch 2/2" in printed["train"]
    assert "texts cut after 24 subwords" in printed["train"]
    assert "rouge_l: " in printed["evaluate"]
    assert len(printed["predict"].splitlines()) == 3
    assert printed["predict"].splitlines()[1] == ""  # C41: a blank text stays blank
    assert "SavedModel alone equals this process on" in printed["export"]
    pictures = printed["explain"].splitlines()
    assert [picture.rpartition("-")[2] for picture in pictures][1] == "decoder_0.png"
    assert len(pictures) == 2
    assert all(os.path.getsize(picture) > 10_000 for picture in pictures)
    assert summarize.listing(root) == ["smoke-001"]
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
@pytest.mark.parametrize("kind", ["pointer_transformer", "pointer_generator"])
def test_what_copies_learns_decodes_and_reloads(
    kind, config, vocabulary_model, tmp_path
):
    config = replace(config, model=replace(config.model, kind=kind))
    data = SummarizationData(config, vocabulary_model)
    application = Summarization()
    model = application.build_model(config, data)
    model.compile(
        optimizer=keras.optimizers.Adam(0.01), **application.objective(config, data)
    )
    (batch,) = data.train.epochs(0, 1).map(teacher_forced).take(1)
    losses = [model.train_on_batch(*batch)[0] for _ in range(4)]
    assert losses[-1] < losses[0]
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras", compile=False)
    np.testing.assert_array_equal(again(batch[0]), model(batch[0]))
    if kind == "pointer_transformer":  # its decoding is the one that is compiled here
        answers = Summarizer(model, data.tokenizer, config)(["Open the file.", ""])
        assert answers[1] == ""
        again = Summarizer(again, data.tokenizer, config)
        assert again(["Open the file.", ""]) == answers


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
    """Texts of every kind, alone in another process, as in this one."""
    from keras_attention import export

    directory = smoke_run.path("saved_model", "1")
    batches = [TEXTS, [TEXTS[1]], [""], ["", ""]]
    found = export.ask_alone(directory, batches, ["greedy", "beam", "serving_default"])
    assert found["serving_default"] == found["greedy"]
    for answers in (found["greedy"], found["beam"]):
        texts = [answer["summary"] for answer in answers]
        assert (texts[0][0], texts[0][2]) == ("", "")
        assert texts[0][1:2] == texts[1]
        assert texts[0][6] == texts[0][7]
        assert texts[2:] == [[""], ["", ""]]
        numbers = [x for answer in answers for x in answer["log_probability"]]
        assert np.isfinite(numbers).all()


@pytest.mark.slow
def test_the_attention_endpoint(smoke_run):
    import tensorflow as tf
    import tensorflow_text  # noqa: F401 (the SavedModel needs its operations)

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    assert set(loaded.signatures) == {"serving_default", "greedy", "beam", "attention"}
    answer = loaded.signatures["attention"](tf.constant([TEXT, ""]))
    scores, target = answer["attention_scores"], answer["target_pieces"]
    source = answer["source_pieces"]
    assert scores.shape == (2, 2, target.shape[1], source.shape[1])
    written = (target.numpy() != b"<pad>")[:, None]
    sums = np.broadcast_to(written, scores.shape[:3])
    np.testing.assert_allclose(scores.numpy().sum(-1), sums, atol=1e-5)
