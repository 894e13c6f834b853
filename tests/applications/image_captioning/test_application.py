"""The whole application, as a user meets it."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from applications.errors import UserError
from applications.image_captioning.application import ImageCaptioning
from applications.image_captioning.data import CaptionData
from applications.image_classification.presets import PRESETS as CLASSIFIERS
from applications.pipeline import run as runs
from keras_attention import models
from keras_attention.models.attention_cnn import ATTENTIONS
from tests.applications.command_line import assert_holds, history
from tests.applications.image_captioning.conftest import (
    GRID,
    SMOKE,
    caption,
    cut_out,
    model_of,
)

NUMBERS = {
    "images",
    "concepts",
    "protocol",
    *("bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "cider"),
    "greedy",
    "baselines",
    "above_most_frequent_caption",
    "above_nearest_training_image",
    "unknown_words",
    "first_reference_in_known_words",
    "captions_of_train",
    "perplexity_per_word",
    "attention_inside_the_object",
}


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, capsys):
    printed = caption.told(smoke, capsys)
    assert "36 training images in 3 batches, 6 words" in printed["train"]
    assert "above_nearest_training_image.low: " in printed["evaluate"]
    for search in ("greedy", "beam"):
        words = f"{search}: SavedModel alone equals this process on 12 images"
        assert words in printed["export"]
    pictures = printed["explain"].splitlines()
    assert len(pictures) == 2
    assert all(os.path.getsize(picture) > 5_000 for picture in pictures)


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    assert_holds(smoke_run, "captions.tsv", "words.txt")
    about = json.loads(smoke_run.path("config.json").read_text())
    assert (about["application"], about["preset"]) == ("image_captioning", "smoke")
    rows = history(smoke_run)
    assert {"loss", "val_loss", "val_perplexity", "val_cider"} <= set(rows[0])
    assert float(rows[1]["loss"]) < float(rows[0]["loss"])
    metrics = smoke_run.metrics()
    assert set(metrics["evaluate"][0]["metrics"]) == NUMBERS
    assert max(metrics["export"][0]["metrics"]["largest_difference"].values()) < 1e-3
    assert "The user's own." in smoke_run.path("card.md").read_text()


@pytest.mark.slow
def test_predict_answers_files_of_every_mode(smoke_run, tmp_path, capsys):
    """C66: the same picture in any mode is the same to the model."""
    image = cut_out("red", "circle", 3, 4)
    seen = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    modes = {
        "alpha.png": image,
        "color.png": seen.convert("RGB"),
        "color.bmp": seen.convert("RGB"),
        "palette.png": seen.convert("RGB").quantize(256),
    }
    for name, one in modes.items():
        one.save(tmp_path / name)
    inputs = [f"input={tmp_path / name}" for name in modes]
    assert caption("predict", "--preset", "smoke", *inputs) == 0
    answers = capsys.readouterr().out.splitlines()
    assert len(answers) == len(modes)
    assert len(set(answers)) == 1
    known = set(smoke_run.path("words.txt").read_text().split())
    assert 1 <= len(answers[0].split()) <= SMOKE.data.max_length
    assert set(answers[0].split()) <= known


@pytest.mark.slow
def test_a_broken_image_and_another_size_are_named(smoke_run, tmp_path, capsys):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG not really")
    for stage in ("predict", "explain"):
        line = caption.refused(capsys, stage, "--preset", "smoke", f"input={broken}")
        assert "broken.png is no image that can be read" in line
    line = caption.refused(
        capsys, "evaluate", "--preset", "smoke", "data.image_size=32,32"
    )
    assert "trained on images of 16 x 24 x 3. Received: 32 x 32 x 3" in line


def test_one_validation_image_still_has_a_score(config, vocabulary, captioner):
    """Else no epoch would ever be the best one."""
    one = replace(config, data=replace(config.data, validation_limit=1))
    application = ImageCaptioning()
    application._validator = captioner  # as after the first epoch
    found = application.validate(one, CaptionData(one, vocabulary), captioner.model)
    assert found["cider"] >= 0


# --------------------------------------------------------------------------- the model


@pytest.mark.parametrize(
    ("changes", "attention"),
    [
        ({}, "additive"),
        ({"attention": "none"}, "none"),
        ({"attention": "general"}, "general"),
        ({"encoder": {"kind": "vit", "attention": None}}, "additive"),
        ({"kind": "transformer"}, None),
    ],
)
def test_a_key_chooses_what_sees_and_what_writes(config, data, changes, attention):
    chosen = dict(changes)
    model = model_of(config, data, **chosen)
    found = model.get_config()
    assert found["decoder_options"].get("attention") == attention
    assert found["decoder"] == changes.get("kind", "gru")
    assert found["encoder"] == changes.get("encoder", {}).get("kind", "cnn")
    assert model.grid == ((2, 3) if "encoder" in changes else GRID)
    assert found["vocabulary_size"] == 4 + 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("decoder.attention=multi_head",), "additive, general, dot_product, none"),
        (("encoder.kind=vit",), "Unknown encoder.attention 'squeeze_excitation'"),
        (
            ("decoder.kind=transformer", "decoder.attention=none"),
            "A transformer is made of attention; `attention` none is for a gru.",
        ),
        (("data.name=missing/folder",), "missing/folder"),
        (("data.image_size=64",), "`data.image_size` must be 2 values"),
        (("train.warm_start=small-001",), "Unknown run of image_captioning"),
        (("train.warm_start=speech/x-1",), "Unknown run of speech 'x-1'"),
    ],
)
def test_what_cannot_be_trained_is_one_line(root, settings, capsys, changes, words):
    command = ("train", "--preset", "smoke", *settings, *changes)
    assert words in caption.refused(capsys, *command)
    assert caption.listing(root) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"encoder": {"attention": "softmax"}}, ", ".join(ATTENTIONS)),
        (
            {"encoder": {"kind": "vit", "attention": None, "patch_size": 5}},
            "`patch_size` must divide",
        ),
        (
            {"attention": "none", "doubly_stochastic": 1.0},
            "`doubly_stochastic` is at least 0, and for a GRU with attention",
        ),
        (
            {"kind": "transformer", "doubly_stochastic": 1.0},
            "`doubly_stochastic` is at least 0, and for a GRU with attention",
        ),
    ],
)
def test_what_cannot_be_built_is_told_to_users(config, data, changes, words):
    with pytest.raises(UserError, match=words):
        model_of(config, data, **changes)


# --------------------------------------------------------------------------- warm start


def classifier(config, root, **changes):
    """The saved run of an untrained classifier with the encoder of the smoke preset."""
    run = runs.create(root, "image_classification", "small", CLASSIFIERS["small"])
    names = ("filters", "blocks_per_stage", "stem_strides")
    sizes = {name: getattr(config.encoder, name) for name in names} | changes
    model = models.AttentionCNN(5, (28, 28, 3), attention="squeeze_excitation", **sizes)
    model.save(run.model)
    return model


def test_an_encoder_starts_from_another_run(config, data, root):
    other = classifier(config, root)
    start = "image_classification/small-001"
    config = replace(config, train=replace(config.train, warm_start=start))
    run = runs.create(root, "image_captioning", "smoke", config)
    application = ImageCaptioning()
    application.prepare(config, run)
    runs.find(root, "image_classification", name="small-001").discard()
    model = application.build_model(config, application.load(config, run))
    weights = model.encoder.get_weights()
    expected = other.feature_model().get_weights()
    assert len(weights) == len(expected) > 10
    for own, theirs in zip(weights, expected, strict=True):
        np.testing.assert_array_equal(own, theirs)


def test_another_encoder_is_no_start(config, vocabulary, root):
    classifier(config, root, filters=(5, 7))
    run = runs.find(root, "image_classification", name="small-001")
    data = CaptionData(config, vocabulary, warm_start=run.model)
    words = r"must be made as that of this captioner.*Received: filters=\(5, 7\)"
    with pytest.raises(UserError, match=words):
        ImageCaptioning().build_model(config, data)
