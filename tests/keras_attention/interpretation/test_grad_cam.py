"""Grad-CAM against a computation by hand, and where nothing is to be seen."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import grad_cam

H, W, C, CLASSES = 3, 5, 4, 6


def images(batch=2, seed=0):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(batch, H, W, 3)).astype("float32")


def dense(array):
    """A dense layer with these weights."""
    return keras.layers.Dense(
        array.shape[1],
        use_bias=False,
        kernel_initializer=keras.initializers.Constant(array),
    )


class Residual(keras.layers.Layer):
    """A convolution inside a layer, with a path around it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = keras.layers.Conv2D(3, 3, padding="same", name="inner")

    def call(self, x):
        return x + self.inner(x)


def pooled(features, kernel=None):
    """A classifier of the mean over positions."""
    y = keras.layers.GlobalAveragePooling2D()(features)
    if kernel is None:
        return keras.layers.Dense(CLASSES)(y)
    return dense(kernel)(y)


def by_definition(activations, kernel, classes):
    """With mean pooling the gradient is the kernel's column over h w, everywhere."""
    weights = kernel[:, classes].T / (H * W)  # (B, C)
    return np.maximum(np.einsum("bhwc,bc->bhw", activations, weights), 0)


# --------------------------------------------------------------------------- the values


def test_by_hand():
    """Channels x and 1 - x of one image; class 0 reads the first pixel of each."""
    x = keras.Input((1, 2, 1))
    channels = keras.layers.Conv2D(
        2,
        1,
        kernel_initializer=keras.initializers.Constant([[[[1.0, -1.0]]]]),
        bias_initializer=keras.initializers.Constant([0.0, 1.0]),
        name="last",
    )(x)
    # Flat: (pixel 0: x, 1 - x), (pixel 1: x, 1 - x).
    kernel = np.array([[4.0, 0], [-2.0, 0], [0, 0], [0, 6.0]])
    model = keras.Model(x, dense(kernel)(keras.layers.Flatten()(channels)))
    image = np.array([[[[0.25], [3.0]]]])
    # Mean gradients: class 0 (4, -2) / 2, class 1 (0, 6) / 2.
    # Class 0: 2 x - (1 - x) = -0.25 and 8; class 1: 3 (1 - x) = 2.25 and -6.
    np.testing.assert_allclose(grad_cam(model, image, "last", 0), [[[0, 8]]])
    np.testing.assert_allclose(grad_cam(model, image, "last", 1), [[[2.25, 0]]])
    # Scores: class 0 is 4 x 0.25 - 2 x 0.75, class 1 is 6 x (1 - 3).
    np.testing.assert_allclose(grad_cam(model, image, "last"), [[[0, 8]]])


@pytest.mark.parametrize("classes", [None, 2, [5, 1]], ids=["predicted", "one", "each"])
def test_classes(classes):
    x = keras.Input((H, W, 3))
    features = keras.layers.Conv2D(C, 3, padding="same", activation="relu")(x)
    kernel = np.random.default_rng(1).normal(size=(C, CLASSES)).astype("float32")
    model = keras.Model(x, pooled(features, kernel))
    found = grad_cam(model, images(), model.layers[1], classes)
    scores = ops.convert_to_numpy(model(images()))
    chosen = scores.argmax(axis=1) if classes is None else np.broadcast_to(classes, 2)
    maps = ops.convert_to_numpy(keras.Model(x, features)(images()))
    expected = by_definition(maps, kernel, chosen)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert (found > 0).any()


def test_images_do_not_see_each_other():
    x = keras.Input((H, W, 3))
    y = keras.layers.BatchNormalization()(keras.layers.Conv2D(C, 1, name="last")(x))
    model = keras.Model(x, pooled(y))
    alone = grad_cam(model, images()[1:], "last", 3)
    np.testing.assert_allclose(
        grad_cam(model, images(), "last", 3)[1:], alone, rtol=1e-5, atol=1e-7
    )


