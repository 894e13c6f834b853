"""What CTC logits say: the best alignment, or the best text by a prefix search.

Both run inside the graph on every backend, under XLA and for any batch and length, for
which TensorFlow's own operations have no kernels but on CPU.
"""

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

from keras import ops

from keras_attention.decoding.hypotheses import Decoded
from keras_attention.decoding.loop import while_loop
from keras_attention.errors import positive_integer, require

Tensor = Any


def ctc_greedy_search(
    logits: Tensor,
    mask: Tensor | None = None,
    blank: int = 0,
    pad_token: int = 0,
    without: Sequence[int] = (),
) -> Decoded:
    """The text of the most probable alignment: repeats merged, blanks left out.

    Another text can be more probable, by the sum over its alignments; see
    `ctc_beam_search`.

    Shapes:
        B batch, S frames, V classes.

    Args:
        logits: `(B, S, V)`.
        mask: `(B, S)`, True = a real frame; by default all are. What the others hold,
            even NaN, is not seen.
        blank: Class of the blank.
        pad_token: Fills a text after its end.
        without: Classes that no text has, such as the start and end tokens of a
            decoder: what a model gives them goes to the others.

    Returns:
        A `Decoded` of one text for each item, `(B, 1, S)`, with no end token; its
        log-probability and score are those of the alignment.

    Examples:
        Frames that say b, a, a, nothing, a:

        >>> from keras import ops
        >>> from keras_attention.decoding import ctc_greedy_search
        >>> logits = 9 * ops.one_hot(ops.array([[2, 1, 1, 0, 1]]), 3)
        >>> found = ctc_greedy_search(logits)
        >>> ops.convert_to_numpy(found.tokens).tolist()
        [[[2, 1, 1, 0, 0]]]

    Source:
        Graves et al. 2006, "Connectionist temporal classification", section 3.2.
    """
    frames = log_frames(logits, mask, blank, without)
    best = ops.cast(ops.argmax(frames, axis=-1), "int32")  # (B, S)
    before = ops.pad(best[:, :-1], [[0, 0], [1, 0]], constant_values=blank)
    says = ops.logical_and(best != blank, best != before)
    places = ops.arange(ops.shape(best)[1], dtype="int32")
    order = ops.argsort(ops.where(says, places, places + ops.shape(best)[1]), axis=1)
    lengths = ops.sum(ops.cast(says, "int32"), axis=1)
    tokens = ops.take_along_axis(best, ops.cast(order, "int32"), axis=1)
    tokens = ops.where(places < lengths[:, None], tokens, pad_token)
    total = ops.sum(ops.max(frames, axis=-1), axis=1)[:, None]
    return Decoded(tokens[:, None], lengths[:, None], total, total)


