"""Measures over attention scores: copied words, how even they are, their order."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_attention.errors import require

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")

_WORD_START = "▁"
_BYTE_PIECES = re.compile(r"(?:<0x[0-9A-Fa-f]{2}>)+")
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")


class Word(NamedTuple):
    """A word and the subword pieces it stands on.

    Attributes:
        text: The word without punctuation around it; empty for punctuation alone and
            for special pieces.
        start: Its first piece.
        stop: The piece after its last.
        first: The piece that brings its first letter or digit: after an opening
            bracket, or after a `▁` of its own, not the same as `start`.
        opens_sentence: Whether a sentence begins with it.
    """

    text: str
    start: int
    stop: int
    first: int
    opens_sentence: bool


class CopyAlignment(NamedTuple):
    """How often attention lies at the word that is being copied.

    Attributes:
        words: How many copied words were found. Where 0, all else is NaN.
        heads: Share of each head.
        best_head: Head with the largest share. It was chosen on these very words, so
            over few words its share is a little too high.
        best: Share of that head.
        best_chance: Share of a head that picks a source word at random, mean of `1/W`
            over the copied words, with `W` the words of the source.
        best_any_step: How often that head's largest weight is at the copied word over
            *all* steps of the target. Well above `best_chance` where a head likes long
            or early words whatever it predicts; only what `best` has beyond both is
            alignment.
        some: Share for which at least one head has its largest weight there.
        some_chance: The same for heads that pick at random, independently: mean of
            `1 - (1 - 1/W)^N`. Many heads reach much by chance.
        some_any_step: As `best_any_step`, for at least one head.
    """

    words: int
    heads: tuple[float, ...]
    best_head: int
    best: float
    best_chance: float
    best_any_step: float
    some: float
    some_chance: float
    some_any_step: float


# ------------------------------------------------------------------------------ words


def words(pieces: Sequence[str], special: Collection[str] = SPECIAL) -> list[Word]:
    """The words that SentencePiece pieces spell; special pieces stand alone.

    Args:
        pieces: As SentencePiece writes them: `▁` begins a word, `<0x0A>` is a byte.
        special: Pieces that are no text.

    Examples:
        >>> from keras_attention.interpretation import words
        >>> for word in words(["▁Open", "▁(", "Lib", "re", ")", "</s>"]):
        ...     print(word)
        Word(text='Open', start=0, stop=1, first=0, opens_sentence=True)
        Word(text='Libre', start=1, stop=5, first=2, opens_sentence=False)
        Word(text='', start=5, stop=6, first=5, opens_sentence=False)
    """
    found: list[Word] = []
    opens = True
    for start, stop in _spans(pieces, special):
        if pieces[start] in special:
            found.append(Word("", start, stop, start, False))
            continue
        raw = _spell(pieces[start:stop])
        text = _AROUND.sub("", raw)
        first = start
        if text:
            while not _AROUND.sub("", _spell(pieces[start : first + 1])):
                first += 1
        found.append(Word(text, start, stop, first, opens and bool(text)))
        ends = raw.rstrip("\"')]»”’").endswith((".", "!", "?", ":"))
        opens = ends or (opens and not text)
    return found


def _spans(pieces, special) -> list[tuple[int, int]]:
    starts = [
        index
        for index, piece in enumerate(pieces)
        if index == 0
        or piece.startswith(_WORD_START)
        or piece in special
        or pieces[index - 1] in special
    ]
    return list(pairwise([*starts, len(pieces)]))


def _spell(pieces: Sequence[str]) -> str:
    def decode(match):
        return bytes.fromhex(re.sub("<0x|>", "", match[0])).decode("utf-8", "replace")

    return _BYTE_PIECES.sub(decode, "".join(pieces)).replace(_WORD_START, "")


def copied_words(
    source: Sequence[Word], target: Sequence[Word]
) -> list[tuple[int, int]]:
    """Numbers and names that stand in both texts, letter by letter.

    Only words whose place is beyond doubt: with a digit, or capitalised in the source
    where no sentence begins, and standing exactly once on either side.

    Returns:
        Pairs of positions in `source` and `target`.
    """
    in_source = Counter(word.text for word in source)
    places = {word.text: index for index, word in enumerate(target)}
    in_target = Counter(word.text for word in target)
    return [
        (index, places[word.text])
        for index, word in enumerate(source)
        if _is_number_or_name(word)
        and in_source[word.text] == in_target[word.text] == 1
    ]


def _is_number_or_name(word: Word) -> bool:
    if any(character.isdigit() for character in word.text):
        return True
    return word.text[:1].isupper() and not word.opens_sentence


# --------------------------------------------------------------------------- measures


def word_scores(scores: Any, source: Sequence[Word]) -> np.ndarray:
    """Scores over pieces `(..., T, S)` summed to scores over words `(..., T, W)`.

    Sums favour words of many pieces: under even weights they get the most.
    """
    scores = keras.ops.convert_to_numpy(scores)
    sums = [scores[..., word.start : word.stop].sum(axis=-1) for word in source]
    return np.stack(sums, axis=-1)


def copy_alignment(
    examples: Iterable[tuple[Any, Sequence[str], Sequence[str]]],
    special: Collection[str] = SPECIAL,
) -> CopyAlignment:
    """Measure whether cross-attention looks at the word that is being copied.

    For every word of `copied_words`, at the step that predicts the piece with its first
    letter, a head hits if the right source word has the largest summed weight of all,
    special pieces included; a tie is no hit. It measures where heads read when the
    answer is known, not why the model gives it: a model may take the word from what
    another position remembers of it.

    Args:
        examples: For each sentence pair the cross-attention scores `(N, T, S)` (or
            `(T, S)` of a single head), the S source pieces and the T target pieces. Row
            `t` holds the weights of the step that predicts target piece `t`: for a
            model fed `<s> a b` and asked for `a b </s>`, these are the last three.
            Without padding. Heads of several layers may be joined along N.
        special: Pieces that are no text.

    Returns:
        A `CopyAlignment`: shares of the heads, of the best and of "some head", each
        with chance beside it.

    Raises:
        ValueError: if there are no examples, or scores do not fit the pieces.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import copy_alignment
        >>> source, target = ["▁press", "▁F5", "</s>"], ["▁F5", "▁drücken", "</s>"]
        >>> scores = np.array([[0.1, 0.8, 0.1], [0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
        >>> result = copy_alignment([(scores, source, target)])
        >>> result.words, result.best, round(result.best_chance, 2)
        (1, 1.0, 0.33)
    """
    num_heads: int | None = None
    at_step: list[np.ndarray] = []  # each (N,)
    any_step: list[np.ndarray] = []  # each (T, N)
    sizes: list[int] = []
    for scores, source_pieces, target_pieces in examples:
        scores = _by_head(scores, source_pieces, target_pieces, num_heads)
        num_heads = len(scores)
        source, target = words(source_pieces, special), words(target_pieces, special)
        weights = word_scores(scores, source)
        for here, there in copied_words(source, target):
            others = np.delete(weights, here, axis=-1).max(axis=-1, initial=0)
            hits = (weights[..., here] > others).T
            at_step.append(hits[target[there].first])
            any_step.append(hits)
            sizes.append(len(source))
    require(num_heads is not None, "`examples` must hold at least one sentence pair.")
    return _summary(num_heads, at_step, any_step, sizes)


def _by_head(scores, source_pieces, target_pieces, num_heads) -> np.ndarray:
    scores = keras.ops.convert_to_numpy(scores)
    scores = scores[None] if scores.ndim == 2 else scores
    expected = (num_heads or len(scores), len(target_pieces), len(source_pieces))
    require(
        scores.shape == expected,
        "Scores must have the shape (heads, target pieces, source pieces), the same "
        f"heads every time: {expected}.",
        shape=scores.shape,
    )
    return scores


def _summary(num_heads, at_step, any_step, sizes) -> CopyAlignment:
    if not at_step:
        nan = float("nan")
        return CopyAlignment(0, (nan,) * num_heads, 0, *[nan] * 6)
    hits = np.array(at_step)  # (K, N)
    heads = hits.mean(axis=0)
    best = int(heads.argmax())
    usual = [(rows[:, best].mean(), rows.any(axis=1).mean()) for rows in any_step]
    chances = 1 / np.array(sizes)
    return CopyAlignment(
        words=len(hits),
        heads=tuple(heads.tolist()),
        best_head=best,
        best=float(heads[best]),
        best_chance=float(chances.mean()),
        best_any_step=float(np.mean([one for one, _ in usual])),
        some=float(hits.any(axis=1).mean()),
        some_chance=float((1 - (1 - chances) ** num_heads).mean()),
        some_any_step=float(np.mean([some for _, some in usual])),
    )


def entropy(scores: Any, mask: Any = None) -> np.ndarray:
    """How evenly each row spreads its weight: 0 on one key, 1 over all alike.

    `-sum_s a_s log a_s / log(number of allowed keys)`. A head near 1 everywhere is an
    average of the values: its brightest cell says next to nothing, however it looks in
    a picture. Near 0 says that a head is sharp, not that it is right.

    Args:
        scores: `(..., T, S)`, after the softmax.
        mask: Broadcastable to the scores, True = may attend; by default all keys. With
            padding or a causal mask it must be given, or rows look sharper than they
            are.

    Returns:
        `(..., T)`. NaN where fewer than two keys are allowed or the row has no weight:
        there is nothing to spread, so take means with `np.nanmean`.

    Examples:
        >>> from keras_attention.interpretation import entropy
        >>> entropy([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]]).tolist()
        [0.0, 1.0]
    """
    scores = keras.ops.convert_to_numpy(scores).astype("float64")
    if mask is None:
        mask = np.ones(scores.shape, dtype=bool)
    mask = keras.ops.convert_to_numpy(mask).astype(bool)
    allowed = np.broadcast_to(mask, scores.shape).sum(axis=-1)
    logs = np.log(np.where(scores > 0, scores, 1.0))
    spread = np.abs((scores * logs).sum(axis=-1))
    defined = (allowed > 1) & (scores.sum(axis=-1) > 0)
    largest = np.log(np.where(defined, allowed, 2))
    return np.where(defined, np.minimum(spread / largest, 1.0), np.nan)


def diagonality(scores: Any) -> np.ndarray:
    """How near attention keeps to the diagonal: 1 on it, about 0.55 where it is even.

    For outputs that follow their inputs in order, such as text and speech. Row `t` of T
    has its place on the diagonal at `t / (T - 1)` of the length; its mean distance to
    that, weighted by the scores, counts as a share of the largest distance possible.
    Right attention need not reach 1: nobody speaks evenly, and there is silence at both
    ends. So compare heads and models on the same clips.

    Args:
        scores: `(..., T, S)`, after the softmax, without padding. Rows need not sum to
            1; those without weight are left out.

    Returns:
        `(...)`, the mean over rows; NaN where there are fewer than two rows or keys, or
        no weight.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import diagonality
        >>> float(diagonality(np.eye(3))), float(diagonality(np.eye(3)[::-1]))
        (1.0, 0.3333333333333333)

    Source:
        Made for cross-attention after the measure that Zhang et al. 2021,
        arXiv:2011.04906, have for self-attention.
    """
    scores = keras.ops.convert_to_numpy(scores).astype("float64")
    T, S = scores.shape[-2:]
    if min(T, S) < 2:
        return np.full(scores.shape[:-2], np.nan)
    diagonal = np.arange(T)[:, None] / (T - 1)
    distance = np.abs(np.arange(S) / (S - 1) - diagonal)  # (T, S)
    distance = distance / np.maximum(diagonal, 1 - diagonal)
    weight = scores.sum(axis=-1)
    has_weight = weight > 0
    off = (scores * distance).sum(axis=-1) / np.where(has_weight, weight, 1.0)
    count = has_weight.sum(axis=-1)
    mean = np.where(has_weight, off, 0.0).sum(axis=-1) / np.maximum(count, 1)
    return np.where(count > 0, 1 - mean, np.nan)
