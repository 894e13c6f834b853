import itertools

import numpy as np
import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.text.bucketing import BucketedPairs, padding_waste, token_ids
from applications.text.tokenizer import SubwordTokenizer
from applications.text.vocabulary import END, START

EXAMPLES = 1_009
MAX_LENGTH = 31
TOKENS = 211


@pytest.fixture(scope="module")
def sides():
    """Ids that name their example: source row `i` holds only `i + 1`."""
    random = np.random.default_rng(0)
    lengths = random.gamma(3.0, 4.0, (EXAMPLES, 1)) + random.normal(0, 2, (EXAMPLES, 2))
    lengths = np.clip(lengths, 1, 37).astype(int)
    return tuple(
        tf.RaggedTensor.from_row_lengths(
            np.repeat(np.arange(1, EXAMPLES + 1, dtype=np.int32), side), side
        )
        for side in lengths.T
    )


@pytest.fixture(scope="module")
def pairs(sides):
    return BucketedPairs(*sides, TOKENS, MAX_LENGTH, seed=7)


def arrays(batches):
    return [tuple(side.numpy() for side in batch) for batch in batches]


def equal(ours, theirs):
    return len(ours) == len(theirs) and all(
        np.array_equal(x, y)
        for left, right in zip(ours, theirs, strict=True)
        for x, y in zip(left, right, strict=True)
    )


def test_every_epoch_has_each_pair_once_whole_and_side_by_side(pairs, sides):
    whole = [side.to_list() for side in sides]
    lengths = [max(map(len, rows)) for rows in zip(*whole, strict=True)]
    kept = {i for i, length in enumerate(lengths, 1) if length <= MAX_LENGTH}
    assert 0 < pairs.dropped == EXAMPLES - len(kept)
    for epoch in range(2):
        batches = arrays(pairs.epoch(epoch))
        assert len(batches) == pairs.count
        seen = []
        for source, target in batches:
            assert source[:, 0].tolist() == target[:, 0].tolist()
            seen += source[:, 0].tolist()
            for ids, rows in zip((source, target), whole, strict=True):
                assert all(row[row != 0].tolist() == rows[row[0] - 1] for row in ids)
        assert len(seen) == len(kept) == pairs.examples
        assert set(seen) == kept


def test_batches_depend_on_seed_and_epoch_only(pairs, sides):
    whole = arrays(pairs.epochs(0, 5))
    tf.random.set_seed(1234)
    resumed = arrays(BucketedPairs(*sides, TOKENS, MAX_LENGTH, seed=7).epochs(3, 5))
    assert equal(whole[3 * pairs.count :], resumed)
    assert not equal(whole[: pairs.count], whole[pairs.count : 2 * pairs.count])
    other = BucketedPairs(*sides, TOKENS, MAX_LENGTH, seed=8)
    assert not equal(whole[: pairs.count], arrays(other.epoch(0)))


def test_pairs_meet_other_pairs_in_another_epoch(pairs):
    companions = []
    for epoch in range(2):
        batches = [source[:, 0].tolist() for source, _ in arrays(pairs.epoch(epoch))]
        companions.append({row: set(batch) for batch in batches for row in batch})
    same = sum(companions[0][row] == companions[1][row] for row in companions[0])
    assert same < 0.05 * pairs.examples


def test_batches_are_in_no_order_of_length(pairs):
    widths = [source.shape[1] for source, _ in arrays(pairs.epoch(0))]
    rising = sum(x < y for x, y in itertools.pairwise(widths))
    falling = sum(x > y for x, y in itertools.pairwise(widths))
    assert min(rising, falling) > 0.25 * pairs.count


def test_token_budget_and_few_shapes(pairs):
    batches = arrays(pairs.epochs(0, 2))
    assert max(side.size for batch in batches for side in batch) <= TOKENS
    shapes = {(source.shape, target.shape) for source, target in batches}
    assert len(shapes) < 0.5 * pairs.count


