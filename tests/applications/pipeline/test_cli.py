import errno
import io
import os
import shutil
import subprocess
import sys
import time

import pytest

from applications.errors import UserError
from applications.pipeline import cli, files
from applications.pipeline import run as runs
from applications.pipeline.cli import Request, parse
from tests.applications.command_line import assert_holds
from tests.applications.pipeline import toy
from tests.applications.pipeline.toy import PRESETS, Toy


def refused(capsys, *arguments):
    """The one line that a refused command prints."""
    assert toy.main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("error: ")
    return line


def test_parse():
    arguments = "predict --preset plain input=a=b model.units=3 input=c"
    expected = Request("predict", "plain", None, ["a=b", "c"], None, ["model.units=3"])
    assert parse(arguments.split()) == expected


@pytest.mark.parametrize(
    "arguments",
    ["train a.b=1 --preset plain c.d=2", "train --preset=plain a.b=1 c.d=2"],
)
def test_options_stand_anywhere(arguments):
    expected = Request("train", "plain", overrides=["a.b=1", "c.d=2"])
    assert parse(arguments.split()) == expected


def test_every_stage_is_a_function_of_stages():
    from applications.pipeline import stages

    assert all(callable(getattr(stages, stage)) for stage in cli.STAGES)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("trian", "Unknown stage 'trian'. Did you mean 'train'? Valid: train, eval"),
        ("", "Unknown stage ''. Valid: train"),
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'? Valid"),
        ("train --help --preset smal", "Unknown preset 'smal'"),
        ("train --presets small", "unrecognized arguments: --presets small"),
        ("train --preset", "expected one argument"),
        ("train train.epoch=3", "Did you mean 'train.epochs'? Valid: train.seed"),
        ("train train.epochs=x", "`train.epochs` must be an integer"),
        ("train data.batch_size=0", "In `data`: `batch_size` must be above 0"),
        ("train epochs=3", "Unknown setting 'epochs'"),
        ("train epochs", "Expected a setting as key=value"),
        ("train run=small-009", "Unknown run of toy 'small-009'. Valid: none yet"),
        ("train run=x train.epochs=3", "settings it was started with"),
        ("train --preset small run=x", "not both"),
        ("train input=a", "train takes neither input= nor file="),
        ("predict input=a file=b", "not both"),
        ("evaluate", "no trained run of preset 'small'"),
        ("predict input=1,0 --preset plain", "train --preset plain"),
    ],
)
def test_mistakes_are_one_line(root, capsys, arguments, words):
    assert words in refused(capsys, *arguments.split())
    assert os.listdir(root) == []


def test_mistakes_on_a_trained_run(trained, capsys, tmp_path):
    assert "Expected x,y. Received: 'north'" in refused(
        capsys, "predict", "input=north"
    )
    missing = tmp_path / "missing"
    line = refused(capsys, "predict", f"file={missing}")
    assert line == f"error: Cannot read {missing}: No such file or directory."
    (tmp_path / "latin").write_bytes("Käse".encode("latin-1"))
    assert "must be UTF-8" in refused(capsys, "predict", f"file={tmp_path / 'latin'}")
    (tmp_path / "empty").write_text("")
    assert "holds no line" in refused(capsys, "predict", f"file={tmp_path / 'empty'}")
    assert "Unknown setting" in refused(capsys, "evaluate", "data.example=3")


def test_an_answer_may_come_in_pieces(trained, capsys, monkeypatch):
    answers = ["east", iter(["no", "r\nth"]), iter([])]
    monkeypatch.setattr(Toy, "predict", lambda self, *arguments: answers)
    assert toy.main(["predict", "input=1,0"]) == 0
    assert capsys.readouterr().out == "east\nnor\nth\n\n"


def test_a_run_that_came_to_nothing_is_removed(root, capsys, monkeypatch):
    def fail(self, config, run):
        raise UserError("There is no such corpus.")

    monkeypatch.setattr(Toy, "prepare", fail)
    assert refused(capsys, "train") == "error: There is no such corpus."
    assert os.listdir(root / "toy") == []


