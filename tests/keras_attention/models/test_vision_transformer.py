"""Vision transformer: what it computes, and at which resolution."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import costs, models
from keras_attention.interpretation import capture
from keras_attention.models.vision_transformer import POOLINGS, POSITIONS
from keras_attention.ops.positions import resized
from tests.backend import to_numpy

B, CLASSES, HEIGHT, WIDTH, CHANNELS = 2, 7, 8, 12, 3
D, F, N, LAYERS = 16, 24, 2, 2
GRID = (2, 3)
VARIANTS = {
    "class_token": {},
    "attention": {"pooling": "attention", "positions": "sinusoidal_2d"},
    "mean": {"pooling": "mean", "positions": "none"},
    "rotary": {"positions": "rotary_2d"},
    "grouped": {"attention_options": {"num_key_value_heads": 1, "qk_norm": True}},
}


def make(**options):
    sizes = {
        "num_classes": CLASSES,
        "input_shape": (HEIGHT, WIDTH, CHANNELS),
        "patch_size": 4,
        "num_layers": LAYERS,
        "num_heads": N,
        "hidden_dim": D,
        "intermediate_dim": F,
    }
    return models.VisionTransformer(**{**sizes, **options})


def sharpened(**options):
    """A model with weights far enough from zero that positions and classes matter."""
    model, random = make(**options), np.random.default_rng(1)
    model.set_weights(
        [x + 0.2 * random.normal(size=x.shape) for x in model.get_weights()]
    )
    return model


def images(height=HEIGHT, width=WIDTH, seed=0):
    shape = (B, height, width, CHANNELS)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype="uint8")


# ------------------------------------------------------------------- what it computes


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("positions", ["learned", "sinusoidal_2d", "none"])
def test_is_the_encoder_of_the_paper(pooling, positions):
    """Step by step, by the layers it is made of."""
    model = sharpened(pooling=pooling, positions=positions)
    layer = model.get_layer
    x = layer("patch_embedding")(images().astype("float32") / 127.5 - 1)
    if positions == "sinusoidal_2d":
        x = layer("positions")(x)
    if pooling == "class_token":
        token = np.tile(to_numpy(layer("class_token").token), (B, 1, 1))
        x = ops.concatenate([token, x], axis=1)
    if positions == "learned":
        x = x + ops.convert_to_tensor(layer("positions").embeddings)
    for i in range(LAYERS):
        x = layer(f"encoder_{i}")(x)
    x = layer("encoder_norm")(x)
    pooled = {
        "class_token": lambda: x[:, 0],
        "attention": lambda: layer("pooling")(x),
        "mean": lambda: ops.mean(x, axis=1),
    }[pooling]()
    expected = to_numpy(layer("logits")(pooled))
    np.testing.assert_allclose(to_numpy(model(images())), expected, atol=1e-5)


def test_blocks_are_those_of_the_paper():
    block = make(drop_path=0.3, dropout=0.1, attention_dropout=0.2).get_layer(
        "encoder_0"
    )
    assert block.normalize_first
    assert block.activation is keras.activations.gelu
    assert (block.dropout, block.attention_dropout) == (0.1, 0.2)


@pytest.mark.parametrize("num_layers", [1, 4])
def test_drop_path_rises_with_depth_to_its_rate(num_layers):
    model = make(num_layers=num_layers, drop_path=0.4)
    rates = [model.get_layer(f"encoder_{i}").drop_path for i in range(num_layers)]
    assert rates == pytest.approx(np.linspace(0, 0.4, num_layers + 1)[1:])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_pixels_of_any_kind(dtype):
    model = make()
    expected = to_numpy(model(images().astype("float32")))
    found = to_numpy(model(ops.convert_to_tensor(images(), dtype=dtype)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_logits_are_float32_in_half_precision(dtype):
    model = make(dtype=dtype)
    assert model.get_layer("encoder_0").compute_dtype == dtype.removeprefix("mixed_")
    logits = model(images())
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"
    plain = make()
    plain.set_weights(model.get_weights())
    # Some tens of roundings of 2^-9 in a row of numbers of size 1.
    np.testing.assert_allclose(to_numpy(logits), to_numpy(plain(images())), atol=0.05)


def test_parameters():
    """Blocks, norms, token, positions and projections as published."""
    patches, tokens = 4 * 4 * CHANNELS * D + D, 1 + GRID[0] * GRID[1]
    attention = 4 * D * D + 4 * D
    block = attention + 2 * D * F + F + D + 2 * 2 * D
    head = D * CLASSES + CLASSES
    expected = patches + D + tokens * D + LAYERS * block + 2 * D + head
    assert make().count_params() == expected
    pooled = make(pooling="attention", positions="rotary_2d").count_params()
    assert pooled == expected - D - tokens * D + D + attention


@pytest.mark.parametrize("pooling", POOLINGS)
def test_costs_are_known(pooling):
    report = costs.report(make(pooling=pooling), batch=B)
    assert report.not_counted == []
    tokens = GRID[0] * GRID[1] + (pooling == "class_token")
    block = 4 * tokens * D * D + 2 * tokens * tokens * D + 2 * tokens * D * F
    patches = HEIGHT * WIDTH * CHANNELS * D
    pooled = 0
    if pooling == "attention":
        pooled = 2 * tokens * D * D + 2 * D * D + 2 * tokens * D
    expected = patches + LAYERS * block + pooled + D * CLASSES
    assert report.total.multiply_adds == B * expected


# --------------------------------------------------------------- where images are seen


@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_of_every_block_can_be_captured(variant):
    model = make(**VARIANTS[variant])
    record = capture(model, images())
    tokens = model.num_prefix_tokens + GRID[0] * GRID[1]
    names = [f"encoder_{i}/self_attention" for i in range(LAYERS)]
    shapes = dict.fromkeys(names, (B, N, tokens, tokens))
    if variant == "attention":
        shapes["pooling/attention"] = (B, N, 1, tokens)
    assert {name: tuple(x.shape) for name, x in record.scores.items()} == shapes
    np.testing.assert_array_equal(to_numpy(record.output), to_numpy(model(images())))


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_data_format_of_keras_changes_nothing(pooling):
    expected = to_numpy(make(pooling=pooling)(images()))
    keras.utils.set_random_seed(0)
    keras.config.set_image_data_format("channels_first")
    try:
        found = to_numpy(make(pooling=pooling)(images()))
    finally:
        keras.config.set_image_data_format("channels_last")
    np.testing.assert_array_equal(found, expected)


def test_names_of_layers_are_stable():
    names = [layer.name for layer in make().layers]
    assert names == [layer.name for layer in make().layers]
    assert {"rescaling", "patch_embedding", "class_token", "positions", "logits"} <= {
        *names
    }


def moved(array, rows, columns):
    """Images whose patches have gone round."""
    return np.roll(array, (4 * rows, 4 * columns), axis=(1, 2))


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_places_count_where_there_are_positions(positions, pooling):
    model = sharpened(positions=positions, pooling=pooling)
    before, after = (to_numpy(model(x)) for x in (images(), moved(images(), 1, 2)))
    if positions == "none":
        np.testing.assert_allclose(after, before, atol=1e-5)
    else:
        assert np.abs(after - before).max() > 1e-3


# --------------------------------------------------------------------- at a resolution


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_at_the_same_resolution_nothing_changes(positions, pooling):
    model = sharpened(positions=positions, pooling=pooling)
    again = model.at_resolution((HEIGHT, WIDTH))
    np.testing.assert_array_equal(to_numpy(again(images())), to_numpy(model(images())))
    assert again.get_config() == model.get_config()


@pytest.mark.parametrize("pooling", POOLINGS)
def test_learned_positions_are_interpolated_and_that_of_the_token_is_kept(pooling):
    model = sharpened(pooling=pooling)
    before = [to_numpy(x) for x in model.weights]
    larger = model.at_resolution((16, 24))
    assert (larger.grid, larger.input_shape) == ((4, 6), (None, 16, 24, CHANNELS))
    prefix = model.num_prefix_tokens
    table = to_numpy(model.get_layer("positions").embeddings)
    expected = to_numpy(resized(table[prefix:], (4, 6), grid=GRID))
    found = to_numpy(larger.get_layer("positions").embeddings)
    np.testing.assert_array_equal(found[:prefix], table[:prefix])
    np.testing.assert_array_equal(found[prefix:], expected)
    for old, new in zip(model.weights, larger.weights, strict=True):
        assert old is not new
        if old is not model.get_layer("positions").embeddings:
            np.testing.assert_array_equal(to_numpy(new), to_numpy(old))
    for x, old in zip(model.weights, before, strict=True):
        np.testing.assert_array_equal(to_numpy(x), old)


def encoded(model, patches, mask):
    """What the blocks make of `(B, rows, columns, D)` where a mask shows patches."""
    x = ops.reshape(patches, (B, -1, D))
    if model.get_config()["positions"] == "sinusoidal_2d":
        x = model.get_layer("positions")(x)
    x = model.get_layer("class_token")(x)
    mask = np.insert(mask.reshape(B, -1), 0, True, axis=1)
    for i in range(LAYERS):
        x = model.get_layer(f"encoder_{i}")(x, mask=mask)
    x = to_numpy(x)
    return x[:, 0], x[:, 1:].reshape(*patches.shape)


@pytest.mark.parametrize("positions", ["sinusoidal_2d", "rotary_2d"])
def test_waves_and_rotations_go_on(positions):
    """A corner of the larger grid, the rest hidden, is the grid of the training."""
    model = sharpened(positions=positions)
    larger = model.at_resolution((12, 20))
    patches = np.random.default_rng(0).normal(size=(B, 3, 5, D)).astype("float32")
    shown = np.zeros((B, 3, 5), bool)
    shown[:, : GRID[0], : GRID[1]] = True
    token, corner = encoded(larger, patches, shown)
    patches, shown = patches[:, : GRID[0], : GRID[1]], shown[:, : GRID[0], : GRID[1]]
    expected_token, expected = encoded(model, patches, shown)
    np.testing.assert_allclose(token, expected_token, atol=1e-5)
    np.testing.assert_allclose(corner[:, : GRID[0], : GRID[1]], expected, atol=1e-5)


@pytest.mark.parametrize("pooling", ["attention", "mean"])
def test_a_bag_of_patches_seen_four_times_is_the_same(pooling):
    """Patches of one colour at double size: each four times, what is read the same."""
    model = sharpened(positions="none", pooling=pooling)
    colours = images()[:, ::4, ::4]
    small, large = (
        np.repeat(np.repeat(colours, size, axis=1), size, axis=2) for size in (4, 8)
    )
    found = to_numpy(model.at_resolution((16, 24))(large))
    np.testing.assert_allclose(found, to_numpy(model(small)), atol=1e-5)


def test_learned_positions_at_double_size_mean_much_the_same():
    """Logits move less by the resolution than by other images."""
    model = sharpened(pooling="mean")
    larger = model.at_resolution((16, 24))
    colours = [images(seed=seed)[:, ::4, ::4] for seed in range(10)]
    small, large = (
        np.concatenate([np.repeat(np.repeat(x, s, axis=1), s, axis=2) for x in colours])
        for s in (4, 8)
    )
    before, after = to_numpy(model(small)), to_numpy(larger(large))
    assert np.abs(after - before).mean() < before.std(axis=0).mean() / 5


def test_what_is_frozen_stays_frozen():
    """A layer, one inside another, and one that learns inside a frozen one."""
    model = make()
    model.get_layer("patch_embedding").trainable = False
    model.get_layer("encoder_0").self_attention.trainable = False
    model.get_layer("encoder_1").trainable = False
    model.get_layer("encoder_1").self_attention_norm.trainable = True
    other = model.at_resolution((16, 24))
    flags = [[x.trainable for x in each._flatten_layers()] for each in (model, other)]
    assert flags[0] == flags[1]
    assert not all(flags[0])
    learned = [len(x.trainable_variables) for x in (model, other)]
    assert learned[0] == learned[1] < len(model.weights)


def test_c64_a_resolution_that_patches_do_not_fill():
    model = make()
    for size, named in ((13, r"\(13, 13\)"), ((16, 30), r"\(16, 30\)")):
        with pytest.raises(ValueError, match=rf"image_size={named}.*\(4, 4\)"):
            model.at_resolution(size)


# ------------------------------------------------------------------- saving and errors


def test_config_round_trip():
    model = make(
        patch_size=(2, 3),
        pooling="attention",
        positions="rotary_2d",
        dropout=0.1,
        attention_dropout=0.2,
        drop_path=0.3,
        activation="relu",
        hidden_dim=24,
        attention="talking_heads",
        attention_options={"use_gate": True},
        name="mine",
        dtype="mixed_bfloat16",
        trainable=False,
    )
    config = keras.saving.serialize_keras_object(model)
    assert config["registered_name"] == "keras_attention>VisionTransformer"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == model.get_config()
    for layer, same in zip(model.layers, again.layers, strict=True):
        assert layer.name == same.name
        first, second = map(keras.saving.serialize_keras_object, (layer, same))
        assert first["config"] == second["config"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_reload(variant, tmp_path):
    model = sharpened(**VARIANTS[variant])
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(to_numpy(again(images())), to_numpy(model(images())))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"input_shape": (30, 32, 3), "patch_size": 16}, r"=\(30, 32\), .*\(16, 16\)"),
        ({"input_shape": (8, 12)}, r"must be \(height, width, channels\)"),
        ({"input_shape": (8, None, 3)}, "`input_shape` must be a positive integer"),
        ({"patch_size": 0}, "`patch_size` must be a positive integer"),
        ({"num_layers": 0}, "`num_layers` must be a positive integer"),
        ({"hidden_dim": 15}, "`num_heads` must divide the model size"),
        ({"pooling": "max"}, "`pooling` must be one of 'attention', 'class_token'"),
        ({"positions": "rotary"}, "`positions` must be one of 'learned', 'none'"),
        ({"positions": "rotary_2d", "hidden_dim": 12}, "must be a multiple of 4"),
        ({"drop_path": 1.0}, "`drop_path` must be a number in"),
        ({"attention": "multihead"}, "must be one of"),
        (
            {"positions": "rotary_2d", "attention_options": {"rotary": True}},
            "`attention_options` takes no `rotary`",
        ),
        ({"positions": "rotary_2d", "attention": "linear"}, "rotary"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)