def test_a_text_longer_than_the_budget_gets_a_batch_of_its_own(sides):
    pairs = BucketedPairs(*sides, tokens_per_batch=5, max_length=31)
    assert {len(source) for source, _ in pairs.epoch(0) if source.shape[1] > 5} == {1}


def test_cardinality_is_known(pairs):
    assert pairs.epochs(2, 5).cardinality() == 3 * pairs.count
    assert pairs.epochs(2, 5).element_spec == (
        tf.TensorSpec((None, None), tf.int32),
        tf.TensorSpec((None, None), tf.int32),
    )


def test_padding_waste_counts_both_sides():
    batch = (tf.constant([[1, 2], [1, 0]]), tf.constant([[1, 0, 0, 0], [1, 2, 3, 4]]))
    assert padding_waste([batch, batch]) == 4 / 12


def test_nothing_left_is_refused(sides):
    with pytest.raises(UserError, match="None of 1009 sentence pairs has at most 0"):
        BucketedPairs(*sides, TOKENS, 0)


def test_token_ids_mark_and_cut(model):
    tokenizer = SubwordTokenizer(model)
    rows = tf.data.Dataset.from_tensor_slices(
        {"source": ["Open the file.", ""], "target": ["Die Datei öffnen.", ""]}
    )
    source, target = token_ids(rows, tokenizer)
    assert source[0, -1] == END
    assert (target[0, 0], target[0, -1]) == (START, END)
    assert (source.to_list()[1], target.to_list()[1]) == ([END], [START, END])
    cut, _ = token_ids(rows, tokenizer, max_length=4)
    assert cut.to_list()[0] == [*source.to_list()[0][:3], END]
    with pytest.raises(UserError, match="no sentence pairs"):
        token_ids(rows.take(0), tokenizer)


@pytest.mark.slow
def test_padding_of_the_help_corpus_is_under_the_target(texts):
    from applications.datasets.libreoffice_help import corpus
    from applications.datasets.pairs import split
    from applications.text import vocabulary

    train = split(corpus.read())["train"]
    model = vocabulary.train(
        (text for pair in train for text in (pair.source, pair.target)), 4000
    )
    rows = tf.data.Dataset.from_tensor_slices(
        {name: [getattr(pair, name) for pair in train] for name in ("source", "target")}
    )
    pairs = BucketedPairs(*token_ids(rows, SubwordTokenizer(model)), 2048, 64)
    assert padding_waste(pairs.epoch(0)) < 0.10
    assert pairs.dropped < 0.01 * len(train)


def test_a_length_for_each_side(sides):
    pairs = BucketedPairs(*sides, TOKENS, (20, 12), seed=7)
    for source, target in pairs.epochs(0, 1):
        assert source.shape[1] <= 20
        assert target.shape[1] <= 12
    lengths = np.stack([side.row_lengths() for side in sides], axis=1)
    kept = np.sum((lengths[:, 0] <= 20) & (lengths[:, 1] <= 12))
    assert (pairs.examples, pairs.dropped) == (kept, EXAMPLES - kept)


def test_both_sides_alike_where_sources_have_the_limit():
    """Sources of one length, targets of many: fewer ids of padding, the same pairs."""
    random = np.random.default_rng(0)
    lengths = random.integers(3, 20, EXAMPLES)
    numbers = np.arange(1, EXAMPLES + 1, dtype=np.int32)
    source = tf.RaggedTensor.from_row_lengths(np.repeat(numbers, 30), [30] * EXAMPLES)
    target = tf.RaggedTensor.from_row_lengths(np.repeat(numbers, lengths), lengths)
    plain = BucketedPairs(source, target, 300, 30)
    alike = BucketedPairs(source, target, 300, 30, both_sides=True)
    waste = [padding_waste(pairs.epochs(0, 1)) for pairs in (plain, alike)]
    assert waste[1] < 0.5 * waste[0]
    read = np.concatenate([batch[0][:, 0] for batch in alike.epochs(0, 1)])
    np.testing.assert_array_equal(np.sort(read), numbers)
    first, again = (arrays(alike.epochs(0, 1)) for _ in range(2))
    assert all(equal(one, other) for one, other in zip(first, again, strict=True))
