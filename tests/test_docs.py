"""The documentation's own code: what would go missing without a word."""

import ast
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest

from keras_attention import decoding, layers, losses, masks

DOCS = Path(__file__).parents[1] / "docs"
MIGRATION = (DOCS / "migrating-decoding.md").read_text("utf-8")


def hook(name):
    """A build hook as a module; `docs` is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(DOCS))  # as mkdocs does
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DOCS))
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
        is_cell = layer is layers.AttentionCell  # its attention has a page of its own
        if "return_attention_scores" in call and not is_cell:
            row = gallery.ROWS.get(layer.__name__, gallery.Row())
            assert gallery.picture(layer, row), layer.__name__


def test_every_sampler_of_keras_hub_has_its_line():
    samplers = pytest.importorskip("keras_hub").samplers
    kinds = {
        name for name in dir(samplers) if isinstance(getattr(samplers, name), type)
    }
    kinds -= {"Sampler"}
    assert kinds
    assert not [name for name in sorted(kinds) if f"| `{name}(" not in MIGRATION]


def test_calls_in_the_tables_have_arguments_that_exist():
    """The blocks of the page run, see `test_readme`; its tables are read here."""
    rows = [line for line in MIGRATION.splitlines() if line.startswith("|")]
    ours = {
        name: kind
        for module in (decoding, layers, losses)
        for name, kind in vars(module).items()
        if isinstance(kind, type)
    }
    seen = set()
    for code in re.findall(r"`(\w+\([^`]*\))`", "\n".join(rows)):
        call = ast.parse(code, mode="eval").body
        if kind := ours.get(call.func.id):
            bases = [vars(base).get("__init__") for base in kind.__mro__]
            known = {
                x for init in bases if init for x in inspect.signature(init).parameters
            }
            assert {keyword.arg for keyword in call.keywords} <= known, code
            seen.add(call.func.id)
    assert {"GreedySearch", "SamplingSearch", "BeamSearch", "AttentionCell"} <= seen
