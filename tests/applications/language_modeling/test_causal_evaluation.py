from dataclasses import replace

import numpy as np
import pytest

from applications.language_modeling import causal_evaluation, networks
from applications.language_modeling.causal_evaluation import Bits
from applications.pipeline import run as runs
from tests.applications.language_modeling.conftest import SMOKE


def test_bits_per_byte_and_perplexity():
    bits, sizes = np.array([6.0, 2.0]), np.array([3, 1])
    assert causal_evaluation.bits_per_byte(bits, sizes) == 2.0
    assert causal_evaluation.perplexity(bits, 4) == 4.0


def test_the_difference_is_that_of_all_documents():
    bits = Bits(np.array([10, 30]), np.array([20.0, 45.0]))
    gap = causal_evaluation.difference(bits, np.array([25.0, 70.0]))
    assert gap.value == pytest.approx(65 / 40 - 95 / 40)
    assert gap.low == pytest.approx(-25 / 30)
    assert gap.high == -0.5


def test_one_document_has_no_interval():
    bits = Bits(np.array([10]), np.array([20.0]))
    gap = causal_evaluation.difference(bits, np.array([25.0]))
    assert gap.value == -0.5
    assert np.isnan([gap.low, gap.high]).all()


def test_bits_are_kept(root):
    run = runs.create(root, "language_modeling", "smoke", SMOKE)
    bits = Bits(np.array([3, 1]), np.array([6.0, 2.0]))
    causal_evaluation.keep(run, bits)
    found = causal_evaluation.kept(run)
    assert found.words is None
    np.testing.assert_array_equal(found.model, bits.model)


def test_without_n_grams_there_is_the_model_alone(byte_data, root):
    data = byte_data()
    data.config = replace(data.config, baseline=replace(SMOKE.baseline, order=0))
    run = runs.create(root, "language_modeling", "smoke", data.config)
    model = networks.build(data.config, data.tokens.vocabulary_size)
    found = causal_evaluation.evaluate(data, data, model, run)
    assert "baselines" not in found
    assert found["bytes"] == sum(len(text.encode()) for text in data.texts("test"))
    # Bytes, and the end: an untrained model knows about as much as chance.
    assert found["tokens"] == found["bytes"] + found["documents"]
    assert found["bits_per_byte"] == pytest.approx(np.log2(260), rel=0.2)
    assert causal_evaluation.kept(run).ngrams is None
