"""Tasks with a known answer: that the recommenders learn it, and where they look."""

import keras
import numpy as np
import pytest

from keras_attention import models
from keras_attention.interpretation import recording
from keras_attention.losses import MaskedCrossentropy, SampledCrossentropy
from tests.backend import thorough_but, to_numpy

ITEMS, BATCH, STEPS = 16, 64, 200

pytestmark = pytest.mark.slow


def trained(model, loss, inputs, labels):
    """`fit` over all examples once, in their order."""
    schedule = keras.optimizers.schedules.CosineDecay(1e-2, STEPS)
    model.compile(keras.optimizers.Adam(schedule, clipnorm=1.0), loss)
    model.fit(inputs, labels, BATCH, shuffle=False, verbose=0)
    return model


def make(kind, longest, **options):
    sizes = {"hidden_dim": 32, "intermediate_dim": 64, "num_layers": 1}
    return models.SequenceRecommender(
        ITEMS, kind, **{**sizes, "max_sequence_length": longest, **options}
    )


def repeated(count, period, length, seed):
    """Some items over and over: the next one is that of `period - 1` places before."""
    order = np.random.default_rng(seed).random((count, ITEMS)).argsort(axis=1)
    rounds = -(-(length + 1) // period)
    items = np.tile(1 + order[:, :period], rounds)
    labels = items[:, 1 : length + 1].copy()
    labels[:, : period - 1] = 0  # no one can know these
    return items[:, :length], labels


def test_sasrec_learns_what_comes_again_and_looks_where_it_stood():
    period, length = 3, 5  # the item asked for stands in one place only
    items, labels = repeated(STEPS * BATCH, period, length, seed=0)
    model = make("sasrec", length)
    trained(model, MaskedCrossentropy(), {"items": items}, labels)
    items, labels = repeated(200, period, length, seed=1)
    with recording(model) as record:
        found = to_numpy(model.next_scores(items)).argmax(axis=1)
    assert (found == labels[:, -1]).mean() > 0.95
    looked = record.numpy("self_attention")[:, 0, period - 1 :]  # (200, 3, T)
    shares = np.diagonal(looked, axis1=1, axis2=2).mean(axis=0)
    print(f"attention on the place it stood, by place: {shares}")
    assert shares.min() > 0.8


@pytest.mark.parametrize(
    ("kind", "sampled"),
    thorough_but(
        [("gru", True)],
        [
            ("gru", True),
            ("narm", False),
            ("narm", True),
            ("sasrec", True),
            ("bert4rec", False),
            ("bert4rec", True),
        ],
    ),
)
def test_the_others_learn_what_comes_again(kind, sampled):
    """Two items in turn; the negatives are drawn evenly, the target among them."""
    length = 4
    items, labels = repeated(STEPS * BATCH, 2, length, seed=0)
    model = make(kind, length, sampled_softmax=sampled)
    if kind == "bert4rec":
        numbers = np.random.default_rng(2).random(items.shape)
        items, labels = map(to_numpy, models.hide_items(items, numbers, ITEMS + 1))
    inputs, loss = {"items": items}, MaskedCrossentropy()
    if sampled:
        negatives = np.random.default_rng(3).integers(1, ITEMS + 1, (len(items), 6))
        log_q = np.full(negatives.shape, -np.log(ITEMS), "float32")
        inputs |= {"targets": labels, "negatives": negatives, "log_q": log_q}
        loss = SampledCrossentropy()
    trained(model, loss, inputs, labels)
    items, labels = repeated(200, 2, length, seed=1)
    found = to_numpy(model.next_scores(items[:, : length - 1])).argmax(axis=1)
    assert (found == labels[:, length - 2]).mean() > 0.95


def paired(count, length, seed):
    """Items of different pairs; what comes next completes one of them.

    Returns:
        Histories `(count, length)`, the place of the one completed, the other half.
    """
    random = np.random.default_rng(seed)
    pairs = random.random((count, ITEMS // 2)).argsort(axis=1)[:, :length]
    halves = random.integers(0, 2, pairs.shape)
    places = random.integers(0, length, count)
    rows = np.arange(count)
    targets = 1 + 2 * pairs[rows, places] + 1 - halves[rows, places]
    return 1 + 2 * pairs + halves, places, targets


def test_candidates_of_din_look_at_their_other_half():
    length = 5
    items, _, targets = paired(STEPS * BATCH, length, seed=0)
    others = np.broadcast_to(np.arange(1, ITEMS + 1), (len(items), ITEMS))
    inputs = {
        "items": items,
        "targets": targets[:, None],
        "negatives": others,  # all of them: the target is left out by the loss
        "log_q": np.full(others.shape, -np.log(ITEMS), "float32"),
    }
    model = make("din", length, sampled_softmax=True, positions="none")
    trained(model, SampledCrossentropy(), inputs, targets[:, None])
    items, places, targets = paired(200, length, seed=1)
    best = np.argsort(-to_numpy(model.next_scores(items)), axis=1)[:, :length]
    completed = 1 + ((items - 1) ^ 1)
    assert (np.sort(best) == np.sort(completed)).mean() > 0.95
    with recording(model) as record:
        model.scores(items, targets[:, None])
    looked = record.numpy("attention")[np.arange(200), 0, 0, places]
    print(f"attention on the other half: {looked.mean():.2f}")
    assert looked.mean() > 0.8
