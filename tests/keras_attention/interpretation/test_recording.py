"""Recording of calls that `capture` does not make, and reading a record."""

import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from keras_attention.interpretation import Record, recording
from tests.backend import tensor, tensorflow_only, to_numpy

B, T, D, N, H = 2, 5, 6, 3, 4


@pytest.mark.slow  # under JAX, which compiles every operation
def test_recording_of_methods_and_calls_with_the_flag():
    from keras_attention.models import TransformerSeq2Seq

    model = TransformerSeq2Seq(
        vocabulary_size=11, num_layers=1, num_heads=2, hidden_dim=8, intermediate_dim=4
    )
    source, target = np.array([[5, 6, 2, 0]]), np.array([[1, 5, 6]])
    with recording(model) as record:
        scores = model.cross_attention_scores(source, target)
    assert record.output is None
    np.testing.assert_array_equal(record.numpy("cross_attention"), to_numpy(scores))
    with recording(model) as record:
        state = model.initial_state(ops.convert_to_tensor(source), 3)
        for tokens in target.T:
            _, state = model.step(ops.convert_to_tensor(tokens), state)
    steps = [name for name in record if "decoder_0/cross_attention" in name]
    assert len(steps) == 3
    stepwise = np.concatenate([record.numpy(name) for name in steps], axis=2)
    np.testing.assert_allclose(stepwise, to_numpy(scores), atol=1e-5)


@tensorflow_only
def test_recording_inside_a_trace_gives_symbolic_scores():
    import tensorflow as tf

    layer = layers.MultiHeadAttention(N, H, name="look")
    layer.build((None, None, D), (None, None, D))

    @tf.function(input_signature=[tf.TensorSpec((None, None, D))])
    def answer(x):
        with recording(layer) as record:
            output = layer(x, x)
        return {"output": output, "scores": record["look"]}

    x = tensor(B, T, D)
    expected, scores = layer(x, x, return_attention_scores=True)
    answers = answer(x)
    np.testing.assert_allclose(answers["output"], expected, atol=1e-6)
    np.testing.assert_allclose(answers["scores"], scores, atol=1e-6)
    assert "call" not in vars(layer)


# --------------------------------------------------------------------------- the record


@pytest.fixture
def record():
    record = Record()
    for value, path in enumerate(["a/look", "b/look", "b/see", "b/see"]):
        record.add(path, ops.full((1, 2), value))
    return record


@pytest.mark.parametrize(
    ("key", "value"),
    [(0, 0), (-1, 3), (-4, 0), ("a/look", 0), ("see", 2), ("b/see", 2), ("see#2", 3)],
)
def test_record_is_read_by_position_path_or_end_of_a_path(record, key, value):
    assert record.numpy(key).dtype == np.float32
    np.testing.assert_array_equal(record.numpy(key), [[value, value]])
    np.testing.assert_array_equal(to_numpy(record[key]), [[value, value]])


@pytest.mark.parametrize("key", [4, -5, "look", "ook", "nowhere"])
def test_record_refuses_what_fits_no_path_or_several(record, key):
    with pytest.raises(ValueError, match=r"exactly one of \['a/look', 'b/look'"):
        record[key]


def test_record_shows_paths_and_shapes(record):
    lines = repr(record).splitlines()
    assert lines[:2] == ["Record of 4 attention scores", "  a/look: (1, 2)"]


def test_record_converts_half_precision():
    record = Record()
    record.add("look", ops.ones((1, 2), dtype="bfloat16"))
    assert record.numpy("look").dtype == np.float32
