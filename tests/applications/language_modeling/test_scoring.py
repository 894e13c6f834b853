import numpy as np
import pytest

from applications.language_modeling import networks
from applications.language_modeling.scoring import token_bits, windows
from tests.applications.language_modeling.conftest import SMOKE
from tests.applications.untrained import restarted


@pytest.mark.parametrize("length", [7, 8])
@pytest.mark.parametrize("tokens", [1, 7, 8, 9, 12, 40])
def test_every_token_is_scored_once_and_late_ones_with_context(length, tokens):
    found = list(windows([tokens, 3], length))
    scored = [
        place
        for window in found
        if window.document == 0
        for place in range(window.start + window.scored, window.stop)
    ]
    assert scored == list(range(tokens))
    for window in found:
        assert window.stop - window.start <= length
        assert window.start == 0 or window.scored >= length // 2


def test_bits_are_those_of_the_model():
    """In one window that of one call, and the same for a document alone."""
    model = restarted(networks.build(SMOKE, 50))
    rng = np.random.default_rng(0)
    documents = [rng.integers(4, 50, size) for size in (30, 75)]
    bits = token_bits(model, documents, length=32, rows_per_batch=3)
    assert [len(found) for found in bits] == [29, 74]
    logits = np.asarray(model(documents[0][None, :-1]))[0].astype("float64")
    logits -= np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    expected = -logits[np.arange(29), documents[0][1:]] / np.log(2)
    np.testing.assert_allclose(bits[0], expected, atol=1e-4)
    (alone,) = token_bits(model, documents[1:], length=32, rows_per_batch=8)
    np.testing.assert_allclose(bits[1], alone, atol=1e-4)
    # The second window begins at 16 and counts from 32 on.
    inside = np.asarray(model(documents[1][None, 16:48]))[0].astype("float64")
    inside -= np.log(np.exp(inside).sum(axis=-1, keepdims=True))
    expected = -inside[16, documents[1][33]] / np.log(2)
    assert bits[1][32] == pytest.approx(expected, abs=1e-4)
