"""Capture: the scores of any model, its output and its state untouched."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from keras_attention.interpretation import capture, recording

B, T, S, D, N, H, C = 2, 5, 7, 6, 3, 4, 8

TENSORFLOW = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="about TensorFlow's graphs"
)


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def numpy(x):
    return ops.convert_to_numpy(x)


def instance_attributes(model):
    return {id(layer): set(vars(layer)) for layer in model._flatten_layers()}


class Block(keras.layers.Layer):
    """Attention two levels down, inside a list."""

    def __init__(self, attention, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.parts = [keras.layers.Dense(D), attention]

    def call(self, x):
        x = self.parts[0](x)
        return x + self.parts[1](x, x)


class Subclassed(keras.Model):
    """Blocks and a cross-attention called twice; no `training` in its `call`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        ours = layers.MultiHeadAttention(N, H, dropout=0.5, name="ours")
        theirs = keras.layers.MultiHeadAttention(N, H, dropout=0.5, name="theirs")
        self.blocks = [Block(ours, name="first"), Block(theirs, name="second")]
        self.cross = layers.AdditiveAttention(3, name="cross")
        self.fail = False

    def call(self, inputs):
        x, memory = inputs
        for block in self.blocks:
            x = block(x)
        x = self.cross(x, memory)
        if self.fail:
            raise RuntimeError("in the middle")
        return self.cross(x, memory)


def functional(attention, **call_kwargs):
    x, memory = keras.Input((None, D)), keras.Input((None, D))
    return keras.Model([x, memory], attention(x, memory, **call_kwargs))


# ------------------------------------------------------------------------ what is found


def test_finds_every_layer_of_a_subclassed_model_by_path():
    model, inputs = Subclassed(), [array(B, T, D), array(B, S, D, seed=1)]
    record = capture(model, inputs)
    assert {name: tuple(x.shape) for name, x in record.scores.items()} == {
        "first/ours": (B, N, T, T),
        "second/theirs": (B, N, T, T),
        "cross": (B, T, S),
        "cross#2": (B, T, S),
    }
    assert record.names == ["first/ours", "second/theirs", "cross", "cross#2"]
    assert list(record) == record.names
    for name in record:
        np.testing.assert_allclose(record.numpy(name).sum(-1), 1, atol=1e-6)


def test_output_is_that_of_the_plain_call_bit_by_bit():
    model, inputs = Subclassed(), [array(B, T, D), array(B, S, D, seed=1)]
    plain = numpy(model(inputs, training=False))
    np.testing.assert_array_equal(numpy(capture(model, inputs).output), plain)
    np.testing.assert_array_equal(numpy(model(inputs, training=False)), plain)


