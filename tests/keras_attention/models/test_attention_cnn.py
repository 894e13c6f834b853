import keras
import numpy as np
import pytest

from keras_attention import costs, layers, models
from keras_attention.interpretation import capture
from keras_attention.models.attention_cnn import ATTENTIONS
from tests.backend import BACKEND, slow_on_jax, to_numpy
from tests.keras_attention.layers.test_feature_map import WITH_RATIO

CLASSES, SHAPE = 5, (12, 8, 3)
IMAGES = np.random.default_rng(0).integers(0, 256, (4, *SHAPE)).astype("uint8")
GATES = [name for name in ATTENTIONS if name != "none"]
CONFIG = {
    "filters": (8, 16),
    "blocks_per_stage": (1, 2),
    "stem_strides": 1,
    "attention": "squeeze_excitation",
    "attention_options": {"ratio": 2},
    "dropout": 0.25,
    "dtype": "mixed_bfloat16",
    "name": "mine",
}


def make(attention="none", **options):
    sizes = {"input_shape": SHAPE, "filters": (8, 16), "blocks_per_stage": 1}
    return models.AttentionCNN(CLASSES, attention=attention, **{**sizes, **options})


def logits(model, images=IMAGES):
    return to_numpy(model(images))


def attention_layers(model):
    kinds = tuple(layers.registry()[name] for name in GATES)
    return [layer.name for layer in model.layers if isinstance(layer, kinds)]


@pytest.mark.parametrize("attention", slow_on_jax(ATTENTIONS, "cbam"))
def test_every_attention(attention, tmp_path):
    """Each runs on any size, learns, has known costs and comes back from a file."""
    options = {"ratio": 2} if attention in WITH_RATIO else None  # of few filters
    model = make(attention, input_shape=(None, None, 3), attention_options=options)
    assert model.output_shape == (None, CLASSES)
    assert logits(model).shape == (4, CLASSES)
    assert logits(model, IMAGES[:, :7, :5]).shape == (4, CLASSES)
    if attention != "none":
        scored = capture(model, IMAGES)
        assert all(np.isfinite(scored.numpy(name)).all() for name in scored)
    report = costs.report(model, length=8)
    assert report.not_counted == []
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, run_eagerly=BACKEND != "jax")  # one step: no tracing
    before = [to_numpy(x) for x in model.trainable_variables]
    model.train_on_batch(IMAGES, np.array([1, 3, 0, 4]))
    after = [to_numpy(x) for x in model.trainable_variables]
    unmoved = [
        variable.path
        for variable, a, b in zip(model.trainable_variables, after, before, strict=True)
        if (a == b).all()
    ]
    assert not unmoved
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(logits(again), logits(model), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("attention", "places"),
    [
        ("none", []),
        ("bam", ["stage_0_attention"]),
        ("spatial", ["stage_0_block_0_attention", "stage_1_block_0_attention"]),
        (
            "selective_kernel",
            ["stage_0_block_0_attention", "stage_1_block_0_attention"],
        ),
    ],
)
def test_where_attention_stands(attention, places):
    model = make(attention)
    assert attention_layers(model) == places
    names = [layer.name for layer in model.layers]
    replaced = attention == "selective_kernel"
    assert ("stage_0_block_0_conv_1" in names) is not replaced
    if attention == "spatial":  # on the branch, before the addition
        order = ("conv_0", "conv_1", "norm_1", "attention", "add")
        places = [names.index(f"stage_0_block_0_{part}") for part in order]
        assert places == sorted(places)
        add = model.get_layer("stage_0_block_0_add")
        assert [x._keras_history.operation.name for x in add.input] == [
            "stem_relu",
            "stage_0_block_0_attention",
        ]


def test_a_gate_is_what_a_model_without_it_lacks():
    """The same network, its branches weighed: gates of 1 give the plain one."""
    plain, gated = make(), make("squeeze_excitation")
    for layer in plain.layers:
        gated.get_layer(layer.name).set_weights(layer.get_weights())
    assert not np.allclose(logits(gated), logits(plain), atol=1e-3)
    for name in attention_layers(gated):
        bias = gated.get_layer(name).excite.bias
        bias.assign(np.full(bias.shape, 50.0, "float32"))
    np.testing.assert_allclose(logits(gated), logits(plain), rtol=0, atol=1e-5)


