import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import costs, interpretation, losses, models
from keras_attention.models.masked_lm import AtPlaces
from tests.backend import mask_of, tensor, tensorflow_only, to_numpy, with_mask
from tests.keras_attention.models import toys

B, T, M, V, D, N, F = 3, 7, 4, 13, 16, 2, 20
LENGTHS = np.array([4, 7, 2])
REAL = np.arange(T) < LENGTHS[:, None]
TOKENS = np.where(REAL, np.random.default_rng(0).integers(3, V, (B, T)), 0)
PLACES = np.array([[0, 3, 1, 0], [6, 2, 5, 1], [1, 0, 0, 0]], "int32")
KINDS = {
    "learned": {},
    "post_norm": {"positions": "sinusoidal", "normalize_first": False},
    "rotary": {"positions": "rotary"},
    "relative": {"positions": "relative"},
    "linear": {"attention": "linear"},
    "linformer": {
        "attention": "linformer",
        "attention_options": {"max_sequence_length": T, "projected_length": 3},
    },
}


def make(**options):
    sizes = {"num_layers": 1, "num_heads": N, "hidden_dim": D, "intermediate_dim": F}
    return models.MaskedLM(V, **{**sizes, "max_sequence_length": T, **options})


def logits(model, tokens=TOKENS, places=PLACES):
    return to_numpy(model({"tokens": tokens, "positions": places}))


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    return toys.sharpened(make(**KINDS[request.param]))


def test_logits_are_the_head_of_what_stands_at_the_places():
    model = toys.sharpened(make())
    assert model.output_shape == (None, None, V)
    hidden = to_numpy(model.hidden(TOKENS))
    x = np.take_along_axis(hidden, PLACES[..., None], axis=1)
    x = model.get_layer("head_norm")(model.get_layer("head_dense")(x))
    expected = to_numpy(x) @ to_numpy(model.embedding.embeddings).T
    np.testing.assert_allclose(logits(model), expected, rtol=1e-5, atol=1e-4)


def test_padding_changes_nothing(model):
    together = logits(model)
    for row, length in enumerate(LENGTHS):
        alone = logits(model, TOKENS[row : row + 1, :length], PLACES[row : row + 1])
        np.testing.assert_allclose(together[row], alone[0], atol=3e-4)


def test_both_sides_are_seen(model):
    before = logits(model)[1]
    for place in (0, T - 1):
        changed = TOKENS.copy()
        changed[1, place] = 3 + changed[1, place] % 9
        after = logits(model, changed)[1]
        assert (np.abs(after - before).max(axis=-1) > 1e-5).all()


def test_rows_at_places():
    x, layer = tensor(B, T, D), AtPlaces()
    found = layer(with_mask(x, REAL), PLACES)
    expected = np.take_along_axis(to_numpy(x), PLACES[..., None], axis=1)
    np.testing.assert_array_equal(to_numpy(found), expected)
    assert mask_of(found) is None  # a mask of T positions would hide places
    symbolic = layer(keras.Input((None, D)), keras.Input((M,), dtype="int32"))
    assert symbolic.shape == (None, M, D)


def test_capture():
    record = interpretation.capture(
        toys.sharpened(make()), {"tokens": TOKENS, "positions": PLACES}
    )
    scores = record.numpy("block_0/self_attention")
    assert scores.shape == (B, N, T, T)
    sums = np.broadcast_to(REAL[:, None], scores.shape[:3])
    np.testing.assert_allclose(scores.sum(-1), sums, atol=1e-5)


def test_costs():
    model = make()
    specs = {name: (None, size) for name, size in (("tokens", T), ("positions", M))}
    inputs = {
        name: keras.Input(shape[1:], dtype="int32") for name, shape in specs.items()
    }
    report = costs.report(model, batch=B, inputs=inputs)
    attention, dense, norms = 4 * (D * D + D), 2 * D * F + F + D, 3 * 2 * D
    head = D * D + D + 2 * D
    assert report.total.parameters == (V + T) * D + attention + dense + norms + head
    reading = B * T * (4 * D * D + 2 * T * D + 2 * D * F)
    assert report.total.multiply_adds == reading + B * M * (D * D + D * V)


@tensorflow_only
def test_only_the_places_meet_the_vocabulary():
    import tensorflow as tf

    model = make()

    def run(tokens, places):
        return model({"tokens": tokens, "positions": places})

    graph = tf.function(run, autograph=False).get_concrete_function(
        tf.TensorSpec((B, T), "int32"), tf.TensorSpec((B, M), "int32")
    )
    tensors = [x for op in graph.graph.get_operations() for x in op.outputs]
    wide = {tuple(x.shape) for x in tensors if x.shape.rank and x.shape[-1] == V}
    assert (B, M, V) in wide
    assert not [shape for shape in wide if T in shape or B * T in shape]


def test_padding_places_count_nothing_with_weights():
    """What stands in for missing places has the weight 0: the loss is as without."""
    model, loss = make(), losses.MaskedCrossentropy()
    weights = np.array([[1, 1, 0, 0]] * B, "float32")
    labels = np.full((B, M), 5)
    whole = loss(labels, ops.convert_to_tensor(logits(model)), weights)
    fewer = logits(model, places=PLACES[:, :2])
    expected = loss(labels[:, :2], ops.convert_to_tensor(fewer))
    np.testing.assert_allclose(to_numpy(whole), to_numpy(expected), rtol=1e-5)


class Twice:
    """Random words said twice, each hidden in one place: the other has the answer."""

    mask, length = 1, 5

    def __init__(self, count, seed):
        random = np.random.default_rng(seed)
        words = random.integers(3, V, (count, self.length))
        self.words = np.concatenate([words, words], axis=1)
        halves = random.integers(0, 2, words.shape)
        self.places = np.arange(self.length) + self.length * halves
        self.tokens = self.words.copy()
        np.put_along_axis(self.tokens, self.places, self.mask, axis=1)
        self.labels = np.take_along_axis(self.words, self.places, axis=1)
        self.elsewhere = (self.places + self.length) % (2 * self.length)

    @property
    def inputs(self):
        return {"tokens": self.tokens, "positions": self.places}


@tensorflow_only
@pytest.mark.slow
def test_learns_to_fill_in_and_looks_where_the_answer_is():
    size = {"hidden_dim": 32, "intermediate_dim": 64}
    model = make(**size, max_sequence_length=2 * Twice.length)
    steps, batch = 300, 64
    examples, test = Twice(steps * batch, seed=0), Twice(200, seed=1)
    schedule = keras.optimizers.schedules.CosineDecay(5e-3, steps)
    adam = keras.optimizers.Adam(schedule, clipnorm=1.0)
    model.compile(adam, losses.MaskedCrossentropy())
    inputs, labels = examples.inputs, examples.labels
    model.fit(inputs, labels, batch, shuffle=False, verbose=0)
    found = to_numpy(model(test.inputs)).argmax(-1)
    assert (found == test.labels).mean() > 0.95
    record = interpretation.capture(model, test.inputs)
    looked = record.numpy("self_attention").argmax(-1)  # (B, N, T)
    at = np.take_along_axis(looked, test.places[:, None], axis=2)
    shares = (at == test.elsewhere[:, None]).mean(axis=(0, 2))
    print(f"looked at the same word elsewhere: {shares} by head")
    assert shares.max() > 0.8
