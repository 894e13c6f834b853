"""The whole application, as a user meets it."""

import os

import numpy as np
import pytest

from applications.language_modeling import causal_evaluation
from applications.pipeline import run as runs
from tests.applications.command_line import assert_holds, history
from tests.applications.language_modeling.conftest import SMOKE, STAGES, write

NUMBERS = {
    "documents",
    "tokens",
    "bytes",
    "bits_per_byte",
    "perplexity_per_token",
    "tokens_per_second",
    "protocol",
    "baselines",
    "bits_per_byte_above_tokens",
    "bits_per_byte_above_words",
    "parameters",
}


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, capsys):
    printed = write.told(smoke, capsys)
    assert "training tokens in" in printed["train"]
    assert "bits_per_byte: " in printed["evaluate"]
    assert printed["predict"].startswith("Open the file")
    assert "\nClick" in printed["predict"]
    for search in ("greedy", "sample"):
        assert f"{search}: SavedModel alone equals this process" in printed["export"]
    pictures = printed["explain"].splitlines()
    assert len(pictures) == SMOKE.model.num_layers + 1
    assert all(os.path.getsize(picture) > 10_000 for picture in pictures)


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    assert_holds(smoke_run, "vocabulary.model", "bits.npz")
    rows = history(smoke_run)
    assert {"loss", "perplexity", "val_loss", "val_perplexity"} <= set(rows[0])
    assert float(rows[1]["val_loss"]) < float(rows[0]["val_loss"])
    metrics = smoke_run.metrics()["evaluate"][0]["metrics"]
    assert set(metrics) == NUMBERS
    bits = causal_evaluation.kept(smoke_run)
    measured = bits.model.sum() / bits.bytes.sum()
    assert metrics["bits_per_byte"] == pytest.approx(measured)
    # Better than knowing nothing, by which a byte costs 8 bits.
    assert 1 < metrics["bits_per_byte"] < 6
    gap = measured - metrics["baselines"]["5_gram_of_tokens"]["bits_per_byte"]
    assert metrics["bits_per_byte_above_tokens"]["value"] == pytest.approx(gap)
    assert "neither true nor meant" in smoke_run.path("card.md").read_text()


@pytest.mark.slow
def test_the_saved_model_of_the_smoke_run(smoke_run):
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  registers the SentencePiece operations

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    assert set(loaded.signatures) == {"serving_default", "greedy", "sample"}
    texts = ["", "Open the", "Café \N{SMILING FACE WITH OPEN MOUTH} שלום", "x " * 5000]
    together = loaded.signatures["greedy"](text=tf.constant(texts))
    assert np.isfinite(together["log_probability"]).all()
    for row, text in enumerate(texts):
        alone = loaded.signatures["serving_default"](text=tf.constant([text]))
        for name in ("continuation", "text"):
            assert alone[name][0] == together[name][row]
        assert together["text"].numpy()[row].startswith(text.encode())
    sample = loaded.signatures["sample"]
    drawn = [
        sample(text=tf.constant(texts), seed=tf.constant(seed))["continuation"]
        for seed in (1, 1, 2)
    ]
    assert (drawn[0] == drawn[1]).numpy().all()
    assert not (drawn[0] == drawn[2]).numpy().all()


def written(capsys, *settings):
    """What predict says with `decode` as it is set."""
    capsys.readouterr()
    assert write("predict", "run=smoke-001", "input=Open the", *settings) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_a_stage_takes_what_it_may_change(smoke_run, capsys):
    """What predict writes follows `decode`; what does not go is one line."""
    said = written(capsys, "decode.search=greedy", "decode.without=e t")
    assert said.startswith("Open the")
    assert not set("et ") & set(said.removeprefix("Open the"))
    line = write.refused(
        capsys, "predict", "run=smoke-001", "input=a", "decode.max_length=40"
    )
    assert "`decode.max_length` must leave room" in line
    line = write.refused(capsys, "explain", "run=smoke-001", "input= ")
    assert "A blank text has nothing to show" in line
    for setting in ("data.tokens=byte", "train.objective=masked"):
        line = write.refused(capsys, "evaluate", "run=smoke-001", setting)
        assert "belong to a run" in line
    line = write.refused(capsys, "evaluate", "run=smoke-001", "data.length=128")
    assert "has learned 32 positions" in line


@pytest.mark.slow
@pytest.mark.thorough
def test_searches_by_key(smoke_run, capsys):
    greedy = written(capsys, "decode.search=greedy")
    assert written(capsys, "decode.top_k=1") == greedy
    assert written(capsys, "decode.search=beam").startswith("Open the")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objective", "then"),
    [
        ("masked", ("predict",)),
        ("span_corruption", ("evaluate", "explain")),
        *(
            pytest.param(objective, tuple(STAGES)[1:], marks=pytest.mark.thorough)
            for objective in ("masked", "span_corruption", "denoising")
        ),
    ],
)
def test_the_other_objectives(settings, root, capsys, objective, then):
    """In bytes, and each stage of some of them: what differs is the model."""
    chosen = ("data.tokens=byte", f"train.objective={objective}", "train.epochs=1")
    chosen += ("data.rows_per_batch=32",)
    assert write("train", "--preset", "smoke", *settings, *chosen) == 0
    (run,) = runs.all_of(root, "language_modeling")
    if "evaluate" in then:
        assert write("evaluate", "run=smoke-001") == 0
        metrics = run.results()["evaluate"]["metrics"]
        # Of 261 tokens. One epoch may be worse than frequencies.
        assert 1 < metrics["perplexity_per_token"] < 200
        assert 1 < metrics["baselines"]["frequency"]["perplexity_per_token"] < 50
        assert 0 <= metrics["accuracy"] < 1
        if objective != "masked":
            what = "rows" if objective == "denoising" else "spans"
            assert metrics[what] > 10
            assert metrics[f"exact_{what}"] < 0.2
    if "predict" in then:
        capsys.readouterr()
        assert write("predict", "run=smoke-001", "input=Open t[MASK]e file.") == 0
        filled = capsys.readouterr().out
        assert "[MASK]" not in filled
        if objective != "denoising":  # which writes all of it anew
            assert filled.startswith("Open t")
            assert "e file." in filled
        line = write.refused(capsys, "predict", "run=smoke-001", "input=none")
        assert "Expected a text with a gap, written [MASK]" in line
    if "explain" in then:
        capsys.readouterr()
        assert write("explain", "run=smoke-001", "input=Open t[MASK]e file.") == 0
        pictures = capsys.readouterr().out.splitlines()
        assert len(pictures) == (2 if objective == "masked" else 1)
        assert all(os.path.getsize(picture) > 5_000 for picture in pictures)
    if "export" in then:
        assert write("export", "run=smoke-001") == 0
        assert "fill: SavedModel alone equals" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'?"),
        ("train --preset smoke train.objective=gpt", "`train.objective` must be one"),
        ("train --preset smoke model.attention=linformer", "Unknown model.attention"),
        ("train --preset smoke data.name=missing.txt", "missing.txt cannot be read"),
        ("train --preset smoke data.name=jane_austin", "Did you mean 'jane_austen'?"),
        ("train --preset smoke decode.top_p=2", "`top_p` must be at most 1"),
        ("evaluate --preset smoke", "There is no trained run of preset 'smoke'"),
    ],
)
def test_bad_input_is_one_line(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in write.refused(capsys, *arguments.split())
    assert write.listing(root) == []