def test_a_layer_inside_a_layer_with_a_path_around_it():
    x = keras.Input((H, W, 3))
    kernel = np.random.default_rng(2).normal(size=(3, CLASSES)).astype("float32")
    block = Residual(name="block")
    model = keras.Model(x, pooled(block(x), kernel))
    found = grad_cam(model, images(), "inner", 1)
    maps = ops.convert_to_numpy(block.inner(images()))
    expected = by_definition(maps, kernel, np.array([1, 1]))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_channels_first():
    """The layer's own word counts, then the argument's."""
    x = keras.Input((3, H, W))
    y = keras.layers.Permute((2, 3, 1))(x)
    y = keras.layers.Conv2D(C, 1, name="last")(y)
    turned = keras.layers.Permute((3, 1, 2), name="turned")(y)
    logits = pooled(keras.layers.Permute((2, 3, 1))(turned))
    model = keras.Model(x, logits)
    inputs = images().transpose(0, 3, 1, 2)
    expected = grad_cam(model, inputs, "last", 0)
    found = grad_cam(model, inputs, "turned", 0, data_format="channels_first")
    assert found.shape == (2, H, W)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kernel", [np.zeros((C, CLASSES)), np.ones((C, CLASSES))])
def test_without_a_gradient_or_an_activation_maps_are_0(kernel):
    x = keras.Input((H, W, 3))
    y = keras.layers.Conv2D(C, 1, name="last")(x)
    dead = keras.layers.ReLU(negative_slope=0.0, name="dead")(y - 1e6)
    model = keras.Model(x, pooled(dead, kernel))
    for layer in ("last", "dead"):
        found = grad_cam(model, images(), layer, 0)
        np.testing.assert_array_equal(found, np.zeros((2, H, W)))


def test_half_precision():
    x = keras.Input((H, W, 3))
    y = keras.layers.Conv2D(C, 1, name="last", dtype="mixed_bfloat16")(x)
    found = grad_cam(keras.Model(x, pooled(y)), images(), "last", 0)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


# ----------------------------------------------------------------------- what it leaves


def test_the_model_is_as_before():
    x = keras.Input((H, W, 3))
    model = keras.Model(x, pooled(Residual(name="block")(x)))
    before = ops.convert_to_numpy(model(images()))
    grad_cam(model, images(), "inner")
    with pytest.raises(ValueError, match="`classes`"):
        grad_cam(model, images(), "inner", CLASSES)
    assert "call" not in vars(model.get_layer("block").inner)
    np.testing.assert_array_equal(ops.convert_to_numpy(model(images())), before)


# ------------------------------------------------------------------------------- errors


def classifier():
    x = keras.Input((H, W, 3))
    shared = keras.layers.Conv2D(3, 1, name="twice")
    y = keras.layers.Conv2D(C, 1, name="last")(shared(shared(x)))
    return keras.Model(x, pooled(y))


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ("nowhere", r"exactly one of \['dense.*fitting=0"),
        ("twice", "must be called once and return a map"),
        ("dense", "must be called once and return a map"),
    ],
)
def test_layers_without_one_map_are_refused(layer, message):
    model = classifier()
    layer = model.layers[-1].name if layer == "dense" else layer
    with pytest.raises(ValueError, match=message):
        grad_cam(model, images(), layer)


@pytest.mark.parametrize("classes", [-1, CLASSES, [0, 1, 2], 0.5, [0, CLASSES]])
def test_classes_must_exist(classes):
    with pytest.raises(ValueError, match=r"from 0 to 5\. Received: classes="):
        grad_cam(classifier(), images(), "last", classes)


def test_models_of_other_outputs_are_refused():
    x = keras.Input((H, W, 3))
    y = keras.layers.Conv2D(C, 1, name="last")(x)
    with pytest.raises(ValueError, match=r"scores of the shape \(B, classes\)"):
        grad_cam(keras.Model(x, y), images(), "last")
    with pytest.raises(ValueError, match="`data_format` must be one of"):
        grad_cam(classifier(), images(), "last", data_format="channels")
