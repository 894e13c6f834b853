from dataclasses import replace

import numpy as np
import pytest

from applications.language_modeling.objectives import (
    corruption,
    markers,
    sentence_ends,
)
from tests.applications.language_modeling.conftest import SMOKE


def with_objective(objective, **changed):
    return replace(SMOKE, train=replace(SMOKE.train, objective=objective, **changed))


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("causal", (False, 0)),
        ("masked", (True, 0)),
        ("denoising", (True, 0)),
        ("span_corruption", (True, 3)),  # 32 * 0.15 / 3 spans, rounded up, and one
    ],
)
def test_markers(objective, expected):
    assert markers(with_objective(objective)) == expected


def test_shares_are_those_of_the_papers_unless_given(byte_tokens):
    def share(objective, **changed):
        config = with_objective(objective, **changed)
        return corruption(config, byte_tokens(objective)).noise_density

    assert share("span_corruption") == 0.15
    assert share("denoising") == 0.3
    assert share("denoising", corrupted=0.2) == 0.2
    with pytest.raises(ValueError, match="`corrupted` must be in"):
        with_objective("denoising", corrupted=0.0)
    with pytest.raises(ValueError, match=r"at most 0\.5"):
        with_objective("span_corruption", corrupted=0.6)
    assert with_objective("masked", corrupted=0.6).train.share_hidden == 0.6


@pytest.mark.parametrize("share", [0.15, 0.5])
def test_there_are_sentinels_for_all_spans(byte_tokens, share):
    config = with_objective("span_corruption", corrupted=share, mean_span=1.0)
    tokens = type(byte_tokens())(*markers(config))
    ids = np.arange(32) + 50
    found = corruption(config, tokens)(ids, np.array([1, 2]))
    used = np.intersect1d(found["source"], tokens.sentinels)
    assert 0 < len(used) <= len(tokens.sentinels)


def test_sentences_end_with_their_marks(byte_tokens):
    assert sentence_ends(byte_tokens("denoising")) == tuple(4 + ord(x) for x in "!.?")