def test_a_full_disk_leaves_a_run_to_continue_or_none(trained, capsys, monkeypatch):
    def fill(self, config, data, run):
        files.write_text(run.path("x"), "")

    def full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Toy, "train", fill)
    monkeypatch.setattr(type(trained.model), "replace", full)
    saved = os.listdir(trained.directory.parent)
    line = refused(capsys, "train", "run=small-001")
    assert line.endswith(
        "What was saved before is intact; make room and try again. Continue with: "
        "python -m applications.toy train run=small-001"
    )
    monkeypatch.setattr(runs, "create", lambda *args: new(trained))
    assert refused(capsys, "train").endswith("make room and try again.")
    assert os.listdir(trained.directory.parent) == saved


def new(run):
    """Another run, with the config of `run` and nothing else."""
    other = runs.Run(run.directory.with_name("small-002"))
    shutil.copyfile(run.path("config.json"), other.path("config.json"))
    return other


def test_all_stages_one_after_the_other(root, capsys):
    def say(*arguments):
        assert toy.main(list(arguments)) == 0
        return capsys.readouterr().out

    trained = say("train", "train.epochs=2", "model.units=5")
    assert "Epoch 2/2" in trained
    assert "small-001: model in" in trained
    assert "accuracy: " in say("evaluate")
    assert len(say("predict", "input=1,0", "input=-1,1").splitlines()) == 2
    assert "weights.txt" in say("explain", "run=small-001")
    assert "saved_model/1" in say("export")
    run = runs.find(root, "toy", preset="small")
    assert run.config(toy.ToyConfig).model.units == 5
    assert set(run.metrics()) == {"train", "evaluate", "export"}
    assert_holds(run, "names.txt")


def test_inputs_come_from_a_file_or_standard_input(trained, capsys, monkeypatch):
    path = trained.path("inputs")
    path.write_text("1,0\n-1,1\n")
    assert toy.main(["predict", f"file={path}"]) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("-1,1\n1,0\n"))
    assert toy.main(["predict"]) == 0
    assert capsys.readouterr().out.split() == ["east", "north", "north", "east"]


def test_predict_at_a_terminal_without_inputs(trained, capsys, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    assert "input=..., file=PATH" in refused(capsys, "predict")


def test_an_interruption_says_how_to_go_on(root, capsys, monkeypatch):
    def interrupt(self, config, data, run):
        raise KeyboardInterrupt

    monkeypatch.setattr(Toy, "train", interrupt)
    assert toy.main(["train"]) == 130
    assert capsys.readouterr().err.strip() == (
        "Interrupted. Continue with: python -m applications.toy train run=small-001"
    )


def test_an_interruption_elsewhere(trained, capsys, monkeypatch):
    def interrupt(self, config, data, model, run):
        raise KeyboardInterrupt

    monkeypatch.setattr(Toy, "evaluate", interrupt)
    assert toy.main(["evaluate"]) == 130
    assert capsys.readouterr().err.strip() == "Interrupted."


def test_a_fault_of_the_program_keeps_its_traceback(root, monkeypatch):
    def fail(self, config, data):
        raise ZeroDivisionError

    monkeypatch.setattr(Toy, "build_model", fail)
    with pytest.raises(ZeroDivisionError):
        toy.main(["train"])


def test_another_backend_is_refused(root, capsys, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    assert "KERAS_BACKEND=jax" in refused(capsys, "train")


def test_help_names_stages_keys_presets_and_settings(capsys):
    assert toy.main(["train", "--preset", "plain", "-h"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("usage: python -m applications.toy STAGE")
    for word in (*cli.STAGES, *cli.KEYS, *PRESETS, "model.dropout=0.3"):
        assert word in text
    assert "train.optimizer=adam " in text


def run_toy(*arguments, **options):
    command = [sys.executable, "-m", "tests.applications.pipeline.toy", *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, **options
    )


def test_help_is_answered_at_once_without_tensorflow(monkeypatch):
    began = time.monotonic()
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    done = run_toy("--help")
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "applications.pipeline.cli" in imported
    assert not {"tensorflow", "keras", "keras_attention"} & imported
    assert time.monotonic() - began < 5


@pytest.mark.slow
def test_a_stage_prints_only_its_answers(trained):
    done = run_toy("predict", "input=1,0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "east\n", "")


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error(trained):
    command = f"{sys.executable} -m tests.applications.pipeline.toy predict | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        input="1,0\n" * 50,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "east\n"
    assert "Traceback" not in done.stderr
