import pytest

from applications.datasets.libreoffice_help import corpus
from applications.text import tuning
from applications.translation import tune
from applications.translation.translator import Translator


@pytest.mark.slow
def test_a_line_for_each_penalty_and_how_to_go_on(smoke_run, monkeypatch, capsys):
    known = {pair.source: pair.target for pair in corpus.read()}

    def answers(translator, sources):
        """The references with one penalty, nothing with the other."""
        right = translator.searches["beam"].length_penalty == 1.0
        return [known[source] if right else "" for source in sources]

    monkeypatch.setattr(Translator, "__call__", answers)
    monkeypatch.setattr(tuning, "PENALTIES", (0.0, 1.0))
    before = smoke_run.metrics()
    assert tune.main([smoke_run.name]) == 0
    first, zero, one, blank, best, command = capsys.readouterr().out.splitlines()
    assert first == "8 validation texts, beam 2"
    assert zero == "length penalty 0: bleu 0, 0.0 words"
    assert one.startswith("length penalty 1: bleu 100, ")
    assert blank == ""
    assert best.startswith("Best on the validation split: decode.length_penalty=1.")
    assert f"evaluate run={smoke_run.name} decode.length_penalty=1" in command
    assert smoke_run.metrics() == before


def test_help_says_what_it_does(capsys):
    assert tune.main(["--help"]) == 0
    assert "the test set is not looked at" in capsys.readouterr().out
