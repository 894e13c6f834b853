from applications.pipeline import run as runs
from applications.pipeline import tuning
from applications.translation.presets import PRESETS


def test_what_is_best_is_said_as_a_command(root, capsys):
    run = runs.create(root, "translation", "smoke", PRESETS["smoke"])
    asked = []

    def tune(application, config, given):
        asked.append((application, config, given.name))
        return ["decode.num_beams=2", "decode.length_penalty=1"]

    assert tuning.main("", "translation", PRESETS, dict, tune, [run.name]) == 0
    assert asked == [({}, PRESETS["smoke"], run.name)]
    assert capsys.readouterr().out.splitlines() == [
        "",
        "Best on the validation split: decode.num_beams=2 decode.length_penalty=1. "
        "On the test split:",
        f"python -m applications.translation evaluate run={run.name} "
        "decode.num_beams=2 decode.length_penalty=1",
    ]


def test_one_run_must_be_named(root, capsys):
    def tune(application, config, run):
        raise AssertionError("nothing is tuned")

    for names in ([], ["small-001", "small-002"]):
        assert tuning.main("", "translation", PRESETS, dict, tune, names) == 2
        assert "Name one trained run" in capsys.readouterr().err
