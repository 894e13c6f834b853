from dataclasses import replace
from typing import get_args

import pytest

from applications.errors import UserError
from applications.recommendation import networks
from applications.recommendation.presets import Kind
from tests.applications.recommendation.conftest import ITEMS


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_is_built(of_kind, kind):
    model = networks.build(of_kind(kind), ITEMS)
    assert model.built
    assert model.kind == kind
    assert model.num_items == ITEMS
    assert networks.build(of_kind(kind, "sampled"), ITEMS).built


@pytest.mark.parametrize(
    ("kind", "asked", "name"),
    [
        ("sasrec", "full", "MaskedCrossentropy"),
        ("sasrec", "sampled", "SampledCrossentropy"),
        ("din", "full", "SampledCrossentropy"),
    ],
)
def test_the_loss_is_that_of_the_batches(of_kind, kind, asked, name):
    assert type(networks.loss(of_kind(kind, asked))).__name__ == name


@pytest.mark.parametrize(
    ("kind", "attention", "words"),
    [
        ("sasrec", "linformer", "Unknown model.attention 'linformer'"),
        ("bert4rec", "multihead", "Did you mean 'multi_head'?"),
        ("din", "none", "Unknown model.attention 'none'"),
    ],
)
def test_an_attention_that_cannot_serve_is_refused(of_kind, kind, attention, words):
    config = of_kind(kind)
    config = replace(config, model=replace(config.model, attention=attention))
    with pytest.raises(UserError) as error:
        networks.build(config, ITEMS)
    assert words in str(error.value)
