import pytest

from applications.errors import UserError
from applications.language_modeling import export
from applications.language_modeling.tokens import GAP


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
