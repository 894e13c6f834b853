"""Captioners of every kind, small, and a task that only attention solves."""

import keras
import numpy as np
from keras import ops

from keras_attention import losses, models
from tests.backend import BACKEND, compiled, to_numpy
from tests.keras_attention.models import toys
from tests.keras_attention.models.toys import TARGET, VOCABULARY

B, D, N, LENGTH = 3, 12, 2, 4
SHAPE, GRID = (8, 12, 3), (2, 3)
PLACES = GRID[0] * GRID[1]
CNN = {"filters": (4, 8), "blocks_per_stage": 1}
VIT = {
    "patch_size": 4,
    "num_layers": 1,
    "num_heads": N,
    "hidden_dim": 8,
    "intermediate_dim": 16,
}
SEES = {
    "cnn": {"encoder": "cnn", "encoder_options": CNN},
    "vit": {"encoder": "vit", "encoder_options": VIT, "positions": "learned"},
}
WRITES = {
    "gru": {"decoder": "gru"},
    "luong": {"decoder_options": {"attention": "general", "order": "luong"}},
    "none": {"decoder_options": {"attention": "none"}},
    "transformer": {
        "decoder": "transformer",
        "decoder_options": {"num_layers": 2, "num_heads": N, "intermediate_dim": 16},
    },
}
KINDS = {
    "gru": {**SEES["cnn"], **WRITES["gru"]},
    "luong": {**SEES["vit"], **WRITES["luong"]},
    "none": {**SEES["cnn"], **WRITES["none"]},
    "transformer": {**SEES["vit"], **WRITES["transformer"]},
}
IMAGES = np.random.default_rng(0).integers(0, 256, (B, *SHAPE)).astype("uint8")


def make(kind="gru", **options):
    return models.ImageCaptioner(VOCABULARY, SHAPE, D, **{**KINDS[kind], **options})


def logits(model, images=IMAGES, target=TARGET):
    return to_numpy(model({"image": images, "target": target}))


def steps(model, images=IMAGES):
    """Logits `(B, T, V)` step by step."""
    state = model.initial_state(images, LENGTH + 2)
    found = []
    for t in range(LENGTH):
        step, state = model.step(ops.convert_to_tensor(TARGET[:, t]), state)
        found.append(to_numpy(step))
    return np.stack(found, axis=1)


def decoder(model, search, scores=True):
    """A function of images, compiled once for any number of them where that can be.

    It gives tokens `(B, n, L)`, lengths and scores `(B, n)`, and with `scores` what the
    steps looked at `(B, n, N, L, places)`.
    """

    def run(images):
        state = model.initial_state(images, search.max_length, scores)
        keep = (lambda state: state["attention_scores"]) if scores else None
        found = search.search(model.step, state, ops.shape(images)[0], keep=keep)
        return found.tokens, found.lengths, found.scores, found.kept

    if BACKEND == "tensorflow":
        import tensorflow as tf

        any_size = tf.TensorSpec((None, *model.input["image"].shape[1:]), "uint8")
        run = tf.function(run, input_signature=[any_size], autograph=False)
    else:
        run = compiled(run)

    def decode(images):
        found = run(ops.convert_to_tensor(images))
        return [None if x is None else to_numpy(x) for x in found]

    return decode


# ------------------------------------------------------------------ a task to be learnt

BAG = {**VIT, "patch_size": 2, "hidden_dim": 16, "pooling": "mean", "positions": "none"}


def spots(count, seed):
    """Noise with one bright patch of six; its caption is its row and its column."""
    random = np.random.default_rng(seed)
    pixels = random.uniform(0, 120, (count, GRID[0], 2, GRID[1], 2))
    row, column = (random.integers(0, size, count) for size in GRID)
    pixels[np.arange(count), row, :, column] += 130
    first, last = (np.full(count, token) for token in (toys.START, toys.END))
    caption = np.stack([first, 3 + row, 5 + column, last], axis=1).astype("int32")
    images = pixels.reshape(count, 2 * GRID[0], 2 * GRID[1], 1).astype("uint8")
    return images, caption, row, column


def trained(steps=150, batch_size=32, **options):
    """A captioner whose encoder sees patches and not where they are."""
    shape = (2 * GRID[0], 2 * GRID[1], 1)
    model = models.ImageCaptioner(8, shape, 16, "vit", BAG, **options)
    images, caption, *_ = spots(steps * batch_size, seed=0)
    schedule = keras.optimizers.schedules.CosineDecay(1e-2, steps)
    model.compile(
        keras.optimizers.Adam(schedule, clipnorm=1.0),
        losses.MaskedCrossentropy(),
        jit_compile=False,
    )
    model.fit(
        {"image": images, "target": caption[:, :-1]},
        caption[:, 1:],
        batch_size=batch_size,
        shuffle=False,
        verbose=0,
    )
    return model


def share_told(model, search):
    images, caption, *_ = spots(200, seed=1)
    tokens = decoder(model, search, scores=False)(images)[0][:, 0]
    return (tokens[:, :3] == caption[:, 1:]).all(axis=1).mean()


def shares_on_the_spot(model):
    """What the best head of each word gives to the patch the caption is about."""
    images, caption, row, column = spots(200, seed=1)
    scores = to_numpy(model.cross_attention_scores(images, caption[:, :2]))
    maps = scores.reshape(*scores.shape[:3], *GRID)
    return maps[np.arange(200), :, :, row, column].mean(axis=0).max(axis=0)
