"""The documentation's own code: what would go missing without a word."""

import importlib.util
import inspect
import sys
from pathlib import Path

import pytest

from keras_attention import layers, masks

DOCS = Path(__file__).parents[1] / "docs"


def hook(name):
    """A build hook as a module; `docs` is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_mask_is_drawn():
    public = {name for name in masks.__all__ if name[0].isupper()}
    bases = {"And", "Blocks", "Mask", "Not", "Or", "Order", "PositionMask", "Window"}
    states = {"EMPTY", "FULL", "PARTIAL"}
    assert set(hook("mask_gallery").DRAWN) == public - bases - states


@pytest.mark.slow
def test_every_layer_with_scores_has_a_picture():
    gallery = hook("gallery")
    for layer in set(layers.registry().values()):
        call = inspect.signature(layer.call).parameters
        if "return_attention_scores" in call:
            row = gallery.ROWS.get(layer.__name__, gallery.Row())
            assert gallery.picture(layer, row), layer.__name__
