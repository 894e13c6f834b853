"""The whole application, as a user meets it."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace

import keras
import numpy as np
import pytest

from applications.pipeline import run as runs
from applications.text.seq2seq_data import teacher_forced
from applications.text.tokenizer import SubwordTokenizer
from applications.translation.application import Translation
from applications.translation.data import TranslationData
from applications.translation.translator import Translator
from tests.applications.pipeline.test_training import assert_same_training
from tests.applications.translation.conftest import SMOKE, translate

KINDS = ("transformer", "gru_bahdanau", "gru_luong", "gru")
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
    root, said = smoke
    seconds = {stage: round(taken, 1) for stage, (taken, _) in said.items()}
    with capsys.disabled():
        print(f"\nsmoke: {seconds}, {sum(seconds.values()):.1f} s together")
    printed = {stage: text for stage, (_, text) in said.items()}
    assert "Epoch 2/2" in printed["train"]
    assert "training pairs in" in printed["train"]
    assert "bleu: " in printed["evaluate"]
    assert len(printed["predict"].splitlines()) == 3
    assert printed["predict"].splitlines()[1] == ""  # C41: a blank text stays blank
    assert "SavedModel alone equals this process on 24 texts" in printed["export"]
    pictures = printed["explain"].splitlines()
    assert len(pictures) == 3
    assert all(os.path.getsize(picture) > 10_000 for picture in pictures)
    assert translate.listing(root) == ["smoke-001"]


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    produced = {path.name for path in smoke_run.directory.iterdir()}
    assert produced == {
        "card.md",
        "config.json",
        "figures",
        "history.csv",
        "logs",
        "metrics.json",
        "model.keras",
        "saved_model",
        "state",
        "translations.tsv",
        "vocabulary.model",
    }
    about = json.loads(smoke_run.path("config.json").read_text())
    assert (about["application"], about["preset"]) == ("translation", "smoke")
    assert smoke_run.config(type(SMOKE)).model == SMOKE.model
    with open(smoke_run.path("history.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
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


def train_briefly(tsv, tmp_path, *settings):
    """A run of the user's own file."""
    return translate(
        "train",
        "--preset",
        "smoke",
        f"data.name={tsv}",
        f"data.data_dir={tmp_path / 'data'}",
        "data.vocabulary_size=500",
        "data.train_limit=60",
        "train.epochs=1",
        "train.validation_sentences=2",
        *settings,
    )


@pytest.mark.slow
def test_a_users_own_file_trains_and_answers(root, tsv, tmp_path, capsys):
    assert train_briefly(tsv, tmp_path) == 0
    capsys.readouterr()
    assert translate("predict", "--preset", "smoke", "input=Open.", "input=") == 0
    answers = capsys.readouterr().out.splitlines()
    assert len(answers) == 2
    assert answers[1] == ""
    inputs = tmp_path / "inputs.txt"
    inputs.write_text("Open.\n\nSave.\n")
    assert translate("predict", "--preset", "smoke", f"file={inputs}") == 0
    assert capsys.readouterr().out.splitlines()[:2] == answers


@pytest.mark.slow
def test_explain_without_attention_and_of_blank_text(root, tsv, tmp_path, capsys):
    assert train_briefly(tsv, tmp_path, "model.kind=gru") == 0
    line = translate.refused(capsys, "explain", "--preset", "smoke")
    assert line == "error: A model without attention has nothing to show."
    assert train_briefly(tsv, tmp_path, "model.kind=gru_luong") == 0
    line = translate.refused(
        capsys, "explain", "--preset", "smoke", "input=Open.", "input= "
    )
    assert line == "error: A blank text has nothing to show. Give a sentence."
    assert not runs.find(root, "translation", preset="smoke").path("figures").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns_decodes_and_reloads(
    kind, config, vocabulary_model, tmp_path
):
    config = replace(config, model=replace(config.model, kind=kind))
    data = TranslationData(config, vocabulary_model)
    application = Translation()
    model = application.build_model(config, data)
    model.compile(
        optimizer=keras.optimizers.Adam(0.01), **application.objective(config, data)
    )
    (batch,) = data.train.epochs(0, 1).map(teacher_forced).take(1)
    losses = [model.train_on_batch(*batch)[0] for _ in range(5)]
    assert losses[-1] < losses[0]
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras", compile=False)
    np.testing.assert_array_equal(again(batch[0]), model(batch[0]))
    tokenizer, texts = SubwordTokenizer(vocabulary_model), ["Open the file.", ""]
    answers = Translator(model, tokenizer, config)(texts)
    assert answers[1] == ""
    assert Translator(again, tokenizer, config)(texts) == answers


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


def test_an_attention_that_is_no_multi_head_layer(root, tsv, tmp_path, capsys):
    settings = ("data.vocabulary_size=500", f"data.data_dir={tmp_path / 'data'}")
    for name in ("multihead", "additive"):
        line = translate.refused(
            capsys,
            "train",
            "--preset",
            "smoke",
            f"data.name={tsv}",
            f"model.attention={name}",
            *settings,
        )
        assert f"Unknown model.attention {name!r}" in line
        assert "multi_head" in line
    assert translate.listing(root) == []


# ------------------------------------------------------------------------ exact resume

RESUMED = (
    "train.epochs=3",
    "train.validation_sentences=2",
    "data.train_limit=150",
    "data.tokens_per_batch=512",
    "data.vocabulary_size=600",
)


@pytest.mark.slow
def test_resume_after_kill_9_is_exact(tmp_path):
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

    new = ("--preset", "smoke", f"data.data_dir={tmp_path / 'data'}", *RESUMED)
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
