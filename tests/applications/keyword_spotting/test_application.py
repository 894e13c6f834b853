"""The whole application, as a user meets it."""

import os
from dataclasses import replace

import numpy as np
import pytest

from applications.audio.samples import odd_sounds, wav
from applications.errors import UserError
from applications.keyword_spotting.application import KeywordSpotting
from tests.applications.command_line import assert_holds, history
from tests.applications.keyword_spotting.conftest import CLASSES, SMOKE, spot

NUMBERS = {
    "clips",
    "accuracy",
    "accuracy_interval",
    "macro_f1",
    "calibration_error",
    "by_class",
    "baselines",
    "above_nearest_mean_pattern",
    "cut_clips",
    "parameters",
    "milliseconds_per_clip",
}


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, capsys):
    printed = spot.told(smoke, capsys)
    assert "training clips in 10 batches" in printed["train"]
    assert "accuracy: " in printed["evaluate"]
    for line in printed["predict"].splitlines():
        label, probability = line.split()
        assert label in CLASSES
        assert 1 / 3 <= float(probability) <= 1
    assert len(printed["predict"].splitlines()) == 2
    assert "SavedModel alone equals this process on" in printed["export"]
    pictures = printed["explain"].splitlines()
    assert [os.path.basename(path) for path in pictures] == [
        f"{name}.png" for name in CLASSES
    ]
    assert all(os.path.getsize(picture) > 10_000 for picture in pictures)


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    assert_holds(smoke_run, "classes.json", "predictions.npz")
    assert smoke_run.config(type(SMOKE)).model == SMOKE.model
    rows = history(smoke_run)
    assert {"loss", "accuracy", "val_loss", "val_accuracy"} <= set(rows[0])
    assert float(rows[1]["loss"]) < float(rows[0]["loss"])
    metrics = smoke_run.metrics()["evaluate"][0]["metrics"]
    assert set(metrics) == NUMBERS
    assert metrics["accuracy"] > 0.4
    interval = metrics["accuracy_interval"]
    assert interval["low"] < metrics["accuracy"] < interval["high"]
    assert metrics["baselines"]["nearest_mean_pattern"] > 0.9
    figures = {path.name for path in smoke_run.path("figures").iterdir()}
    assert {"confusion.png", "reliability.png"} < figures


@pytest.mark.slow
def test_the_saved_model_of_the_smoke_run(smoke_run):
    import tensorflow as tf

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    assert set(loaded.signatures) == {"serving_default", "classify"}
    files = odd_sounds()
    together = loaded.signatures["classify"](audio=tf.constant(files))
    assert together["probabilities"].shape == (len(files), len(CLASSES))
    assert np.isfinite(together["probabilities"]).all()
    for row, file in enumerate(files):
        alone = loaded.signatures["serving_default"](audio=tf.constant([file]))
        np.testing.assert_allclose(
            alone["probabilities"][0], together["probabilities"][row], atol=1e-5
        )
    wrong = wav(np.zeros(400), 11_025)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"sample rate.*11025"):
        loaded.signatures["classify"](audio=tf.constant([wrong]))


@pytest.mark.slow
def test_what_a_trained_run_refuses(smoke_run, data_dir, tmp_path, capsys):
    command = ("evaluate", "--preset", "smoke")
    line = spot.refused(
        capsys, *command, "data.name=spoken_digits", f"data.data_dir={data_dir}"
    )
    assert "gone: high" in line
    line = spot.refused(capsys, *command, "front_end.hop_milliseconds=20")
    assert "was trained on frames of its own front_end settings" in line
    line = spot.refused(capsys, *command, "data.max_frames=99")
    assert "data.max_frames at 98 or less" in line
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"RIFF not really")
    for stage in ("predict", "explain"):
        line = spot.refused(capsys, stage, "--preset", "smoke", f"input={broken}")
        assert "broken.wav is no sound that can be read" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'?"),
        ("train --preset smoke model.kind=gru", "`model.kind` must be one of keyword_"),
        ("train --preset smoke data.name=missing/folder", "missing/folder"),
        ("train --preset smoke data.name=spoken_digts", "Did you mean 'spoken_digits'"),
        ("evaluate --preset smoke", "There is no trained run of preset 'smoke'"),
    ],
)
def test_bad_input_is_one_line(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in spot.refused(capsys, *arguments.split())
    assert spot.listing(root) == []


def test_an_unknown_attention_is_refused(make_data):
    model = replace(SMOKE.model, attention="linformer")
    with pytest.raises(UserError, match=r"Unknown model\.attention 'linformer'"):
        KeywordSpotting().build_model(replace(SMOKE, model=model), make_data())
