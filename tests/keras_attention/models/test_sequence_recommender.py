"""Recommenders: padding, order, scores, both ways to train, lists, reload."""

import keras
import numpy as np
import pytest

from keras_attention import costs, models
from keras_attention.interpretation import capture, recording
from keras_attention.losses import sampled_logits
from keras_attention.models.sequence_recommender import KINDS, hide_items
from tests.backend import tensorflow_only, thorough_but, to_numpy
from tests.keras_attention.models.recommenders import (
    HISTORIES,
    ITEMS,
    LENGTHS,
    LONGEST,
    SAMPLED,
    TARGETS,
    D,
    F,
    N,
    V,
    make,
    sharp,
)

OF_STATES = [kind for kind in KINDS if kind != "din"]


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    keras.utils.set_random_seed(0)
    return sharp(request.param)


def next_scores(model, items):
    """Of every item; those of padding are checked."""
    scores = to_numpy(model.next_scores(np.asarray(items)))
    assert (scores[:, 0] == -np.inf).all()
    assert np.isfinite(scores[:, 1:]).all()
    return scores[:, 1:]


# -------------------------------------------------------------------------- histories


def test_padding_is_not_seen_wherever_it_stands(model):
    together = next_scores(model, HISTORIES)
    assert together.shape == (3, ITEMS)
    for row, length in enumerate(LENGTHS):
        items = HISTORIES[row, :length]
        padded = np.concatenate([[0, 0], items[:1], [0], items[1:], [0]])
        for alone in (items, padded):
            found = next_scores(model, alone[None])[0]
            np.testing.assert_allclose(found, together[row], atol=3e-4)
    assert np.abs(together[0] - together[1]).max() > 1e-2


def test_of_a_long_history_the_last_items_are_read(model):
    items = np.random.default_rng(9).integers(1, V, (2, 2 * LONGEST))
    read = LONGEST - (model.kind == "bert4rec")  # whose question takes a place
    found = next_scores(model, items)
    np.testing.assert_allclose(found, next_scores(model, items[:, -read:]), atol=1e-4)
    changed = items.copy()
    changed[:, -read] = 1 + changed[:, -read] % ITEMS
    assert np.abs(next_scores(model, changed) - found).max() > 1e-3


