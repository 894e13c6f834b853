import numpy as np
import pytest
from keras import ops

from applications.classification.objective import objective
from applications.pipeline.train_config import CrossentropyTrainConfig


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_logits_against_shares(smoothing):
    logits = np.array([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0]], "float32")
    shares = np.array([[0.7, 0.3, 0.0], [0.0, 0.0, 1.0]], "float32")  # one is mixed
    found = objective(CrossentropyTrainConfig(label_smoothing=smoothing))
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    target = (1 - smoothing) * shares + smoothing / 3
    expected = -(target * logs).sum(axis=1).mean()
    assert float(found["loss"](shares, logits)) == pytest.approx(expected, rel=1e-5)
    (accuracy,) = found["metrics"]
    accuracy.update_state(ops.array(shares), ops.array(logits))
    assert accuracy.name == "accuracy"  # what early stopping follows
    assert float(accuracy.result()) == 0.5
