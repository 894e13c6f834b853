from applications.speech_recognition import compare
from tests.applications.speech_recognition.evaluated_runs import (
    REFERENCES,
    cells,
    evaluated,
)


def test_runs_make_the_table(root, capsys):
    names = [
        evaluated(root, 4).name,
        evaluated(root, 10, ["model.objective=ctc"]).name,
        evaluated(root, 4, ["model.objective=attention", "model.decoder=gru"]).name,
    ]
    assert compare.main(names) == 0
    head, _, first, second, third, empty, usual = capsys.readouterr().out.splitlines()
    assert head.endswith("| CER, difference to compare-001, points |")
    found = cells(first)
    assert found[:3] == [
        "conformer, CTC and transformer (compare-001)",
        "1,234",
        "1.5",
    ]
    assert found[3].startswith("20.0 [")
    assert found[4].startswith("20.0 [")
    assert found[5:] == ["50.0", "0.80", "0.25", "-"]
    found = cells(second)
    assert found[0] == "conformer, CTC (compare-002)"
    assert found[-1].startswith("+30.0 [+")
    assert cells(third)[0] == "conformer, gru (compare-003)"
    assert cells(third)[-1] == "+0.0 [+0.0, +0.0]"
    found = cells(empty)
    assert found[:7] == ["empty output", "-", "-", "100.0", "100.0", "-", "-"]
    assert found[-1].startswith("+80.0 [+")
    found = cells(usual)
    assert found[:5] == ["most frequent text", "-", "-", "20.0", "33.3"]


def test_a_model_without_a_decoder_has_no_heads():
    assert compare._best_head({"diagonality": {"CTC": 0.9, "even": 0.5}}) is None
    assert compare._best_head({}) is None


def test_other_clips_are_refused(root, capsys):
    names = [
        evaluated(root, 4).name,
        evaluated(root, 4, references=REFERENCES[:9]).name,
    ]
    assert compare.main(names) == 2
    assert "compare-002 was evaluated on other clips" in capsys.readouterr().err


def test_a_run_without_its_texts_is_refused(root, capsys):
    runs = [evaluated(root, 4), evaluated(root, 4)]
    runs[1].path("transcripts.tsv").unlink()
    assert compare.main([run.name for run in runs]) == 2
    assert "compare-002 has no transcripts.tsv" in capsys.readouterr().err
