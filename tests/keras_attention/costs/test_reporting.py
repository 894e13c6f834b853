"""Costs: against `count_params`, formulas by hand and the traced graph."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import keras
import pytest
from keras import ops

from keras_attention import blocks, costs, layers, models
from keras_attention.costs import reporting
from tests.backend import tensorflow_only
from tests.graph_products import products_of

B, T, S, D = 2, 5, 7, 12  # batch, query length, key length, model size
N, H, V = 4, 3, 11  # heads, head size, value size
SELF, CROSS = [(B, T, D)] * 2, [(B, T, D), (B, S, D)]

ATTENTIONS = {
    "self": (lambda: layers.MultiHeadAttention(N, H), SELF),
    "cross": (lambda: layers.MultiHeadAttention(N, H), CROSS),
    "three_tensors": (
        lambda: layers.MultiHeadAttention(N, H),
        [(B, T, D), (B, S, 17), (B, S, 13)],
    ),
    "grouped_query": (
        lambda: layers.MultiHeadAttention(N, H, num_key_value_heads=2),
        CROSS,
    ),
    "value_dim": (lambda: layers.MultiHeadAttention(N, H, value_dim=V), CROSS),
    "dot_product": (layers.DotProductAttention, CROSS),
    "dot_product_value": (
        layers.DotProductAttention,
        [*CROSS[:1], (B, S, V), CROSS[1]],
    ),
    "general": (layers.GeneralAttention, [(B, T, D), (B, S, 17)]),
    "additive": (lambda: layers.AdditiveAttention(V), [(B, T, D), (B, S, 17)]),
    "pooling": (layers.AttentionPooling, [(B, T, D)]),
    "encoder": (lambda: blocks.TransformerEncoder(13, N), [(B, T, D)]),
    "decoder": (lambda: blocks.TransformerDecoder(13, N), CROSS),
}


def functional():
    """A model of free length."""
    x = keras.Input((None, D), name="x")
    y = layers.MultiHeadAttention(N, H, name="look")(x, x)
    y = keras.layers.Dense(V, name="out")(y)
    return keras.Model(x, y, name="small")


class Unknown(keras.layers.Layer):
    """A layer that says nothing about what it multiplies."""

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], V), name="kernel")

    def call(self, inputs):
        return ops.matmul(inputs, self.kernel)


# -------------------------------------------------------------------------- the numbers


def test_row_5_of_the_checklist():
    # d_model 512, 8 heads of 64: 3 * 512 * 8 * 64 + 8 * 64 * 512.
    layer = layers.MultiHeadAttention(num_heads=8, key_dim=64, use_bias=False)
    x = (None, None, 512)
    report = costs.report(layer, batch=1, length=9, inputs=[x, x])
    assert report.total.parameters == layer.count_params() == 1_048_576
    assert report.total.weight_bytes == 4 * 1_048_576


@tensorflow_only
@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention_equals_the_traced_graph(name):
    make, shapes = ATTENTIONS[name]
    layer = make()
    report = costs.report(layer, inputs=list(shapes))
    assert report.not_counted == []
    assert report.total.multiply_adds == products_of(layer, *shapes)
    assert report.total.parameters == layer.count_params()


@tensorflow_only
def test_a_cache_is_attended_over_its_whole_length():
    layer = layers.MultiHeadAttention(N, H)
    x = keras.Input((T, D), name="x")
    cache = tuple(keras.Input((N, S, H), name=name) for name in ("keys", "values"))
    y, _ = layer(x, x, cache=cache, cache_update_index=0)
    model = keras.Model({"x": x, "keys": cache[0], "values": cache[1]}, y)
    report = costs.report(model, batch=B)
    assert report[layer.name].multiply_adds == 4 * B * T * D * N * H + (
        2 * B * N * T * S * H
    )


@tensorflow_only
@pytest.mark.parametrize("make", [layers.LinearAttention, layers.PerformerAttention])
def test_causal_linear_attention_counts_its_chunks(make):
    layer, length = make(N, H), 130  # two chunks of 128
    x = keras.Input((length, D))
    model = keras.Model(x, layer(x, x, use_causal_mask=True))
    products = products_of(model, (B, length, D), steps=2)
    assert costs.report(model, batch=B).total.multiply_adds == products


# TensorFlow pads the map of a dilated convolution, and multiplies the padding too.
UNDILATED = {
    "bam": {"dilation_rate": 1},
    "selective_kernel": {"dilation_rates": (1, 1)},
}


@tensorflow_only
def test_every_public_layer_equals_the_traced_graph(row):
    # A new layer says what it multiplies, in a method `multiply_adds`, or stands in
    # `_products` among those that multiply nothing.
    options = {"flash_attention": False} if row.name.endswith("_blockwise") else {}
    layer = row.make(**options, **UNDILATED.get(row.name, {}))
    if hasattr(layer, "rnn"):
        layer.rnn.unroll = True
    report = costs.report(layer, inputs=list(row.inputs))
    assert report.not_counted == []
    steps = row.inputs[0][1]  # of the attentions that go through their queries
    products = products_of(layer, *row.inputs, steps=steps)
    assert report.total.multiply_adds == products
    assert report.total.parameters == layer.count_params()


@tensorflow_only
@pytest.mark.parametrize("normalize_first", [True, False])
def test_transformer_equals_the_traced_graph(normalize_first):
    import tensorflow as tf

    model = models.TransformerSeq2Seq(13, 2, N, D, 17, normalize_first=normalize_first)
    lengths = {"source": S, "target": T}
    ids = {name: keras.Input((n,), B, "int32") for name, n in lengths.items()}
    report = costs.report(model, batch=B, inputs=ids)
    assert report.not_counted == []
    specs = {name: tf.TensorSpec((B, n), "int32") for name, n in lengths.items()}
    assert report.total.multiply_adds == products_of(model, specs)
    assert report.total.parameters == model.count_params()


@tensorflow_only
@pytest.mark.parametrize("attention", ["additive", "general", "dot_product", "none"])
@pytest.mark.parametrize("order", ["bahdanau", "luong"])
def test_recurrent_decoder_equals_the_traced_graph(attention, order):
    decoder = blocks.RecurrentDecoder(H, attention, order)
    decoder.rnn.unroll = True  # as many steps as there are, and none beside the loop
    size = H if attention == "dot_product" else D
    shapes = [(B, T, D), (B, S, size), (B, D)]
    report = costs.report(decoder, inputs=list(shapes))
    assert report.not_counted == []
    assert report.total.multiply_adds == products_of(decoder, *shapes)


def test_the_parts_of_an_attention_by_hand():
    layer = layers.MultiHeadAttention(N, H, value_dim=V, name="look")
    report = costs.report(layer, inputs=list(CROSS))
    rows = {row.layer: row for row in report.rows}
    assert rows["look"].multiply_adds == B * N * T * S * (H + V)
    assert rows["look"].activation_bytes == 4 * B * N * (T * S + T * V)
    assert rows["query"].multiply_adds == B * T * D * N * H
    assert rows["key"].multiply_adds == B * S * D * N * H
    assert rows["value"].multiply_adds == B * S * D * N * V
    assert rows["output"].multiply_adds == B * T * N * V * D
    assert rows["output"].parameters == N * V * D + D
    assert rows["output"].activation_bytes == 4 * B * T * D
    assert report.total.activation_bytes == sum(x.activation_bytes for x in report.rows)


def test_masks_and_paths_change_nothing():
    whole = costs.report(layers.MultiHeadAttention(N, H), inputs=list(SELF)).total
    for options in ({"sliding_window": 2}, {"flash_attention": True}):
        layer = layers.MultiHeadAttention(N, H, **options)
        assert costs.report(layer, inputs=list(SELF)).total.multiply_adds == (
            whole.multiply_adds
        )
    layer = layers.MultiHeadAttention(N, H)
    causal = costs.report(layer, inputs=list(SELF), use_causal_mask=True).total
    assert causal.multiply_adds == whole.multiply_adds


# -------------------------------------------------------------------- what is not known


def test_an_unknown_layer_is_not_counted_and_says_so():
    model = keras.Sequential([keras.Input((T, D)), Unknown(name="mine")])
    report = costs.report(model, batch=B)
    assert report.not_counted == ["mine (Unknown)"]
    assert " not counted |" in report.table()
    assert "mine (Unknown)" in str(report).splitlines()[-1]
    assert report.total.parameters == model.count_params() == D * V


def test_what_is_known_of_it_is_the_least():
    model = keras.Sequential(
        [keras.Input((T, D)), keras.layers.Dense(D), Unknown(name="mine")]
    )
    report = costs.report(model, batch=B)
    assert not report.total.counted
    assert f"at least {B * T * D * D:,}" in report.table()


# --------------------------------------------------------------------------- the report


def test_rows_add_up_at_every_depth():
    model = models.TransformerSeq2Seq(13, 1, N, D, 17)
    report = costs.report(model, batch=B, length=T)
    for depth in (0, 1, 2, None):
        rows = report.at_depth(depth)
        assert sum(row.parameters for row in rows) == model.count_params()
        assert sum(row.multiply_adds for row in rows) == report.total.multiply_adds
    assert [row.depth for row in report.at_depth(1)][1:] == [1] * (
        len(report.at_depth(1)) - 1
    )


def test_a_layer_by_its_path():
    report = costs.report(models.TransformerSeq2Seq(13, 1, N, D, 17), B, T)
    assert report["decoder_0/feed_forward"].parameters == 2 * D * 17 + D + 17
    assert report["cross_attention"] == report["decoder_0/cross_attention"]
    with pytest.raises(ValueError, match=r"exactly one.*self_attention"):
        report["self_attention"]


def test_growth_is_linear_in_projections_and_quadratic_in_scores():
    report = costs.report(functional(), batch=1, length=64)
    assert [one.length for one in report.grown] == [8, 16, 32, 64]
    assert report.grown[-1].total == report.total
    scores = [one.rows for one in report.grown]
    names = [row.layer for row in report.rows]
    look, out = names.index("look"), names.index("out")
    for small, large in itertools.pairwise(scores):
        assert large[look].multiply_adds == 4 * small[look].multiply_adds
        assert large[out].multiply_adds == 2 * small[out].multiply_adds


def test_lengths_may_be_given():
    report = costs.report(functional(), batch=1, length=9, lengths=[16, 3])
    assert [one.length for one in report.grown] == [3, 9, 16]
    assert "16" in report.growth_table()


def test_a_fixed_shape_needs_no_length():
    model = keras.Sequential([keras.Input((T, D)), keras.layers.Dense(V)])
    report = costs.report(model, batch=B)
    assert (report.length, report.grown) == (None, ())
    with pytest.raises(ValueError, match="free length"):
        report.plot()


def test_the_table_is_markdown():
    report = costs.report(functional(), batch=1, length=T)
    lines = report.table(depth=1).splitlines()
    assert lines[0].split("|")[1].strip() == "layer"
    assert set(lines[1]) <= set("|-: ")
    assert [line.split("|")[1].strip() for line in lines[2:]] == [
        "look",
        "out",
        "**total**",
    ]
    assert len({len(line) for line in lines}) == 1
    assert f"{report.total.multiply_adds:,}" in lines[-1]
    assert report._repr_markdown_() == str(report)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (4 * 2**20, "4.0 MiB")],
)
def test_sizes_are_easy_to_read(size, text):
    assert reporting._bytes(size) == text


def test_the_page_shows_what_its_example_prints(capsys):
    page = (Path(__file__).parents[3] / "docs" / "costs.md").read_text("utf-8")
    code, shown = re.findall(r"^```(?:python|text)\n(.*?)^```$", page, re.M | re.S)[:2]
    exec(compile(code, "docs/costs.md", "exec"), {})
    assert capsys.readouterr().out == shown


# ----------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 0, "length": 3}, "`batch` must be a positive integer"),
        ({"batch": 1, "length": -1}, "`length` must be a positive integer"),
        ({"batch": 1}, "`length` must say what the free axes"),
        ({"batch": 1, "length": 3, "lengths": [0]}, "`lengths` must be a positive"),
        ({"batch": 1, "length": 3, "inputs": [3.0]}, "`inputs` must be shapes"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        costs.report(functional(), **options)


def test_a_layer_needs_inputs():
    with pytest.raises(ValueError, match="`inputs` must give the shapes"):
        costs.report(keras.layers.Dense(3, name="mine"), 1, 3)


# ----------------------------------------------------------------------------- the plot


def test_the_plot_shows_every_kind_and_the_total(tmp_path):
    report = costs.report(functional(), batch=3, length=64)
    figure = report.plot()
    products, activations = figure.axes
    labels = [line.get_label() for line in products.lines]
    assert set(labels) == {"MultiHeadAttention", "Projection", "Dense", "total"}
    total = products.lines[labels.index("total")]
    assert list(total.get_xdata()) == [8, 16, 32, 64]
    assert total.get_ydata()[-1] == report.total.multiply_adds
    assert activations.lines[-1].get_ydata()[-1] == report.total.activation_bytes
    assert (products.get_xscale(), products.get_yscale()) == ("log", "log")
    assert (products.get_xlabel(), products.get_title()) == ("length", "batch 3")
    figure.savefig(tmp_path / "costs.png")


def test_kinds_beyond_the_eighth_share_a_line():
    rows = [
        costs.Row(layer=f"l{i}", kind=f"K{i}", depth=1, multiply_adds=i + 1)
        for i in range(11)
    ]
    reports = [costs.Report(rows=tuple(rows), batch=1, length=n) for n in (1, 2)]
    lines = reporting._by_kind(reports, "multiply_adds")
    assert len(lines) == 8
    assert next(iter(lines)) == "K10"
    assert lines["others"] == [1 + 2 + 3 + 4] * 2


@pytest.mark.slow
def test_only_a_plot_needs_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import keras\n"
        "from keras_attention import costs\n"
        "x = keras.Input((None, 3))\n"
        "report = costs.report(keras.Model(x, keras.layers.Dense(2)(x)), 1, 8)\n"
        "str(report)\n"
        "try: report.plot()\n"
        "except ImportError: sys.exit(7)"
    )
    outcome = subprocess.run([sys.executable, "-c", code], check=False)
    assert outcome.returncode == 7
