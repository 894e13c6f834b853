"""The whole application, as a user meets it."""

import json
import os
import re

import numpy as np
import pytest

from applications.pipeline import run as runs
from keras_attention.models.attention_cnn import ATTENTIONS
from tests.applications.command_line import assert_holds, history
from tests.applications.image_classification.conftest import CLASSES, SMOKE, classify

NUMBERS = {
    "images",
    "accuracy",
    "top_5_accuracy",
    "macro_f1",
    "calibration_error",
    "by_class",
    "baselines",
    "above_nearest_mean_image",
    "parameters",
    "multiply_adds",
    "images_per_second",
}


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, capsys):
    printed = classify.told(smoke, capsys)
    assert "training images in" in printed["train"]
    assert "accuracy: " in printed["evaluate"]
    exported = printed["export"]
    for words in ("SavedModel alone equals", "model.tflite: ", "model.onnx: "):
        assert words in exported
    pictures = printed["explain"].splitlines()
    assert [os.path.basename(path) for path in pictures] == [
        "attention.png",
        "positions.png",
    ]
    assert all(os.path.getsize(picture) > 10_000 for picture in pictures)


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    assert_holds(smoke_run, "classes.json", "predictions.npz")
    about = json.loads(smoke_run.path("config.json").read_text())
    assert (about["application"], about["preset"]) == ("image_classification", "smoke")
    assert smoke_run.config(type(SMOKE)).model == SMOKE.model
    rows = history(smoke_run)
    assert {"loss", "accuracy", "val_loss", "val_accuracy"} <= set(rows[0])
    assert float(rows[1]["loss"]) < float(rows[0]["loss"])
    metrics = smoke_run.metrics()
    assert set(metrics["evaluate"][0]["metrics"]) == NUMBERS
    exported = metrics["export"][0]["metrics"]["largest_difference"]
    assert set(exported) == {"litert", "onnx"}
    assert max(exported.values()) < 1e-4
    figures = {path.name for path in smoke_run.path("figures").iterdir()}
    assert {"confusion.png", "reliability.png"} <= figures


@pytest.mark.slow
def test_predict_answers_files_of_every_mode(smoke_run, tmp_path, capsys):
    """C66: the same picture in any mode is the same to the model."""
    from PIL import Image

    gray = Image.fromarray(np.random.default_rng(0).integers(0, 256, (9, 9), "uint8"))
    modes = {
        "gray.png": gray,
        "color.png": gray.convert("RGB"),
        "color.bmp": gray.convert("RGB"),
        "alpha.png": gray.convert("RGBA"),
        "palette.png": gray.quantize(256),
        "deep.png": Image.fromarray(np.asarray(gray).astype("uint16") * 257),
    }
    for name, image in modes.items():
        image.save(tmp_path / name)
    inputs = [f"input={tmp_path / name}" for name in modes]
    assert classify("predict", "--preset", "smoke", *inputs) == 0
    answers = capsys.readouterr().out.splitlines()
    assert len(answers) == len(modes)
    assert len(set(answers)) == 1
    label, probability = answers[0].split()
    assert label in CLASSES
    assert 0.1 <= float(probability) <= 1


@pytest.mark.slow
def test_a_cnn_with_attention_is_trained_and_predicts(root, digits, settings, capsys):
    """Its evaluation and its pictures have their own tests."""
    few = ("data.train_limit=64", "train.epochs=1", "model.kind=cnn")
    arguments = ("--preset", "smoke", *few, "model.attention=cbam", *settings)
    assert classify("train", *arguments) == 0
    run = runs.find(root, "image_classification", preset="smoke")
    assert run.config(type(SMOKE)).model.attention == "cbam"
    capsys.readouterr()
    image = next(digits.glob("3/*.png"))
    assert classify("predict", "--preset", "smoke", f"input={image}") == 0
    label, _ = capsys.readouterr().out.split()
    assert label in CLASSES


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'?"),
        ("train --preset smoke model.kind=gru", "`model.kind` must be one of vit, cnn"),
        ("train --preset smoke data.name=missing/folder", "missing/folder"),
        ("evaluate --preset smoke", "There is no trained run of preset 'smoke'"),
    ],
)
def test_bad_input_is_one_line(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in classify.refused(capsys, *arguments.split())
    assert classify.listing(root) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("model.patch_size=5",), r"patch.*28.*5|5.*28"),  # C64: both numbers
        (("model.attention=cbam",), "Unknown model.attention 'cbam'"),
        (("model.attention=linformer",), "Unknown model.attention 'linformer'"),
        (("model.kind=cnn", "model.attention=multi_head"), ", ".join(ATTENTIONS)),
    ],
)
def test_a_model_that_cannot_be_built(root, settings, capsys, changes, words):
    command = ("train", "--preset", "smoke", *settings, *changes)
    assert re.search(words, classify.refused(capsys, *command))


@pytest.mark.slow
def test_a_broken_image_is_named(smoke_run, tmp_path, capsys):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG not really")
    for stage in ("predict", "explain"):
        line = classify.refused(capsys, stage, "--preset", "smoke", f"input={broken}")
        assert "broken.png is no image that can be read" in line


@pytest.mark.slow
def test_the_classes_are_those_of_the_training(
    smoke_run, digits, tmp_path, capsys, monkeypatch
):
    """What a model says does not follow a folder that changes, or goes."""
    from shutil import copytree

    image = f"input={next(digits.glob('3/*.png'))}"
    capsys.readouterr()
    assert classify("predict", "--preset", "smoke", image) == 0
    said = capsys.readouterr().out
    changed = tmp_path / "changed"
    copytree(digits, changed)
    (changed / "0").rename(changed / "zero")
    name = f"data.name={changed}"
    assert classify("predict", "--preset", "smoke", image, name) == 0
    assert capsys.readouterr().out == said
    line = classify.refused(capsys, "evaluate", "--preset", "smoke", name)
    assert "gone: 0, new: zero. Train a new run." in line
    missing = f"data.name={tmp_path / 'missing'}"
    assert classify("predict", "--preset", "smoke", image, missing) == 0
    assert capsys.readouterr().out == said


@pytest.mark.slow
def test_images_of_another_size_after_training(smoke_run, capsys):
    """And what was measured with changed settings leaves the run's own predictions."""
    settings = ("--preset", "smoke", "data.test_limit=20")
    settings += ("data.train_limit=64",)
    kept = smoke_run.path("predictions.npz").read_bytes()
    assert classify("evaluate", *settings, "data.image_size=56") == 0
    assert smoke_run.path("predictions.npz").read_bytes() == kept
    assert smoke_run.metrics()["evaluate"][-1]["metrics"]["images"] == 20
    line = classify.refused(capsys, "evaluate", *settings, "data.image_size=30")
    assert re.search("30.*7|7.*30", line)
    line = classify.refused(capsys, "evaluate", *settings, "data.channels=3")
    assert "was trained on images of 1 channels. Received: data.channels=3" in line