def test_an_empty_history_gives_numbers(model):
    rows = next_scores(model, np.array([[0, 0, 0], [3, 4, 0]]))
    np.testing.assert_allclose(rows[0], next_scores(model, [[0]])[0], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_order_is_seen(kind):
    items = HISTORIES[1:2, :6]
    for positions in ("learned", "none"):
        model = sharp(kind, positions=positions)
        change = next_scores(model, items[:, ::-1]) - next_scores(model, items)
        # Without positions the transformer of both sides and the candidates see none.
        is_set = positions == "none" and kind in ("bert4rec", "din")
        assert (np.abs(change).max() < 1e-4) == is_set


@pytest.mark.parametrize("kind", OF_STATES)
def test_which_kinds_see_what_comes_later(kind):
    model = sharp(kind)
    changed = HISTORIES.copy()
    changed[1, -1] = 1 + changed[1, -1] % ITEMS
    before, after = (to_numpy(model({"items": x}))[1] for x in (HISTORIES, changed))
    change = np.abs(after - before).max(axis=-1)
    assert change[-1] > 1e-3
    if kind == "bert4rec":
        assert (change[:-1] > 1e-4).all()
    else:
        assert (change[:-1] < 1e-4).all()


# ----------------------------------------------------------------------------- scores


@pytest.mark.parametrize("kind", OF_STATES)
def test_the_next_item_is_scored_as_in_training(kind):
    model = sharp(kind)
    asked, place = HISTORIES, LENGTHS - 1
    if kind == "bert4rec":  # a mask token behind the last six
        asked = HISTORIES.copy()
        asked[1, :6] = HISTORIES[1, 1:]
        place = np.minimum(LENGTHS, 6)
        np.put_along_axis(asked, place[:, None], model.mask_token, axis=1)
    logits = to_numpy(model({"items": asked}))
    assert logits.shape == (3, LONGEST, V)
    expected = logits[np.arange(3), place, 1:]
    np.testing.assert_allclose(next_scores(model, HISTORIES), expected, atol=1e-4)


def test_scores_of_candidates_are_some_of_all(model):
    candidates = np.random.default_rng(0).integers(1, V, (3, 5))
    found = to_numpy(model.scores(HISTORIES, candidates))
    everything = next_scores(model, HISTORIES)
    expected = np.take_along_axis(everything, candidates - 1, axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("kind", OF_STATES)
def test_sampled_logits_are_some_of_all(kind):
    full, sampled = make(kind), make(kind, sampled_softmax=True)
    sampled.set_weights(full.get_weights())
    logits = to_numpy(full({"items": HISTORIES}))
    own = np.take_along_axis(logits, TARGETS[..., None], axis=2)[..., 0]
    negatives = np.repeat(SAMPLED["negatives"][:, None], LONGEST, axis=1)
    others = np.take_along_axis(logits, negatives, axis=2)
    log_q = SAMPLED["log_q"][:, None]
    expected = to_numpy(sampled_logits(own, others, TARGETS, negatives, log_q))
    found = to_numpy(sampled(SAMPLED))
    assert found.shape == (3, LONGEST, 6)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(
        next_scores(sampled, HISTORIES), next_scores(full, HISTORIES), atol=1e-5
    )


@pytest.mark.parametrize("number", [1, 3])
def test_targets_of_din_ask_the_whole_history(number):
    model = sharp("din")
    targets, negatives = TARGETS[:, :number], SAMPLED["negatives"]
    found = to_numpy(model({**SAMPLED, "targets": targets}))
    assert found.shape == (3, number, 6)
    own = model.scores(HISTORIES, targets)
    others = to_numpy(model.scores(HISTORIES, negatives))[:, None]
    others = np.repeat(others, number, axis=1)
    shared = negatives[:, None], SAMPLED["log_q"][:, None]
    expected = to_numpy(sampled_logits(own, others, targets, *shared))
    real = targets > 0
    np.testing.assert_allclose(found[real], expected[real], atol=1e-4)


# ------------------------------------------------------------------------------ lists


def test_c58_nothing_seen_and_no_padding_is_recommended():
    """Items 1 to 6, of which the user has seen 1 to 4; the model reads the last two."""
    model = models.SequenceRecommender(6, "gru", hidden_dim=4, max_sequence_length=2)
    ids, scores = map(to_numpy, model.recommend(np.array([[1, 2, 3, 4, 0]]), k=4))
    assert sorted(ids[0, :2]) == [5, 6]
    assert ids[0, 2:].tolist() == [0, 0]
    assert np.isneginf(scores[0, 2:]).all()
    assert scores[0, 0] >= scores[0, 1] > -np.inf


def test_recommended_are_the_best_scores(model):
    ids, scores = map(to_numpy, model.recommend(HISTORIES, k=3, exclude_seen=False))
    expected = np.sort(next_scores(model, HISTORIES), axis=1)[:, ::-1][:, :3]
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    of_ids = to_numpy(model.scores(HISTORIES, ids))
    np.testing.assert_allclose(of_ids, expected, atol=1e-4)
    for k, message in ((0, "`k` must be a positive"), (V + 1, "`k` must be at most")):
        with pytest.raises(ValueError, match=message):
            model.recommend(HISTORIES, k)


@tensorflow_only
@pytest.mark.parametrize("kind", thorough_but(["bert4rec", "din"], KINDS))
def test_recommendations_of_histories_of_any_size(kind):
    """In a function that knows neither their number nor their length."""
    import tensorflow as tf

    model = sharp(kind)
    signature = [tf.TensorSpec((None, None), "int32")]

    @tf.function(input_signature=signature, autograph=False)
    def run(items):
        return model.recommend(items, k=4)

    for items in (HISTORIES, HISTORIES[:1, :3], np.zeros((2, 1))):
        found = run(tf.cast(items, "int32"))
        for value, expected in zip(found, model.recommend(items, k=4), strict=True):
            np.testing.assert_allclose(value, expected, atol=1e-4)


# --------------------------------------------------------------------------- attention


@pytest.mark.parametrize("kind", ["sasrec", "bert4rec", "narm", "din"])
def test_attention_is_recorded_and_spares_padding(kind):
    model = sharp(kind)
    with recording(model) as record:
        if kind == "din":
            model.scores(HISTORIES, TARGETS[:, :2])
        else:
            model.next_scores(HISTORIES)
    shape = {
        "sasrec": (3, N, LONGEST, LONGEST),
        "bert4rec": (3, N, LONGEST, LONGEST),
        "narm": (3, LONGEST, LONGEST),
        "din": (3, N, 2, LONGEST),
    }[kind]
    names = ["attention"]
    if kind in ("sasrec", "bert4rec"):
        names = ["block_0/self_attention", "block_1/self_attention"]
    assert list(record) == names
    scores = record.numpy(names[-1])
    assert scores.shape == shape
    asked = scores[0, ..., 0, :]  # of a history of 4
    np.testing.assert_allclose(asked.sum(-1), 1, atol=1e-5)
    assert (asked[..., 4 + (kind == "bert4rec") :] == 0).all()


def test_capture():
    record = capture(sharp("sasrec"), {"items": HISTORIES})
    assert len(record) == 2
    assert record.output.shape == (3, LONGEST, V)


# ------------------------------------------------------------- sizes, config and reload


def test_costs():
    model = make("sasrec", num_layers=1)
    report = costs.report(
        model, batch=3, inputs={"items": keras.Input((LONGEST,), dtype="int32")}
    )
    attention, dense, norms = 4 * (D * D + D), 2 * D * F + F + D, 3 * 2 * D
    rows = V + LONGEST
    assert report.total.parameters == rows * D + attention + dense + norms
    reading = 3 * LONGEST * (4 * D * D + 2 * LONGEST * D + 2 * D * F)
    assert report.total.multiply_adds == reading + 3 * LONGEST * D * V


def test_the_attention_of_narm_and_its_decoder_are_what_gru_lacks():
    extra = make("narm").count_params() - make("gru").count_params()
    assert extra == (2 * D * D + D) + D * D


def answer(model):
    return to_numpy(model(SAMPLED if len(model.input) > 1 else {"items": HISTORIES}))


@pytest.mark.parametrize("kind", thorough_but(["sasrec", "din"], KINDS))
def test_the_config_makes_the_same_model(kind):
    model = make(kind, dropout=0.3, item_dropout=0.1, dtype="mixed_bfloat16")
    copy = models.SequenceRecommender.from_config(model.get_config())
    copy.set_weights(model.get_weights())
    np.testing.assert_array_equal(answer(copy), answer(model))
    np.testing.assert_array_equal(
        next_scores(copy, HISTORIES), next_scores(model, HISTORIES)
    )
    assert copy.get_config() == model.get_config()


@pytest.mark.parametrize(
    ("kind", "sampled"),
    thorough_but(
        [("sasrec", True), ("narm", False), ("din", True)],
        [
            (kind, sampled)
            for kind in KINDS
            for sampled in (False, True)
            if sampled or kind != "din"
        ],
    ),
)
def test_a_saved_model_answers_alike(kind, sampled, tmp_path):
    model = sharp(kind, sampled_softmax=sampled)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(answer(loaded), answer(model), atol=1e-6)
    np.testing.assert_allclose(
        next_scores(loaded, HISTORIES), next_scores(model, HISTORIES), atol=1e-6
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "knn"}, "`kind` must be one of 'bert4rec'"),
        ({"num_items": 0}, "`num_items` must be a positive integer"),
        ({"hidden_dim": 0}, "`hidden_dim` must be a positive integer"),
        ({"num_heads": 3}, "`num_heads` must divide"),
        ({"num_layers": 0}, "`num_layers` must be a positive integer"),
        ({"max_sequence_length": 0}, "`max_sequence_length` must be a positive"),
        ({"max_sequence_length": 1, "kind": "bert4rec"}, "must be above 1"),
        ({"positions": "none", "attention": "nothing"}, "must be one of 'additive'"),
        ({"positions": "near"}, "`positions` must be one of"),
        ({"item_dropout": 1.0}, "`item_dropout` must be a number in"),
        ({"kind": "din"}, "train it with `sampled_softmax=True`"),
        ({"kind": "din", "sampled_softmax": True, "num_heads": 3}, "must divide"),
        (
            {"kind": "din", "sampled_softmax": True, "positions": "rotary"},
            "`positions` must be one of 'learned', 'none'",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(options, message):
    options = {"num_items": ITEMS, "hidden_dim": D, **options}
    with pytest.raises(ValueError, match=message):
        models.SequenceRecommender(**options)


# ------------------------------------------------------------------------------- gaps


def test_what_is_hidden_is_the_label():
    items = np.random.default_rng(0).integers(1, V, (200, 9))
    items[:, 7:] = 0
    numbers = np.random.default_rng(1).random(items.shape)
    hidden, labels = map(to_numpy, hide_items(items, numbers, V, share=0.3))
    gaps = hidden == V
    np.testing.assert_array_equal(np.where(gaps, labels, hidden), items)
    np.testing.assert_array_equal(labels != 0, gaps)
    assert gaps[:, :7].mean() == pytest.approx(0.3, abs=0.05)
    assert gaps.any(axis=1).all()


def test_the_last_item_is_hidden_where_no_other_is():
    items = np.array([[3, 4, 0], [3, 0, 4], [0, 0, 0]])
    hidden, labels = map(to_numpy, hide_items(items, np.full((3, 3), 0.9), 9))
    assert hidden.tolist() == [[3, 9, 0], [3, 0, 9], [0, 0, 0]]
    assert labels.tolist() == [[0, 4, 0], [0, 0, 4], [0, 0, 0]]
    alone, _ = hide_items(items[0], np.full(3, 0.9), 9)
    assert to_numpy(alone).tolist() == [3, 9, 0]


def test_only_bert4rec_has_a_mask_token():
    tokens = {kind: make(kind).mask_token for kind in KINDS}
    assert tokens == {**dict.fromkeys(KINDS), "bert4rec": V}
