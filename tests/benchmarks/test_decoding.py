from dataclasses import replace

import numpy as np
import pytest

from benchmarks import contenders
from benchmarks.cases import DECODING, VOCABULARY, Case

CASE = Case("a", DECODING, (2, 5, 2, 8), training=False)


@pytest.mark.parametrize("beams", [1, 3])
def test_all_tokens_are_written(beams):
    tokens = contenders.step("ours", replace(CASE, num_beams=beams))()
    assert tokens.shape == (2, 1, 5)
    assert ((tokens >= 0) & (tokens < VOCABULARY)).all()


def test_uncached_reads_as_many_tokens():
    assert contenders.step("uncached", CASE)().shape == (2, 6)


@pytest.mark.thorough
@pytest.mark.parametrize("beams", [1, 3])
def test_keras_hub_writes_as_many(beams):
    found = contenders.step("keras_hub", replace(CASE, num_beams=beams))()
    tokens = np.asarray(found["decoder_token_ids"])
    assert tokens.shape == (2, 6)
    assert found["decoder_padding_mask"].all()
