from dataclasses import replace

import keras
import numpy as np
import pytest

from benchmarks import contenders
from benchmarks.cases import ADDITIVE, CORE, MULTI_HEAD, TRANSFORMER, Case
from tests.backend import thorough_but

SHAPE = (2, 16, 3, 8)


def results(contender, case):
    """What one step computes, from the same random inputs for every contender."""
    keras.utils.set_random_seed(0)
    found = contenders.step(contender, case)()
    return [np.asarray(x) for x in (found if case.training else [found])]


@pytest.mark.parametrize("contender", ["ours", "dense", "blockwise"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_core_computes_what_keras_does(contender, causal, training):
    case = Case("a", CORE, SHAPE, training=training, causal=causal)
    pairs = zip(results(contender, case), results("keras", case), strict=True)
    for ours, peer in pairs:
        np.testing.assert_allclose(ours, peer, atol=1e-5)


@pytest.mark.parametrize("contender", ["ours", "keras"])
def test_multi_head_step_differentiates_input_and_weights(contender):
    case = Case("a", MULTI_HEAD, SHAPE)
    shapes = [x.shape for x in results(contender, case)]
    assert shapes[0] == (2, 16, 24)
    assert len(shapes) == 1 + 8  # kernel and bias of four projections


@pytest.mark.parametrize(("contender", "weights"), [("ours", 3), ("keras", 1)])
def test_additive_step_differentiates_inputs_and_weights(contender, weights):
    case = Case("a", ADDITIVE, SHAPE, causal=False)
    shapes = [x.shape for x in results(contender, case)]
    assert shapes[:3] == [(2, 16, 24)] * 3
    assert len(shapes) == 3 + weights


@pytest.mark.parametrize("dtype", thorough_but(["float32"], ["float32", "bfloat16"]))
def test_a_training_step_changes_every_weight(dtype, monkeypatch):
    models = []
    build = contenders._transformer
    monkeypatch.setattr(
        contenders,
        "_transformer",
        lambda *sizes: models.append(build(*sizes)) or models[0],
    )
    try:
        step = contenders.step(
            "ours", Case("a", TRANSFORMER, (2, 5, 2, 8), dtype=dtype)
        )
        before = models[0].get_weights()
        step()
    finally:
        keras.config.set_dtype_policy("float32")
    assert models[0].compute_dtype == "float32" or dtype == "bfloat16"
    changed = [
        np.abs(old - variable.numpy()).max() > 0
        for old, variable in zip(before, models[0].weights, strict=True)
        if variable.trainable
    ]
    # A bias of keys moves every logit of a row alike: its gradient is 0.
    assert sum(changed) >= len(changed) - 9


@pytest.mark.parametrize("training", [False, True])
def test_products_are_finite_at_every_plan(training):
    case = Case("a", CORE, (2, 300, 3, 8), training=training)
    for window in (None, 16):
        step = contenders.step("products", replace(case, window=window))
        assert abs(float(step())) < 1e-20