def test_parameters_and_multiply_adds():
    """Of the plain network, as written down: convolutions, norms, head."""
    model = make(input_shape=(8, 8, 3), stem_strides=2)
    convolutions = [  # inputs, outputs, side of the kernel, side of the map
        (3, 8, 3, 4),
        (8, 8, 3, 4),
        (8, 8, 3, 4),
        (8, 16, 3, 2),
        (16, 16, 3, 2),
        (8, 16, 1, 2),
    ]
    kernels = sum(i * o * k * k for i, o, k, _ in convolutions)
    norms = sum(4 * o for _, o, _, _ in convolutions)
    assert model.count_params() == kernels + norms + 16 * CLASSES + CLASSES
    products = sum(i * o * k * k * side**2 for i, o, k, side in convolutions)
    report = costs.report(model)
    assert report.total.multiply_adds == products + 16 * CLASSES


def test_pixels_are_scaled_once():
    """0..255 is all a user gives, as integers or floats; -1..1 is what is convolved."""
    model = make()
    scaled = keras.Model(model.input, model.get_layer("rescaling").output)
    extremes = np.stack([np.zeros(SHAPE), np.full(SHAPE, 255)]).astype("uint8")
    found = to_numpy(scaled(extremes))
    np.testing.assert_allclose(found[:, 0, 0, 0], [-1, 1], atol=1e-6)
    rescalings = [x for x in model.layers if isinstance(x, keras.layers.Rescaling)]
    assert len(rescalings) == 1
    np.testing.assert_array_equal(
        logits(model), logits(model, IMAGES.astype("float32"))
    )


def test_stages_halve_the_map():
    model = make(input_shape=(32, 24, 1), filters=(4, 8, 16), stem_strides=1)
    shapes = [model.get_layer(f"stage_{i}_block_0").output.shape[1:] for i in range(3)]
    assert shapes == [(32, 24, 4), (16, 12, 8), (8, 6, 16)]
    assert model.last_map == "stage_2_block_0"


@pytest.mark.parametrize(
    "dtype", slow_on_jax(("mixed_float16", "mixed_bfloat16"), "mixed_bfloat16")
)
def test_logits_are_float32(dtype):
    model = make("cbam", dtype=dtype)
    assert model.get_layer(model.last_map).compute_dtype == dtype[6:]
    assert keras.backend.standardize_dtype(model(IMAGES).dtype) == "float32"
    assert np.isfinite(logits(model)).all()


@pytest.mark.parametrize("shape", [SHAPE, (None, None, 3)])
def test_features_are_the_last_map_row_by_row(shape):
    model = make(input_shape=shape)
    features = model.feature_model()
    last = keras.Model(model.input, model.get_layer(model.last_map).output)
    expected = to_numpy(last(IMAGES))
    assert expected.shape[1:3] == (3, 2)
    assert model.grid == ((3, 2) if shape == SHAPE else (None, None))
    found = to_numpy(features(IMAGES))
    np.testing.assert_array_equal(found, expected.reshape(4, 6, 16))
    dense = model.get_layer("logits")  # the head reads their mean
    pooled = found.mean(axis=1) @ to_numpy(dense.kernel) + to_numpy(dense.bias)
    np.testing.assert_allclose(pooled, logits(model), atol=1e-5)


def test_features_share_the_weights():
    model = make()
    features = model.feature_model()
    before = to_numpy(features(IMAGES))
    stem = model.get_layer("stem").kernel
    stem.assign(to_numpy(stem) + 1)
    assert np.abs(to_numpy(features(IMAGES)) - before).max() > 1e-3


def test_config_round_trip():
    model = models.AttentionCNN(CLASSES, SHAPE, **CONFIG)
    config = keras.saving.serialize_keras_object(model)
    assert config["registered_name"] == "keras_attention>AttentionCNN"
    again = keras.saving.deserialize_keras_object(config)
    assert again.get_config() == model.get_config()
    gates = [x for x in again.layers if x.name.endswith("attention")]
    assert [gate.ratio for gate in gates] == [2, 2, 2]
    assert gates[0].compute_dtype == "bfloat16"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attention": "se"}, "`attention` must be one of 'bam', 'cbam', "),
        ({"attention": "multi_head"}, "`attention` must be one of 'bam', 'cbam', "),
        ({"attention_options": {"ratio": 2}}, "`attention_options` needs an"),
        ({"attention": "bam", "filters": (8,)}, "`filters` must have two or more"),
        ({"filters": 8}, "`filters` must be one number a stage"),
        ({"filters": (8, 0)}, "`filters` must be a positive integer"),
        ({"blocks_per_stage": 0}, "`blocks_per_stage` must be a positive integer"),
        ({"blocks_per_stage": (1,)}, "one number for each of the `filters`"),
        ({"stem_strides": 0}, "`stem_strides` must be a positive integer"),
        ({"input_shape": (8, 8)}, "`input_shape` must be"),
        ({"input_shape": (8, 8, None)}, "`input_shape` must be a positive integer"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)
