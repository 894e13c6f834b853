import numpy as np
import pytest
import tensorflow as tf

from applications.classification import answers
from applications.errors import UserError
from keras_attention import export as exporting

NAMES = ("bad", "good", "neither")
LOGITS = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]], "float32")
PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)


def test_the_graph_and_the_words():
    found = tf.function(lambda x: answers.answer(x, NAMES))(tf.constant(LOGITS))
    assert [label.decode() for label in found["label"].numpy()] == ["good", "bad"]
    np.testing.assert_allclose(found["probabilities"], PROBABILITIES, rtol=1e-5)
    np.testing.assert_allclose(found["probability"], PROBABILITIES.max(1), rtol=1e-5)
    assert answers.said(PROBABILITIES, NAMES) == ["good 0.67", "bad 0.91"]


@pytest.mark.parametrize(
    ("labels", "shift", "words"),
    [
        (["good", "bad"], 0.0, None),
        (["good", "good"], 0.0, "differ by up to .*, 1 of 2 labels"),
        (["good", "bad"], 0.01, "differ by up to 1.0e-02, 0 of 2 labels"),
        (["good", "bad"], float("nan"), "differ by up to nan"),
    ],
)
def test_answers_alone_are_compared(
    tmp_path, monkeypatch, capsys, labels, shift, words
):
    largest = (PROBABILITIES.max(axis=1) + shift).tolist()

    def ask(directory, batches, endpoints):
        rows = zip(labels, largest, strict=True)
        return {"classify": [{"label": [a], "probability": [b]} for a, b in rows]}

    monkeypatch.setattr(exporting, "ask_alone", ask)
    inputs = (tmp_path, [["x"], ["y"]], ["good", "bad"], PROBABILITIES, "texts")
    if words is None:
        answers.check_alone(*inputs)
        assert "equals this process on 2 texts" in capsys.readouterr().out
    else:
        with pytest.raises(UserError, match=words):
            answers.check_alone(*inputs)
