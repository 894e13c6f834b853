"""The whole application, as a user meets it."""

import os
from dataclasses import replace

import numpy as np
import pytest

from applications.audio.samples import odd_sounds, wav
from applications.errors import UserError
from applications.pipeline import training
from applications.speech_recognition.application import SpeechRecognition
from tests.applications.command_line import assert_holds, history
from tests.applications.speech_recognition.conftest import (
    COUNTS,
    LETTERS,
    SMOKE,
    recognize,
)
from tests.backend import thorough_but

NUMBERS = {
    "clips",
    "protocol",
    "cer",
    "cer_interval",
    "cer_errors",
    "wer",
    "wer_interval",
    "wer_errors",
    "right_texts",
    "greedy",
    "ctc_greedy",
    "baselines",
    "cer_difference_to_empty_output",
    "cer_difference_to_most_frequent_text",
    "impossible_labels",
    "parameters",
    "seconds_per_second_of_sound",
    "diagonality",
}


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, capsys):
    printed = recognize.told(smoke, capsys)
    assert "40 training clips, 0.3 minutes, in 5 batches; 0 of more" in printed["train"]
    assert "0 with a text too long for CTC" in printed["train"]
    assert "\ncer: " in printed["evaluate"]
    assert "\nbaselines.most_frequent_text.cer: " in printed["evaluate"]
    lines = printed["predict"].split("\n")
    assert len(lines) == 3  # one each, and the end
    assert set("".join(lines)) <= {*LETTERS, " "}
    for search in ("greedy", "beam"):
        assert f"{search}: SavedModel alone equals this process" in printed["export"]
    for line in printed["explain"].splitlines():
        nothing = line.endswith("nothing was recognized, so there is nothing to show")
        assert nothing or os.path.getsize(line) > 10_000


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    assert_holds(smoke_run, "learned.json", "transcripts.tsv")
    assert smoke_run.config(type(SMOKE)).model == SMOKE.model
    rows = history(smoke_run)
    assert {"val_loss", "val_cer", "val_wer", "ctc_impossible_labels"} <= set(rows[0])
    assert float(rows[1]["loss"]) < float(rows[0]["loss"])
    train = smoke_run.metrics()["train"][0]["metrics"]
    assert (train["clips"], train["impossible_labels"]) == (COUNTS["train"], 0)
    assert train["val_cer"] == min(float(row["val_cer"]) for row in rows)
    metrics = smoke_run.metrics()["evaluate"][0]["metrics"]
    assert set(metrics) == NUMBERS
    interval = metrics["cer_interval"]
    assert interval["low"] <= metrics["cer"] <= interval["high"]
    assert metrics["baselines"]["empty_output"] == {"cer": 1.0, "wer": 1.0}
    assert 0 < metrics["diagonality"]["even"] < 1


@pytest.mark.slow
def test_the_saved_model_of_the_smoke_run(smoke_run):
    import tensorflow as tf

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    assert set(loaded.signatures) == {"serving_default", "greedy", "beam"}
    files = odd_sounds()
    together = loaded.signatures["beam"](audio=tf.constant(files))
    assert np.isfinite(together["log_probability"]).all()
    for row in (0, 1, 3):
        alone = loaded.signatures["beam"](audio=tf.constant([files[row]]))
        assert alone["text"].numpy()[0] == together["text"].numpy()[row]
    wrong = wav(np.zeros(400), 11_025)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"sample rate.*11025"):
        loaded.signatures["greedy"](audio=tf.constant([wrong]))


@pytest.mark.slow
def test_what_a_trained_run_refuses(smoke_run, tmp_path, capsys):
    command = ("evaluate", "--preset", "smoke")
    line = recognize.refused(capsys, *command, "front_end.hop_milliseconds=20")
    assert "was trained on frames of its own front_end settings" in line
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"RIFF not really")
    for stage in ("predict", "explain"):
        line = recognize.refused(capsys, stage, "--preset", "smoke", f"input={broken}")
        assert "broken.wav is no sound that can be read" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'?"),
        ("train --preset smoke model.encoder=rnn", "`model.encoder` must be one of"),
        ("train --preset smoke data.name=missing/folder", "missing/folder"),
        ("train --preset smoke data.name=festvox", "Did you mean 'festvox_ru'"),
        ("evaluate --preset smoke", "There is no trained run of preset 'smoke'"),
    ],
)
def test_bad_input_is_one_line(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in recognize.refused(capsys, *arguments.split())
    assert recognize.listing(root) == []


def test_an_unknown_attention_is_refused(make_data):
    model = replace(SMOKE.model, attention="linformer")
    with pytest.raises(UserError, match=r"Unknown model\.attention 'linformer'"):
        SpeechRecognition().build_model(replace(SMOKE, model=model), make_data())


@pytest.mark.parametrize(
    ("objective", "losses"),
    [("joint", {"ctc": 0.3, "attention": 0.7}), ("ctc", {"ctc": 1.0})],
)
def test_each_objective_has_its_losses(make_data, objective, losses):
    data = make_data(objective=objective)
    config = replace(data.config, train=replace(SMOKE.train, ctc_weight=0.3))
    found = SpeechRecognition().objective(config, data)
    assert found["loss_weights"] == losses
    assert set(found["loss"]) == set(found["metrics"]) == set(losses)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objective", "decoder"),
    thorough_but(
        [("attention", "gru")], [("ctc", "transformer"), ("attention", "gru")]
    ),
)
def test_one_objective_alone_trains(make_data, objective, decoder):
    data = make_data(objective=objective, decoder=decoder, train_limit=16)
    application = SpeechRecognition()
    model = application.build_model(data.config, data)
    model.compile(**application.objective(data.config, data))
    batches = application.train_batches(data.config, data)
    found = model.fit(
        training.continuous(batches, 0, 3),
        epochs=3,
        steps_per_epoch=batches.batches_per_epoch,
        shuffle=False,
        verbose=0,
    )
    measured = {"ctc": "impossible_labels", "attention": "perplexity"}[objective]
    assert any(name.endswith(measured) for name in found.history)
    first, *_, last = found.history["loss"]
    assert last < first
    assert np.isfinite(application.validate(data.config, data, model)["cer"])
