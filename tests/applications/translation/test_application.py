"""The whole application, as a user meets it."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from applications.pipeline import run as runs
from applications.translation.application import Translation
from applications.translation.data import TranslationData
from tests.applications.command_line import assert_holds, history
from tests.applications.pipeline.test_training import assert_same_training
from tests.applications.text.learning import assert_learns_decodes_and_reloads
from tests.applications.translation.conftest import SENTENCE, SMOKE, translate

# What is in each.
KINDS = {
    "transformer": ("TransformerSeq2Seq", "multi_head", None),
    "gru_bahdanau": ("RecurrentSeq2Seq", "additive", "bahdanau"),
    "gru_luong": ("RecurrentSeq2Seq", "general", "luong"),
    "gru": ("RecurrentSeq2Seq", "none", "bahdanau"),
}
NUMBERS = {
    "bleu",
    "chrf",
    "copy_source",
    "greedy",
    "bleu_by_source_words",
    "perplexity_per_subword",
    "padding_waste",
    "sentences",
    "protocol",
    "copied_words",
}


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, capsys):
    printed = translate.told(smoke, capsys)
    assert "training pairs in" in printed["train"]
    assert "bleu: " in printed["evaluate"]
    assert len(printed["predict"].splitlines()) == 3
    assert printed["predict"].splitlines()[1] == ""  # C41: a blank text stays blank
    assert "SavedModel alone equals this process on 24 texts" in printed["export"]
    pictures = printed["explain"].splitlines()
    assert len(pictures) == 3
    assert all(os.path.getsize(picture) > 10_000 for picture in pictures)


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    assert_holds(smoke_run, "translations.tsv", "vocabulary.model")
    about = json.loads(smoke_run.path("config.json").read_text())
    assert (about["application"], about["preset"]) == ("translation", "smoke")
    assert smoke_run.config(type(SMOKE)).model == SMOKE.model
    rows = history(smoke_run)
    assert [row["epoch"] for row in rows] == ["1", "2"]
    assert {"loss", "perplexity", "val_loss", "val_perplexity", "val_bleu"} <= set(
        rows[0]
    )
    assert float(rows[1]["loss"]) < float(rows[0]["loss"])
    metrics = smoke_run.metrics()
    assert set(metrics) == {"train", "evaluate", "export"}
    assert set(metrics["evaluate"][0]["metrics"]) == NUMBERS
    assert smoke_run.path("saved_model", "1", "saved_model.pb").exists()
    card = smoke_run.path("card.md").read_text(encoding="utf-8")
    assert "libreoffice_help/en-de" in card
    assert "import tensorflow_text" in card


@pytest.mark.slow
def test_a_users_own_file_trains_and_answers(root, tsv, data_dir, tmp_path, capsys):
    """With a model that has nothing to explain."""
    settings = (
        f"data.name={tsv}",
        f"data.data_dir={data_dir}",
        "model.kind=gru",
        "model.hidden_dim=16",
        "data.vocabulary_size=500",
        "data.train_limit=60",
        "data.test_limit=1",
        "train.epochs=1",
        "train.validation_sentences=2",
    )
    assert translate("train", "--preset", "smoke", *settings) == 0
    inputs = tmp_path / "inputs.txt"
    inputs.write_text("Open.\n\nSave.\n")
    capsys.readouterr()
    assert translate("predict", "--preset", "smoke", f"file={inputs}") == 0
    answers = capsys.readouterr().out.splitlines()
    assert len(answers) == 3
    assert answers[1] == ""
    line = translate.refused(capsys, "explain", "--preset", "smoke")
    assert line == "error: A model without attention has nothing to show."
    assert not runs.find(root, "translation", preset="smoke").path("figures").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_chooses_the_model(kind, config, vocabulary_model):
    config = replace(config, model=replace(config.model, kind=kind))
    data = TranslationData(config, vocabulary_model)
    model = Translation().build_model(config, data)
    found = model.get_config()
    name, attention, order = KINDS[kind]
    assert type(model).__name__ == name
    assert (found["attention"], found.get("order")) == (attention, order)
    assert model.output_shape[-1] == data.tokenizer.vocabulary_size


@pytest.mark.slow
def test_a_recurrent_model_learns_decodes_and_reloads(
    config, vocabulary_model, tmp_path
):
    """The smoke run is the same for the transformer."""
    config = replace(
        config,
        data=replace(config.data, max_length=16),
        model=replace(config.model, kind="gru_luong"),
    )
    data = TranslationData(config, vocabulary_model)
    # A few short steps take less time than a graph of them.
    options = {"run_eagerly": True}
    assert_learns_decodes_and_reloads(Translation(), config, data, tmp_path, **options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'?"),
        ("train --preset smoke model.kin=gru", "Did you mean 'model.kind'?"),
        (
            "train --preset smoke model.kind=lstm",
            "`model.kind` must be one of transformer, gru_bahdanau, gru_luong, gru",
        ),
        ("train --preset smoke data.name=missing.tsv", "missing.tsv cannot be read"),
        ("train --preset smoke data.name=wmt", "Unknown corpus 'wmt'"),
        ("train --preset smoke data.name=empty.tsv", "empty.tsv is empty"),
        ("train --preset smoke data.name=three.tsv", "line 2 must hold two columns"),
        ("train --preset smoke data.name=blank.tsv", "line 1 has an empty source"),
        ("train --preset smoke data.name=latin.tsv", "line 1 is not UTF-8"),
        ("evaluate --preset smoke", "There is no trained run of preset 'smoke'"),
    ],
)
def test_bad_input_is_one_line(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.tsv").write_text("")
    (tmp_path / "three.tsv").write_text("a\tb\nc\td\te\n")
    (tmp_path / "blank.tsv").write_text(" \tb\n")
    (tmp_path / "latin.tsv").write_bytes("Käse\tcheese\n".encode("latin-1"))
    arguments = arguments.split()
    if "train" in arguments:
        arguments.append(f"data.data_dir={tmp_path / 'data'}")
    assert words in translate.refused(capsys, *arguments)
    assert translate.listing(root) == []


def test_an_attention_that_is_no_multi_head_layer(root, tsv, data_dir, capsys):
    settings = ("data.vocabulary_size=500", f"data.data_dir={data_dir}")
    line = translate.refused(
        capsys,
        "train",
        "--preset",
        "smoke",
        f"data.name={tsv}",
        "model.attention=multihead",
        *settings,
    )
    assert "Unknown model.attention 'multihead'" in line
    assert "multi_head" in line
    assert translate.listing(root) == []


@pytest.mark.slow
def test_the_saved_model(smoke_run):
    """C41: a blank text among others, alone and twice, has a blank translation.

    That a process of its own answers the same is what `export` has seen to.
    """
    import tensorflow_text  # noqa: F401 (the SavedModel needs its operations)

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    signatures = loaded.signatures
    assert set(signatures) == {"serving_default", "greedy", "beam", "attention"}
    for texts in ([SENTENCE, "", "   "], [SENTENCE], [""], ["", ""]):
        blank = [not text.strip() for text in texts]
        greedy = signatures["greedy"](text=tf.constant(texts))
        assert set(greedy) == {"translation", "log_probability"}
        for name in ("serving_default", "beam", "attention"):
            answer = signatures[name](text=tf.constant(texts))
            found = answer["translation"].numpy()
            assert (found[blank] == b"").all()
            if name != "beam":
                np.testing.assert_array_equal(found, greedy["translation"])
            if name != "attention":
                assert np.isfinite(answer["log_probability"]).all()
    answer = signatures["attention"](text=tf.constant([SENTENCE, "", "Save all."]))
    scores, source = answer["attention_scores"], answer["source_pieces"].numpy()
    target = answer["target_pieces"].numpy()
    assert scores.shape == (3, 2, target.shape[1], source.shape[1])
    real = source != b"<pad>"
    hidden = np.broadcast_to(~real[:, None, None], scores.shape)
    assert (scores.numpy()[hidden] == 0).all()
    sums = np.broadcast_to((target != b"<pad>")[:, None], scores.shape[:3])
    np.testing.assert_allclose(scores.numpy().sum(-1), sums, atol=1e-5)
    spelled = b"".join(source[0][real[0]]).decode()
    assert spelled == "▁" + SENTENCE.replace(" ", "▁") + "</s>"


# ------------------------------------------------------------------------ exact resume

RESUMED = (
    "train.epochs=2",
    "train.validation_sentences=2",
    "data.train_limit=150",
    "data.tokens_per_batch=512",
    "data.vocabulary_size=600",
)


@pytest.mark.slow
def test_resume_after_kill_9_is_exact(tsv, data_dir, tmp_path):
    """Dropout 0.2, shuffled buckets, best checkpoint: to the last bit."""

    def train(where, *arguments, kill_at=0):
        command = [sys.executable, "-m", "tests.applications.translation.killed"]
        environment = {
            **os.environ,
            runs.ROOT_VARIABLE: str(tmp_path / where),
            "KILL_AT": str(kill_at),
        }
        return subprocess.run(
            [*command, "train", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=600,
        )

    data = (f"data.name={tsv}", f"data.data_dir={data_dir}")
    new = ("--preset", "smoke", *data, *RESUMED)
    whole = train("whole", *new)
    assert whole.returncode == 0
    (batches,) = re.findall(r"training pairs in (\d+) batches", whole.stdout)
    assert int(batches) > 2
    killed = train("cut", *new, kill_at=int(batches) + 2)  # in the second epoch
    assert killed.returncode == -signal.SIGKILL
    reference = runs.find(tmp_path / "whole", "translation", name="smoke-001")
    run = runs.find(tmp_path / "cut", "translation", name="smoke-001")
    assert len(run.path("history.csv").read_text().splitlines()) == 2
    resumed = train("cut", "run=smoke-001")
    assert resumed.returncode == 0
    assert "continuing after epoch 1" in resumed.stdout
    assert run.config(type(SMOKE)).model.dropout > 0
    assert_same_training(reference, run)
    vocabularies = [r.path("vocabulary.model").read_bytes() for r in (reference, run)]
    assert vocabularies[0] == vocabularies[1]
