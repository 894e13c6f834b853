import pytest

from applications.datasets.libreoffice_help import corpus
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
    monkeypatch.setattr(tune, "PENALTIES", (0.0, 1.0))
    before = smoke_run.metrics()
    assert tune.main([smoke_run.name]) == 0
    first, zero, one, blank, best, command = capsys.readouterr().out.splitlines()
    assert first == "8 validation sentences, beam 2"
    assert zero == "length penalty 0: BLEU 0.00, 0.0 words"
    assert one.startswith("length penalty 1: BLEU 100.00")
    assert blank == ""
    assert best.startswith("Best on the validation split: 1.")
    assert f"evaluate run={smoke_run.name} decode.length_penalty=1" in command
    assert smoke_run.metrics() == before


@pytest.mark.parametrize(
    ("names", "complaint"),
    [([], "Name one trained run"), (["none-001"], "none-001")],
)
def test_mistakes_are_one_line(names, complaint, root, capsys):
    assert tune.main(names) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert complaint in error
    assert len(error.splitlines()) == 1


def test_help_says_what_it_does(capsys):
    assert tune.main(["--help"]) == 0
    assert "the test set is not looked at" in capsys.readouterr().out
