import numpy as np

from applications.text.alignment import Alignment
from applications.translation import alignment as module
from applications.translation.alignment import copy_alignment_of


def test_copied_words_are_counted_over_all_heads(translator, monkeypatch):
    pieces = ["▁Use", "▁42", "▁with", "▁Calc", "</s>"]
    exact = np.eye(5)[None].repeat(2, axis=0)
    shifted = np.roll(exact, 1, axis=-1)
    monkeypatch.setattr(
        module,
        "alignments",
        lambda *_: [
            Alignment(pieces, pieces, {"one": shifted, "two": exact}),
        ],
    )
    measured = copy_alignment_of(translator, ["Use 42 with Calc"])
    assert measured["words"] > 0
    assert (measured["best"], measured["best_head"]) == (1.0, 2)
    assert len(measured["heads"]) == 4
    assert measured["some_chance"] > measured["best_chance"] > 0
