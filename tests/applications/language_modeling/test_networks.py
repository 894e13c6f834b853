from dataclasses import replace

import numpy as np
import pytest

from applications.errors import UserError
from applications.language_modeling import networks
from keras_attention import masks, models
from tests.applications.language_modeling.conftest import SMOKE


def changed(objective="causal", **model):
    return replace(
        SMOKE,
        train=replace(SMOKE.train, objective=objective),
        model=replace(SMOKE.model, **model),
    )


@pytest.mark.parametrize(
    ("objective", "kind"),
    [
        ("causal", models.CausalLM),
        ("masked", models.MaskedLM),
        ("span_corruption", models.TransformerSeq2Seq),
        ("denoising", models.TransformerSeq2Seq),
    ],
)
def test_an_objective_has_its_model(objective, kind):
    assert type(networks.build(changed(objective), 300)) is kind


@pytest.mark.parametrize("name", networks.attentions("causal"))
def test_every_attention_that_is_listed_makes_a_causal_model(name):
    model = networks.build(changed(attention=name, window=8), 50)
    ids = np.full((1, 12), 7)
    later = np.where(np.arange(12) > 5, 9, ids)
    before, after = (np.asarray(model(x))[:, :6] for x in (ids, later))
    np.testing.assert_allclose(before, after, atol=1e-5)


@pytest.mark.parametrize("name", networks.PATTERNS)
def test_patterns_are_masks(name):
    options = networks.attention_options(changed(pattern=name, window=8).model, 32)
    assert isinstance(options["mask"], networks.PATTERNS[name])
    assert networks.attention_options(SMOKE.model, 32) is None
    local = networks.build(changed(pattern="local", window=4), 50)
    mask = local.get_config()["attention_options"]["mask"]
    assert isinstance(mask, (masks.Local, dict))


def test_linformer_is_for_masked_models_only():
    model = networks.build(changed("masked", attention="linformer", window=4), 50)
    inputs = {"tokens": np.ones((1, 9), int), "positions": np.array([[2]])}
    assert tuple(model(inputs).shape) == (1, 1, 50)
    with pytest.raises(UserError, match=r"Unknown model.attention 'linformer'"):
        networks.build(changed(attention="linformer"), 50)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (changed(attention="linear", pattern="local"), "linear takes no pattern"),
        (changed("denoising", pattern="local"), "must be full"),
        (changed(attention="linear", positions="rotary"), "rotary"),
    ],
)
def test_what_does_not_go_together_is_refused(config, words):
    with pytest.raises(UserError, match=words):
        networks.build(config, 50)
