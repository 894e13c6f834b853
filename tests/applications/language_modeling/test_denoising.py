import itertools

import pytest
import tensorflow as tf

from applications.language_modeling.denoising import Denoising, SpanCorruption
from tests.backend import thorough_but

START, END, MASK, STOP = 1, 2, 900, 14
FIRST = 500
CORRUPTION = SpanCorruption(
    first_sentinel=FIRST, num_sentinels=100, start=START, end=END
)
DENOISING = Denoising(mask_id=MASK, sentence_ends=(STOP,), start=START, end=END)


def rows(transform, ids, count):
    """Source and target for each of so many seeds, as lists, out of a graph."""
    return pairs(transform, count, lambda _: tf.constant([*ids]))


def pairs(transform, count, ids_of):
    seeds = tf.data.Dataset.range(count, output_type=tf.int32)
    made = seeds.map(lambda n: transform(ids_of(n), tf.stack([3, n])))
    return [
        (pair["source"].tolist(), pair["target"].tolist())
        for pair in made.as_numpy_iterator()
    ]


def restored(source, target):
    """Put the spans that a target writes into the places of their sentinels."""
    spans = {}
    for token in target[1:-1]:
        if token >= FIRST:
            spans[current := token] = []
        else:
            spans[current].append(token)
    return [n for token in source[:-1] for n in spans.get(token, [token])], spans


def test_a_target_has_just_what_its_source_lacks():
    ids = list(range(20, 120))
    for source, target in rows(CORRUPTION, ids, 10):
        assert (source[-1], target[0], target[-1]) == (END, START, END)
        row, spans = restored(source, target)
        assert row == ids
        assert list(spans) == [FIRST + n for n in range(5)]  # 15 tokens, mean 3
        assert all(spans.values())
        assert sum(map(len, spans.values())) == 15
        assert (len(source), len(target)) == (100 - 15 + 5 + 1, 15 + 5 + 2)


def test_sentinels_are_in_order_with_tokens_between():
    for source, _ in rows(CORRUPTION, range(20, 60), 20):
        places = [n for n, token in enumerate(source) if token >= FIRST]
        assert [source[n] for n in places] == [FIRST + n for n in range(len(places))]
        assert all(b - a > 1 for a, b in itertools.pairwise(places))


def test_few_sentinels_make_longer_spans():
    few = SpanCorruption(first_sentinel=FIRST, num_sentinels=2, start=START, end=END)
    for source, target in rows(few, range(20, 120), 3):
        assert {token for token in source if token >= FIRST} == {FIRST, FIRST + 1}
        assert restored(source, target)[0] == list(range(20, 120))


@pytest.mark.parametrize("density", thorough_but([0.5], [0.1, 0.5]))
def test_short_rows_are_damaged_without_loss(density):
    """Of 0 to 5 tokens."""
    ids = [20, 21, 22, 23, 24]
    corruption = SpanCorruption(
        first_sentinel=FIRST,
        num_sentinels=9,
        start=START,
        end=END,
        noise_density=density,
        mean_span=1.0,
    )
    found = pairs(corruption, 36, lambda n: tf.range(20, 20 + n % 6))
    for number, (source, target) in enumerate(found):
        assert restored(source, target)[0] == ids[: number % 6]
    infilling = Denoising(
        mask_id=MASK, sentence_ends=(), start=START, end=END, noise_density=density
    )
    found = pairs(infilling, 36, lambda n: tf.range(20, 20 + n % 6))
    for number, (source, target) in enumerate(found):
        assert target == [START, *ids[: number % 6], END]
        kept = [n for n in source[:-1] if n != MASK]
        assert kept == [n for n in ids if n in kept]


def test_one_mask_stands_for_each_span():
    plain = Denoising(
        mask_id=MASK,
        sentence_ends=(STOP,),
        start=START,
        end=END,
        permute_sentences=False,
    )
    ids = list(range(20, 120))
    lengths = set()
    for source, target in rows(plain, ids, 30):
        assert target == [START, *ids, END]
        kept = [n for n in source[:-1] if n != MASK]
        assert len(kept) == 70
        assert kept == sorted(kept)
        places = [n for n, token in enumerate(source) if token == MASK]
        assert all(b - a > 1 for a, b in itertools.pairwise(places))
        for place in places:
            before = source[place - 1] if place else 19
            after = source[place + 1] if source[place + 1] != END else 120
            lengths.add(after - before - 1)
    assert {0, 1, 2, 3, 4, 5} <= lengths


def test_sentences_are_shuffled_whole():
    ids = [20, 21, STOP, 22, STOP, 23, 24, 25, STOP, 26]
    shuffled = {
        tuple(DENOISING._permuted(tf.constant(ids), tf.constant([0, n])).numpy())
        for n in range(60)
    }
    sentences = {(20, 21, STOP), (22, STOP), (23, 24, 25, STOP)}
    for row in shuffled:
        assert sorted(row) == sorted(ids)
        rest = row[row.index(26) + 1 :]
        found = " ".join(map(str, row[: row.index(26)] + rest)).split(f" {STOP}")
        whole = {(*map(int, one.split()), STOP) for one in found if one}
        assert whole == sentences
    assert len(shuffled) > 15  # of 24 orders


def test_a_seed_decides_and_nothing_else():
    for transform in (CORRUPTION, DENOISING):
        once, again = (rows(transform, range(20, 120), 4) for _ in range(2))
        assert once == again
        assert len({tuple(source) for source, _ in once}) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise_density": 0.6}, "`noise_density` must be in"),
        ({"noise_density": 0.0}, "`noise_density` must be in"),
        ({"mean_span": 0.5}, "`mean_span` must be 1 or more"),
        ({"num_sentinels": 0}, "`num_sentinels` must be above 0"),
    ],
)
def test_settings_are_checked(change, message):
    right = {"first_sentinel": FIRST, "num_sentinels": 9, "start": START, "end": END}
    with pytest.raises(ValueError, match=message):
        SpanCorruption(**{**right, **change})
