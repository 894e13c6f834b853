"""C69: a fresh process without user code reloads every layer and model as it was."""

import subprocess
import sys
from collections.abc import Iterator

import keras
import numpy as np
import pytest

from keras_attention import blocks, models
from tests.backend import tensor, to_numpy
from tests.catalogue import ROWS
from tests.contract import everything
from tests.recurrent import Recurrent

# Keras imports no package that a file names: the library must be there, nothing else.
_RELOAD = """
import sys
from pathlib import Path

import keras
import keras_attention
import numpy as np

for path in Path(sys.argv[1]).glob("*.keras"):
    model = keras.saving.load_model(path)
    found = model(dict(np.load(path.with_suffix(".inputs.npz"))))
    found = [keras.ops.cast(x, "float32") for x in keras.tree.flatten(found)]
    found = [keras.ops.convert_to_numpy(x) for x in found]
    np.savez(path.with_suffix(".outputs.npz"), *found)
    path.with_suffix(".json").write_text(model.to_json())
"""


def _saved() -> Iterator[tuple[str, keras.Model, dict[str, np.ndarray]]]:
    """Name, model and inputs of all that is saved."""
    for row in ROWS:
        yield row.name, *_around(row, row.built())
        if row.configured and row.layer != "attention_cell":
            yield f"{row.name}_configured", *_around(row, row.configured())
    for block, arguments in _blocks():
        yield block.name, *_model(block, *arguments)
    ids = np.array([[5, 6, 7, 2], [8, 9, 2, 0]])
    inputs = {"source": ids, "target": ids[:, :3]}
    yield "transformer", models.TransformerSeq2Seq(**_TRANSFORMER), inputs
    yield "causal_lm", *_model(models.CausalLM(**_TRANSFORMER), ids)
    places = {"tokens": ids, "positions": ids % 3}
    yield "masked_lm", models.MaskedLM(**_TRANSFORMER), places
    images = np.arange(2 * 8 * 12 * 3).reshape(2, 8, 12, 3) % 256
    for position in ("learned", "rotary_2d"):
        model = models.VisionTransformer(**_VISION, positions=position)
        yield f"vision_{position}", *_model(model, images.astype("uint8"))
    yield "attention_cnn", *_model(models.AttentionCNN(**_CNN), images)
    inputs_of_captioner = {"image": images.astype("uint8"), "target": ids}
    for name, options in _CAPTIONERS.items():
        model = models.ImageCaptioner(11, (8, 12, 3), 8, dropout=0.1, **options)
        yield f"captioner_{name}", model, inputs_of_captioner
    frames = to_numpy(tensor(2, 9, 6))
    clips = {"frames": frames, "padding_mask": np.ones((2, 9), bool), "target": ids}
    for name, options in _RECOGNIZERS.items():
        model = models.SpeechRecognizer(11, 6, **_RECOGNIZER, **options)
        yield f"recognizer_{name}", model, clips
    # `AttentionCell` as its user has it: inside another layer's loop.
    for attention, order in (("additive", "luong"), ("general", "bahdanau")):
        model = models.RecurrentSeq2Seq(11, 8, attention, order, 0.1, name="mine")
        yield f"recurrent_{attention}", model, inputs


_BLOCK = {
    "num_heads": 2,
    "intermediate_dim": 16,
    "dropout": 0.1,
    "attention_dropout": 0.2,
    "activation": "gelu",
    "normalize_first": False,
    "attention": "multi_head",
    "attention_options": {"use_gate": True, "num_key_value_heads": 1},
}
_TRANSFORMER = {
    **_BLOCK,
    "vocabulary_size": 11,
    "num_layers": 2,
    "hidden_dim": 8,
    "positions": "learned",
    "max_sequence_length": 9,
    "name": "mine",
}
_VISION = {
    "num_classes": 7,
    "input_shape": (8, 12, 3),
    "patch_size": (4, 2),
    "num_layers": 2,
    "num_heads": 2,
    "hidden_dim": 8,
    "intermediate_dim": 16,
    "pooling": "attention",
    "dropout": 0.1,
    "attention_dropout": 0.2,
    "drop_path": 0.3,
    "activation": "relu",
    "attention_options": {"use_gate": True, "num_key_value_heads": 1},
    "name": "mine",
}

_CNN = {
    "num_classes": 5,
    "input_shape": (None, None, 3),
    "filters": (8, 16),
    "blocks_per_stage": (2, 1),
    "stem_strides": 1,
    "attention": "cbam",
    "attention_options": {"ratio": 2},
    "dropout": 0.1,
    "name": "mine",
}

