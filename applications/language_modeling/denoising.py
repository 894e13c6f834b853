"""Rows of tokens made into pairs: a damaged source, and what a model must write.

Both transforms take spans out of a row and put one token in the place of each. They are
for `tf.data`, and what they do follows from a seed alone.
"""

import dataclasses

import tensorflow as tf

from applications.errors import require, require_positive
from applications.language_modeling.spans import (
    composition,
    merged,
    place,
    poisson_lengths,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpanCorruption:
    """T5's objective: write the spans that are missing, each after its sentinel.

    Of `L` tokens `noise_density` are taken out, rounded, at least one, in spans of
    random lengths that are `mean_span` in the mean. The sentinel `first_sentinel + i`
    stands for span `i` in the source and before it in the target. The end token is what
    the paper's last sentinel is, as in its authors' models.

    Args:
        first_sentinel: The id of the first sentinel.
        num_sentinels: The most spans of a row.
        start: The id that the target begins with.
        end: The id that closes source and target.
        noise_density: The share of tokens that is taken out, in (0, 0.5].
        mean_span: Tokens of a span in the mean, 1 or more.

    Call args:
        ids: Integers `(L,)`, without padding.
        seed: int32 `(2,)`. The same seed and ids give the same.

    Returns:
        `{"source": (S,), "target": (T,)}` int32. How long they are follows from `L`.

    Raises:
        ValueError: A share or length is out of its range.

    Source:
        Raffel et al., 2020, arXiv:1910.10683, sections 3.1.4 and 3.3.4. There a row
        never begins with a span and always ends with one; here spans may be anywhere,
        with a token between any two.
    """

    first_sentinel: int
    num_sentinels: int
    start: int
    end: int
    noise_density: float = 0.15
    mean_span: float = 3.0

    def __post_init__(self):
        _check(self.noise_density, self.mean_span)
        require_positive(self, "num_sentinels")

    def __call__(self, ids: tf.Tensor, seed: tf.Tensor) -> dict[str, tf.Tensor]:
        ids = tf.cast(ids, tf.int32)
        of_lengths, of_places = tf.unstack(tf.random.split(seed, 2))
        noise = _noise(tf.size(ids), self.noise_density)
        count = tf.cast(tf.round(tf.cast(noise, tf.float32) / self.mean_span), tf.int32)
        count = tf.clip_by_value(count, 1, self.num_sentinels)
        lengths = composition(noise, count, of_lengths)
        spans = place(tf.size(ids), lengths, of_places)
        numbers = tf.range(tf.size(lengths))
        sentinels = self.first_sentinel + numbers
        taken = tf.gather(ids, spans.taken)
        of_span = tf.repeat(numbers, lengths)
        target = merged(sentinels, 2 * numbers, taken, 2 * of_span + 1)
        return {
            "source": _closed(spans.replaced(ids, sentinels), self.end),
            "target": tf.concat([[self.start], _closed(target, self.end)], axis=0),
        }


@dataclasses.dataclass(frozen=True, kw_only=True)
class Denoising:
    """BART's objective: write the whole row, from what is left of it.

    In the source, sentences are shuffled and one mask stands for each missing span.
    Lengths of spans are drawn from a Poisson distribution until `noise_density` of all
    tokens are taken out; one of length 0 puts a mask between two tokens.

    Args:
        mask_id: The id that stands for a span.
        sentence_ends: Ids that close a sentence: of `.`, `!` and `?`, for example.
        start: The id that the target begins with.
        end: The id that closes source and target.
        noise_density: The share of tokens that is taken out, in (0, 0.5].
        mean_span: Mean of the Poisson distribution, 1 or more.
        permute_sentences: Whether sentences are shuffled.

    Call args:
        ids: Integers `(L,)`, without padding.
        seed: int32 `(2,)`. The same seed and ids give the same.

    Returns:
        `{"source": (S,), "target": (L + 2,)}` int32.

    Raises:
        ValueError: A share or length is out of its range.

    Source:
        Lewis et al., 2020, arXiv:1910.13461, section 2.2: text infilling and sentence
        permutation, the pair its large model was trained with. Here there is a token
        between any two spans.
    """

    mask_id: int
    sentence_ends: tuple[int, ...]
    start: int
    end: int
    noise_density: float = 0.3
    mean_span: float = 3.0
    permute_sentences: bool = True

    def __post_init__(self):
        _check(self.noise_density, self.mean_span)

    def __call__(self, ids: tf.Tensor, seed: tf.Tensor) -> dict[str, tf.Tensor]:
        ids = tf.cast(ids, tf.int32)
        seeds = tf.unstack(tf.random.split(seed, 3))
        source = self._permuted(ids, seeds[0]) if self.permute_sentences else ids
        noise = _noise(tf.size(ids), self.noise_density)
        lengths = poisson_lengths(noise, self.mean_span, seeds[1])
        spans = place(tf.size(ids), lengths, seeds[2])
        masks = tf.fill([tf.size(lengths)], self.mask_id)
        return {
            "source": _closed(spans.replaced(source, masks), self.end),
            "target": tf.concat([[self.start], _closed(ids, self.end)], axis=0),
        }

    def _permuted(self, ids: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        """The same sentences in another order; the last may have no end."""
        ends = tf.constant(self.sentence_ends, tf.int32)
        is_end = tf.reduce_any(ids[:, None] == ends, axis=1)
        numbers = tf.cumsum(tf.cast(is_end, tf.int32), exclusive=True)
        count = tf.reduce_max(tf.concat([[0], numbers + 1], axis=0))
        order = tf.random.experimental.stateless_shuffle(tf.range(count), seed)
        return tf.gather(ids, tf.argsort(tf.gather(order, numbers), stable=True))


def _noise(length: tf.Tensor, density: float) -> tf.Tensor:
    """How many tokens are taken out: at least one, and not the last that is left."""
    wanted = tf.cast(tf.round(tf.cast(length, tf.float32) * density), tf.int32)
    return tf.maximum(tf.minimum(tf.maximum(wanted, 1), length - 1), 0)


def _closed(ids: tf.Tensor, end: int) -> tf.Tensor:
    return tf.concat([ids, [end]], axis=0)


def _check(noise_density: float, mean_span: float) -> None:
    """Refuse what leaves too few tokens to stand between spans."""
    require(
        0 < noise_density <= 0.5,
        "`noise_density` must be in (0, 0.5].",
        noise_density=noise_density,
    )
    require(mean_span >= 1, "`mean_span` must be 1 or more.", mean_span=mean_span)
