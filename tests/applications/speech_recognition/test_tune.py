import pytest

from applications.speech_recognition import tune
from applications.speech_recognition.recognizer import Recognizer
from tests.applications.speech_recognition.conftest import COUNTS
from tests.applications.speech_recognition.evaluated_runs import evaluated


@pytest.mark.slow
def test_the_best_share_of_ctc_then_the_best_penalty(
    smoke_run, make_data, monkeypatch, capsys
):
    references = make_data().clips("validation").texts

    def texts(recognizer, clips):
        """What is right with some settings, and nothing with the others."""
        settings = recognizer.settings
        right = settings.ctc_weight == 0.5 and settings.length_penalty < 1
        return references if right else [""] * len(clips)

    monkeypatch.setattr(Recognizer, "__call__", texts)
    before = smoke_run.metrics()
    assert tune.main([smoke_run.name]) == 0
    first, *tried, blank, best, command = capsys.readouterr().out.splitlines()
    assert first == f"{COUNTS['validation']} validation clips, beam 2"
    assert [line.partition(": ")[2] for line in tried] == [
        *["cer 1.000, wer 1.000"] * 2,
        "cer 0.000, wer 0.000",
        *["cer 1.000, wer 1.000"] * 2,
        *["cer 0.000, wer 0.000"] * 2,
        "cer 1.000, wer 1.000",
    ]
    assert tried[2].startswith("search.ctc_weight=0.5: ")
    assert tried[5].startswith("search.length_penalty=0: ")
    assert blank == ""
    chosen = "search.ctc_weight=0.5 search.length_penalty=0"
    assert best.startswith(f"Best on the validation split: {chosen}.")
    assert command.endswith(f"evaluate run={smoke_run.name} {chosen}")
    assert smoke_run.metrics() == before


def test_without_a_decoder_there_is_nothing_to_tune(root, capsys):
    run = evaluated(root, 4, ["model.objective=ctc"])
    assert tune.main([run.name]) == 2
    assert f"{run.name} has no decoder" in capsys.readouterr().err


def test_help_says_what_it_does(capsys):
    assert tune.main(["--help"]) == 0
    assert "The test split is not looked at" in capsys.readouterr().out