_CAPTIONERS = {
    "gru": {
        "encoder_options": {"filters": (4, 8), "attention": "cbam"},
        "decoder_options": {"attention": "general", "order": "luong"},
        "doubly_stochastic": 0.1,
    },
    "transformer": {
        "encoder": "vit",
        "encoder_options": {
            "patch_size": (4, 2),
            "num_layers": 1,
            "num_heads": 2,
            "hidden_dim": 16,
            "intermediate_dim": 8,
            "positions": "rotary_2d",
        },
        "decoder": "transformer",
        "decoder_options": {"num_layers": 2, **_BLOCK},
        "positions": "learned",
    },
}

_RECOGNIZER = {
    "hidden_dim": 8,
    "num_layers": 2,
    "num_heads": 2,
    "intermediate_dim": 16,
    "filters": 2,
    "dropout": 0.1,
    "name": "mine",
}
_RECOGNIZERS = {
    "conformer": {
        "encoder_options": {"kernel_size": 3, "convolution_norm": "layer"},
        "decoder_options": {"num_layers": 2, **_BLOCK},
    },
    "gru": {
        "encoder": "transformer",
        "encoder_options": _BLOCK,
        "decoder": "gru",
        "decoder_options": {"attention": "general", "order": "luong"},
        "objective": "attention",
    },
}


def _blocks() -> Iterator[tuple[keras.layers.Layer, list]]:
    """Blocks with no argument at its default, and what they are called with."""
    x, memory, summary = tensor(2, 5, 8), tensor(2, 7, 6), tensor(2, 3)
    ids = np.array([[3, 4, 9], [5, 0, 0]], "int32")
    shared = {"activity_regularizer": "l2", "dtype": "mixed_bfloat16"}
    block = {**_BLOCK, **shared, "layer_norm_epsilon": 1e-3, "drop_path": 0.3}
    yield blocks.FeedForward(16, "gelu", 0.1, name="feed", **shared), [x]
    yield blocks.ClassToken("he_normal", name="token", **shared), [x]
    yield blocks.TransformerEncoder(**block, name="encoder"), [x]
    yield blocks.TransformerDecoder(**block, name="decoder"), [x, memory]
    pre_norm = {**block, "normalize_first": True}
    conformer = blocks.ConformerEncoder(
        **pre_norm, kernel_size=3, convolution_norm="layer", name="conformer"
    )
    yield conformer, [x]
    convolution = blocks.ConvolutionModule(
        3, "layer", "relu", name="convolution", **shared
    )
    yield convolution, [x]
    subsampling = blocks.ConvolutionalSubsampling(6, 2, name="places", **shared)
    yield subsampling, [x]
    embedding = blocks.TokenAndPositionEmbedding(
        11, 8, "learned", 9, 0.1, name="embedding", **shared
    )
    yield embedding, [ids]
    recurrent = blocks.RecurrentDecoder(8, "general", "luong", name="gru", **shared)
    yield recurrent, [x, memory, summary]


def _around(row, layer) -> tuple[keras.Model, dict[str, np.ndarray]]:
    return _model(layer, *row.tensors(), **everything(row))


def _model(layer, *tensors, **flags) -> tuple[keras.Model, dict[str, np.ndarray]]:
    given = {f"input_{i}": to_numpy(x) for i, x in enumerate(tensors)}
    symbolic = {
        name: keras.Input(x.shape[1:], name=name, dtype=str(x.dtype))
        for name, x in given.items()
    }
    return keras.Model(symbolic, layer(*symbolic.values(), **flags)), given


@pytest.mark.slow
def test_c69_a_fresh_process_reloads_everything(tmp_path):
    expected = {}
    for name, model, inputs in _saved():
        if any(isinstance(layer, Recurrent) for layer in model.layers):
            continue  # a layer of the tests, and so user code
        model.save(tmp_path / f"{name}.keras")
        np.savez(tmp_path / f"{name}.inputs.npz", **inputs)
        expected[name] = model.to_json(), keras.tree.flatten(model(inputs))
    command = [sys.executable, "-c", _RELOAD, str(tmp_path)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    for name, (config, outputs) in expected.items():
        assert (tmp_path / f"{name}.json").read_text() == config, name
        found = np.load(tmp_path / f"{name}.outputs.npz")
        for x, y in zip(outputs, found.values(), strict=True):
            np.testing.assert_allclose(to_numpy(x), y, rtol=0, atol=1e-6, err_msg=name)