def ctc_beam_search(
    logits: Tensor,
    mask: Tensor | None = None,
    num_beams: int = 8,
    num_return: int = 1,
    blank: int = 0,
    pad_token: int = 0,
    max_length: int | None = None,
    without: Sequence[int] = (),
) -> Decoded:
    """The most probable texts, alignments of a text counted together.

    Goes through the frames with the `num_beams` best prefixes, each with its
    probability to have ended in a blank and in its last token. With as many beams as
    there are texts the search is exhaustive. Time
    `O(B S (K V log K + K^2 (V + max_length)))`.

    Shapes:
        B batch, S frames, V classes, K `num_beams`, n `num_return`.

    Args:
        logits: `(B, S, V)`.
        mask: `(B, S)`, True = a real frame; by default all are. What the others hold,
            even NaN, is not seen.
        num_beams: Prefixes kept for each item.
        num_return: Texts returned for each item, at most `num_beams`.
        blank: Class of the blank.
        pad_token: Fills a text after its end.
        max_length: Most tokens of a text; by default as many as there are frames.
        without: Classes that no text has, as in `ctc_greedy_search`.

    Returns:
        A `Decoded` of `n` texts for each item, `(B, n, max_length)`, with no end token,
        the best first. Log-probabilities and scores are those of the texts, as far as
        the beam kept their alignments.

    Raises:
        ValueError: sizes that are not positive, or `num_return` above `num_beams`.

    Examples:
        Two frames of which each is rather nothing, 0.6, than an a, 0.4: the best
        alignment is empty (0.36), and yet an a (0.64) is more probable.

        >>> from keras import ops
        >>> from keras_attention.decoding import ctc_beam_search
        >>> found = ctc_beam_search(ops.log(ops.array([[[0.6, 0.4], [0.6, 0.4]]])))
        >>> ops.convert_to_numpy(found.tokens).tolist()
        [[[1, 0]]]
        >>> round(float(ops.exp(found.scores[0, 0])), 2)
        0.64

    Source:
        Graves 2012, "Supervised sequence labelling with recurrent neural networks",
        section 7.5.3; in this form Hannun et al. 2014, arXiv:1408.2873, algorithm 1,
        without a language model.
    """
    positive_integer("num_beams", num_beams)
    require(
        positive_integer("num_return", num_return) <= num_beams,
        "`num_return` must be at most `num_beams`.",
        num_return=num_return,
        num_beams=num_beams,
    )
    frames = log_frames(logits, mask, blank, without)
    batch_size, count = ops.shape(frames)[:2]
    if max_length is not None:
        positive_integer("max_length", max_length)
    length = count if max_length is None else max_length
    carry = (
        ops.convert_to_tensor(0, dtype="int32"),
        _Prefixes.empty((batch_size, num_beams), length, pad_token),
    )
    _, found = while_loop(
        lambda index, _: index < count,
        lambda index, found: (
            index + 1,
            found.read(ops.take(frames, index, axis=1), blank),
        ),
        carry,
    )
    scores, order = ops.top_k(found.total, num_return)
    exists = scores > -inf
    found = found.taken(ops.cast(order, "int32"))
    return Decoded(
        tokens=ops.where(exists[..., None], found.tokens, pad_token),
        lengths=ops.where(exists, found.lengths, 0),
        log_probabilities=scores,
        scores=scores,
    )


def log_frames(
    logits: Tensor, mask: Tensor | None, blank: int, without: Sequence[int] = ()
) -> Tensor:
    """Log-probabilities `(B, S, V)` of every frame; padding is surely the blank.

    So is it heard by nobody: a sure blank changes the probability of no text.

    Args:
        logits: `(B, S, V)`.
        mask: `(B, S)`, True = a real frame, or `None`.
        blank: Class of the blank.
        without: Classes that no frame has.
    """
    logits = ops.cast(logits, "float32")
    classes = ops.arange(logits.shape[-1], dtype="int32")
    for token in without:
        logits = ops.where(classes == token, -inf, logits)
    frames = ops.log_softmax(logits, axis=-1)
    if mask is None:
        return frames
    surely_blank = ops.where(classes == blank, 0.0, -inf)
    return ops.where(ops.cast(mask, "bool")[..., None], frames, surely_blank)


