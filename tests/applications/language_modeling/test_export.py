import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.language_modeling import export
from applications.language_modeling.tokens import GAP
from tests.applications.language_modeling.conftest import SMOKE

# Blank, without a gap, longer than is read, of several scripts.
TEXTS = ["", "none", f"Open t{GAP}e " * 30, f"Caf{GAP}\N{HOT BEVERAGE} שלום{GAP}"]


def test_an_exported_filler_takes_any_text(masked, tmp_path):
    export.export_filler(masked, tmp_path / "saved")
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    assert set(loaded.signatures) == {"serving_default", "fill"}
    answer = loaded.signatures["fill"](text=tf.constant(TEXTS))
    found = [text.decode() for text in answer["text"].numpy()]
    assert found == masked(TEXTS)
    assert found[:2] == ["", "none"]
    assert 0 < len(found[2]) <= SMOKE.data.length
    assert not any(GAP in text for text in found)
    assert found[3].startswith("Caf")
    assert "\N{HOT BEVERAGE} שלום" in found[3]
    chances = answer["probability"].numpy()
    assert chances[0] == chances[1] == 1
    assert (chances[2:] > 0).all()
    assert (chances[2:] < 1).all()


def test_other_answers_are_refused(capsys):
    export._require_same("greedy", ["a", "b"], ["a", "b"])
    assert "greedy: SavedModel alone equals" in capsys.readouterr().out
    with pytest.raises(UserError, match=r"answers 1 of 2 texts .* 'c' instead of 'b'"):
        export._require_same("greedy", ["a", "c"], ["a", "b"])


def test_a_word_in_six_is_a_gap():
    words = export._gapped("w " * 100).split()
    assert len(words) == 48
    assert words.count(GAP) == 8
    assert export._gapped("") == ""


def test_batches_are_of_several_sizes():
    batches = export._batches([str(i) for i in range(13)])
    assert [len(batch) for batch in batches] == [1, 3, 10, 3]