@pytest.mark.parametrize(
    ("attention", "shape"),
    [
        (layers.MultiHeadAttention(N, H), (B, N, T, S)),
        (layers.AdditiveAttention(3), (B, T, S)),
        (layers.DotProductAttention(), (B, T, S)),
        (keras.layers.MultiHeadAttention(N, H), (B, N, T, S)),
        (keras.layers.GroupQueryAttention(H, 4, 2), (B, 4, T, S)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scores_are_those_of_the_flag(attention, shape):
    inputs = [array(B, T, D), array(B, S, D, seed=1)]
    record = capture(functional(attention), inputs)
    asked = attention(*inputs, return_attention_scores=True)[1]
    assert record.names == [attention.name]
    assert tuple(record[0].shape) == shape
    np.testing.assert_allclose(record.numpy(0), numpy(asked), atol=1e-7)


@pytest.mark.parametrize("kind", ["Attention", "AdditiveAttention"])
def test_keras_layers_that_take_a_list(kind):
    attention = getattr(keras.layers, kind)(dropout=0.5)
    x = keras.Input((None, D))
    record = capture(keras.Model(x, attention([x, x])), array(B, T, D))
    assert tuple(record[0].shape) == (B, T, T)
    np.testing.assert_allclose(record.numpy(0).sum(-1), 1, atol=1e-6)


def test_the_largest_weight_is_where_it_must_be():
    # Queries 2, 0, 3 times far larger than the noise, so row t finds key query[t].
    keys = 20 * np.eye(4, dtype="float32")[None]
    queries = keys[:, [2, 0, 3]]
    attention = layers.DotProductAttention(name="look")
    x, memory = keras.Input((None, 4)), keras.Input((None, 4))
    record = capture(keras.Model([x, memory], attention(x, memory)), [queries, keys])
    np.testing.assert_allclose(record.numpy("look")[0], np.eye(4)[[2, 0, 3]], atol=1e-6)


def test_a_model_inside_a_model_and_a_shared_layer():
    attention = layers.MultiHeadAttention(N, H, name="shared")
    x = keras.Input((None, D))
    inner = keras.Model(x, attention(x, x), name="inner")
    sequential = keras.Sequential([keras.Input((None, D)), inner], name="middle")
    outer = keras.Model(x, attention(sequential(x), x), name="outer")
    names = capture(outer, array(B, T, D)).names
    assert len(names) == 2
    assert names[1] == f"{names[0]}#2"
    assert names[0].endswith("shared")


def test_blocks_that_pass_the_flag_on_are_not_recorded_twice():
    from keras_attention.blocks import TransformerDecoder

    x, memory = keras.Input((None, D)), keras.Input((None, D))
    decoder = TransformerDecoder(intermediate_dim=8, num_heads=N, name="decoder")
    model = keras.Model([x, memory], decoder(x, memory))
    record = capture(model, [array(B, T, D), array(B, S, D)])
    assert record.names == ["decoder/self_attention", "decoder/cross_attention"]
    np.testing.assert_array_equal(np.triu(record.numpy(0), 1), 0)  # causal


def test_pooling():
    x = keras.Input((None, D))
    model = keras.Model(x, layers.AttentionPooling(name="pool")(x))
    assert tuple(capture(model, array(B, T, D))["pool"].shape) == (B, T)


@pytest.mark.parametrize(
    ("layer", "shapes"),
    [
        (layers.SqueezeExcitation(2, name="gate"), {"gate": (B, 1, 1, C)}),
        (layers.EfficientChannelAttention(name="gate"), {"gate": (B, 1, 1, C)}),
        (layers.SpatialAttention(3, name="gate"), {"gate": (B, T, S, 1)}),
        (layers.BottleneckAttention(2, name="gate"), {"gate": (B, T, S, C)}),
        (layers.CoordinateAttention(2, name="gate"), {"gate": (B, T, S, C)}),
        (
            layers.ConvolutionalBlockAttention(2, name="cbam"),
            {
                "cbam/channel_attention": (B, 1, 1, C),
                "cbam/spatial_attention": (B, T, S, 1),
            },
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_gates_of_feature_maps(layer, shapes):
    """The gates that the flag gives, those of a block apart."""
    x = keras.Input((T, S, C))
    model = keras.Model(x, layer(x))
    inputs = array(B, T, S, C)
    plain = numpy(model(inputs, training=False))
    record = capture(model, inputs)
    assert {name: tuple(record[name].shape) for name in record} == shapes
    np.testing.assert_array_equal(numpy(record.output), plain)
    gate = numpy(layer(inputs, return_attention_scores=True)[1])
    product = np.prod(np.broadcast_arrays(*map(record.numpy, record)), axis=0)
    np.testing.assert_allclose(product, np.broadcast_to(gate, product.shape), atol=1e-6)


# --------------------------------------------------------------------- recurrent models


@pytest.mark.slow  # under JAX, which compiles every operation
def test_recurrent_model_records_the_alignments_of_its_cell():
    from keras_attention.models import RecurrentSeq2Seq

    model = RecurrentSeq2Seq(vocabulary_size=11, hidden_dim=8)
    source, target = np.array([[5, 6, 2, 0]]), np.array([[1, 5, 6]])
    inputs = {"source": source, "target": target}
    plain = numpy(model(inputs, training=False))
    record = capture(model, inputs)
    assert record.names == ["decoder/attention_cell"]
    np.testing.assert_array_equal(numpy(record.output), plain)
    asked = numpy(model.cross_attention_scores(source, target))[:, 0]
    np.testing.assert_allclose(record.numpy(0), asked, atol=1e-7)
    np.testing.assert_array_equal(record.numpy(0)[..., 3], 0)  # padding


def test_alignments_are_recorded_where_they_are_asked_for():
    cell = layers.AttentionCell(keras.layers.GRUCell(4), layers.AdditiveAttention(5))
    memory, x = array(B, S, D), array(B, T, 3)
    cell.build_for(x.shape, memory.shape)
    state = cell.memory_state(ops.convert_to_tensor(memory))
    rnn = keras.layers.RNN(cell, return_sequences=True)
    with recording(rnn) as record:
        outputs = rnn(x, initial_state=state)
        assert len(record) == 0
        alignments = cell.alignments(outputs, state)
    assert record.names == [cell.name]
    np.testing.assert_array_equal(record.numpy(0), numpy(alignments))
    assert "alignments" not in vars(cell)


def test_model_without_attention_is_told_apart():
    from keras_attention.models import RecurrentSeq2Seq

    model = RecurrentSeq2Seq(vocabulary_size=11, hidden_dim=8, attention="none")
    ids = np.array([[5, 6, 2]])
    with pytest.raises(ValueError, match=r"must call an attention layer.*'decoder'"):
        capture(model, {"source": ids, "target": ids})
    dense = keras.Sequential([keras.Input((D,)), keras.layers.Dense(2)])
    with pytest.raises(ValueError, match="must call an attention layer"):
        capture(dense, array(B, D))


def test_layer_that_refuses_is_noted_beside_those_that_do_not():
    class Refusing(keras.layers.Layer):
        def call(self, query, value, return_attention_scores=False):
            if return_attention_scores:
                raise ValueError("Linear attention has no scores.")
            return query

    x = keras.Input((None, D))
    y = Refusing(name="linear")(x, x)
    model = keras.Model(x, layers.MultiHeadAttention(N, H, name="softmax")(y, y))
    record = capture(model, array(B, T, D))
    assert record.names == ["softmax"]
    assert record.refused == {"linear": "Linear attention has no scores."}
    assert "linear: refused, Linear attention" in repr(record)


def test_layer_that_returns_no_scores_is_noted():
    class Forgetful(keras.layers.Layer):
        def call(self, query, return_attention_scores=False):
            return query

    with recording(layer := Forgetful(name="forgetful")) as record:
        layer(array(B, T, D))
    assert len(record) == 0
    assert "returned nothing beside" in record.refused["forgetful"]


# ----------------------------------------------------------------------- what it leaves


def test_nothing_is_left_on_the_layers():
    model, inputs = Subclassed(), [array(B, T, D), array(B, S, D)]
    model(inputs)
    before = instance_attributes(model)
    capture(model, inputs)
    assert instance_attributes(model) == before


def test_nothing_is_left_when_the_model_raises():
    model, inputs = Subclassed(), [array(B, T, D), array(B, S, D)]
    plain = numpy(model(inputs))
    before = instance_attributes(model)
    model.fail = True
    with pytest.raises(RuntimeError, match="in the middle"):
        capture(model, inputs)
    model.fail = False
    assert instance_attributes(model) == before
    np.testing.assert_array_equal(numpy(model(inputs)), plain)


def test_wrong_calls_raise_what_they_raise_without_recording():
    layer = layers.DotProductAttention()
    x = array(B, T, D)
    arguments = {"attention_mask": np.ones((T, T), "float32")}
    with recording(layer), pytest.raises(ValueError, match="attention_bias"):
        layer(x, x, **arguments)


def test_keras_state_of_the_last_call_is_that_of_the_plain_call():
    attention = keras.layers.GroupQueryAttention(H, 4, 2)
    capture(functional(attention), [array(B, T, D), array(B, S, D)])
    assert attention._return_attention_scores is False


def test_a_recording_inside_another_gives_the_layer_back_to_it():
    layer, x = layers.DotProductAttention(), array(B, T, D)
    with recording(layer) as outer:
        with recording(layer) as inner:
            layer(x, x)
        noted = len(outer)
        layer(x, x)
    assert len(inner) == 1
    assert len(outer) == noted + 1
    assert "call" not in vars(layer)


def test_dropout_of_a_training_call_is_the_same_with_and_without_recording():
    def outputs(record):
        layer = layers.MultiHeadAttention(N, H, dropout=0.5, seed=3)
        layer.build((B, T, D), (B, T, D))
        layer.set_weights([array(*w.shape, seed=4) for w in layer.get_weights()])
        x = array(B, T, D)
        if not record:
            return [numpy(layer(x, x, training=True)) for _ in range(2)]
        with recording(layer) as recorded:
            found = [numpy(layer(x, x, training=True)) for _ in range(2)]
        np.testing.assert_allclose(recorded.numpy(0).sum(-1), 1, atol=1e-6)
        return found

    np.testing.assert_array_equal(outputs(True), outputs(False))


@pytest.mark.parametrize("attention", [layers, keras.layers], ids=["ours", "keras"])
def test_hidden_masks_reach_both_calls_and_the_layers_behind(attention):
    ids = np.array([[3, 4, 5, 0, 0], [3, 0, 0, 0, 0]])
    x = keras.Input((None,), dtype="int32")
    embedded = keras.layers.Embedding(9, D, mask_zero=True)(x)
    y = attention.MultiHeadAttention(N, H, name="self")(embedded, embedded)
    z = attention.MultiHeadAttention(N, H, name="next")(y, y)
    model = keras.Model(x, z)
    plain = numpy(model(ids, training=False))
    record = capture(model, ids)
    np.testing.assert_array_equal(numpy(record.output), plain)
    for name in ("self", "next"):
        scores = record.numpy(name)
        np.testing.assert_array_equal(scores[0, :, :3, 3:], 0)
        np.testing.assert_array_equal(scores[1, :, :1, 1:], 0)