class _Prefixes(NamedTuple):
    """Prefixes of the texts of each item, no two alike, K places.

    One with a probability of 0 is not there.
    """

    tokens: Tensor  # (B, K, L) int32
    lengths: Tensor  # (B, K) int32
    blank: Tensor  # (B, K) log-probability, the last frame a blank
    label: Tensor  # (B, K) log-probability, the last frame the last token

    @classmethod
    def empty(cls, shape: tuple, length: Any, pad_token: int) -> "_Prefixes":
        """One empty prefix of each item; the other places are free."""
        never = ops.full(shape, -inf, dtype="float32")
        first = ops.arange(shape[1]) == 0
        return cls(
            tokens=ops.full((*shape, length), pad_token, dtype="int32"),
            lengths=ops.zeros(shape, dtype="int32"),
            blank=ops.where(first, 0.0, never),
            label=never,
        )

    @property
    def total(self) -> Tensor:
        return ops.logaddexp(self.blank, self.label)

    def taken(self, index: Tensor) -> "_Prefixes":
        """The prefixes at `index` `(B, n)` of each item."""
        tokens = ops.take_along_axis(self.tokens, index[..., None], axis=1)
        rest = (ops.take_along_axis(field, index, axis=1) for field in self[1:])
        return _Prefixes(tokens, *rest)

    def read(self, frame: Tensor, blank: int) -> "_Prefixes":
        """The best prefixes after one more frame `(B, V)`."""
        classes, beams = ops.arange(ops.shape(frame)[1]), ops.shape(self.lengths)[1]
        last = self._last()  # (B, K), -1 before the first token
        is_last = classes == last[..., None]  # (B, K, V)
        # A token that is said again without a blank between is the same one still.
        before = ops.where(is_last, self.blank[..., None], self.total[..., None])
        grown = before + frame[:, None]
        is_full = self.lengths >= ops.shape(self.tokens)[2]
        never = ops.logical_or(classes == blank, is_full[..., None])
        grown = ops.where(never, -inf, grown)
        into, known = self._grown_into(last, is_last)
        said = ops.take_along_axis(frame, ops.maximum(last, 0), axis=1)
        said = ops.where(last < 0, -inf, said)
        gained = ops.where(into[..., None], grown[:, None], -inf)  # (B, K, K, V)
        gained = ops.where(is_last[:, :, None], gained, -inf)
        stays = self._replace(
            blank=self.total + frame[:, blank, None],
            label=ops.logaddexp(self.label + said, ops.logsumexp(gained, axis=(2, 3))),
        )
        grown = ops.reshape(ops.where(known, -inf, grown), (ops.shape(frame)[0], -1))
        candidates = ops.concatenate([stays.total, grown], axis=1)
        best, index = ops.top_k(candidates, beams)
        return stays._continued(best, ops.cast(index, "int32"), ops.shape(frame)[1])

    def _last(self) -> Tensor:
        """The last token of every prefix, -1 where there is none."""
        place = ops.maximum(self.lengths - 1, 0)[..., None]
        last = ops.take_along_axis(self.tokens, place, axis=2)[..., 0]
        return ops.where(self.lengths > 0, last, -1)

    def _grown_into(self, last: Tensor, is_last: Tensor) -> tuple[Tensor, Tensor]:
        """Which prefix is which other one and one token more.

        Returns:
            `(B, K, K)`: the first is there and is the second, grown; `(B, K, V)`:
            growing by that token gives a prefix that is there.
        """
        places = ops.arange(ops.shape(self.tokens)[2], dtype="int32")
        alike = self.tokens[:, :, None] == self.tokens[:, None]  # (B, K, K, L)
        alike = ops.logical_or(alike, places >= self.lengths[:, None, :, None])
        longer = self.lengths[:, :, None] == self.lengths[:, None] + 1
        into = ops.logical_and(ops.all(alike, axis=-1), longer)
        into = ops.logical_and(into, (self.total > -inf)[..., None])
        known = ops.logical_and(into[..., None], is_last[:, :, None])
        return into, ops.any(known, axis=1)

    def _continued(self, best: Tensor, index: Tensor, size: Any) -> "_Prefixes":
        """Prefixes by `index` into those that stay and then those that grow."""
        beams = ops.shape(self.lengths)[1]
        grows = index >= beams
        step = ops.maximum(index - beams, 0)
        parents = ops.where(grows, step // size, index)
        after = self.taken(parents)
        places = ops.arange(ops.shape(self.tokens)[2], dtype="int32")
        here = ops.logical_and(places == after.lengths[..., None], grows[..., None])
        return _Prefixes(
            tokens=ops.where(here, (step % size)[..., None], after.tokens),
            lengths=after.lengths + ops.cast(grows, "int32"),
            blank=ops.where(grows, -inf, after.blank),
            label=ops.where(grows, best, after.label),
        )
