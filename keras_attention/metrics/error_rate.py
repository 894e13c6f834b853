"""Error rates of recognized speech, over a whole test set."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from keras_attention.errors import import_extra
from keras_attention.metrics.bootstrap import Difference, bootstrap_difference
from keras_attention.metrics.score import check_texts

_EXTRA = "speech"


class ErrorRate(NamedTuple):
    """How many units of a test set are wrong.

    Attributes:
        value: Errors for each unit of the references; above 1 where much is inserted.
        substitutions: Units that became others.
        deletions: Units that are missing.
        insertions: Units that nobody said.
        per_text: `(n, 2)` integers, the errors of each text and its reference's length.
    """

    value: float
    substitutions: int
    deletions: int
    insertions: int
    per_text: np.ndarray


def character_error_rate(
    hypotheses: Sequence[str], references: Sequence[str]
) -> ErrorRate:
    """Characters that are wrong, blanks counted, by jiwer; see `word_error_rate`.

    Blanks around a text do not count. Characters are compared as they are, so bring
    both sides to one spelling (Unicode's NFC, lower case) first.

    Examples:
        >>> from keras_attention.metrics import character_error_rate
        >>> character_error_rate(["a cap"], ["a cat"]).value
        0.2
    """
    process = import_extra("jiwer", _EXTRA).process_characters
    return _error_rate(process, hypotheses, references)


def word_error_rate(hypotheses: Sequence[str], references: Sequence[str]) -> ErrorRate:
    """Words that are wrong, by jiwer.

    `(substitutions + deletions + insertions) / words of the references`, each summed
    over all texts: not the mean of the texts' rates, in which short texts would count
    as much as long ones.

    A text whose reference is empty (silence) counts with what was heard in it as
    insertions, and adds no words. Where all references are empty there is nothing to
    divide by: the value is then the number of insertions, so that it is 0 only if
    nothing was heard.

    Args:
        hypotheses: What was recognized, one text for each reference; it may be empty.
        references: What was said; it may be empty.

    Returns:
        An `ErrorRate`.

    Raises:
        ValueError: There are no texts or not as many of both.
        ImportError: Without jiwer, of the extra `speech`.

    Examples:
        >>> from keras_attention.metrics import word_error_rate
        >>> found = word_error_rate(["the cat sat", "no"], ["a cat sat down", "no"])
        >>> found.value, found.substitutions, found.deletions, found.insertions
        (0.4, 1, 1, 0)
    """
    process = import_extra("jiwer", _EXTRA).process_words
    return _error_rate(process, hypotheses, references)


def error_rate_interval(rate: ErrorRate) -> Difference:
    """The 95 % interval of a rate over test sets like this one.

    Returns:
        A `Difference`: to a system that makes no errors.
    """
    perfect = rate.per_text * np.array([0, 1])
    return bootstrap_difference(rate.per_text, perfect, _rate)


def error_rate_difference(first: ErrorRate, second: ErrorRate) -> Difference:
    """How far the difference between two systems on the same texts may be chance.

    Below 0, the first makes fewer errors.
    """
    return bootstrap_difference(first.per_text, second.per_text, _rate)


def _error_rate(
    process: Callable[[str, str], Any],
    hypotheses: Sequence[str],
    references: Sequence[str],
) -> ErrorRate:
    check_texts(hypotheses=hypotheses, references=references)
    found = [
        process(reference, hypothesis)
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]
    counts = np.array(
        [(x.substitutions, x.deletions, x.insertions, x.hits) for x in found]
    )
    substituted, deleted, inserted, right = counts.T
    errors = substituted + deleted + inserted
    per_text = np.stack([errors, substituted + deleted + right], axis=1)
    return ErrorRate(
        _rate(per_text.sum(axis=0)),
        int(substituted.sum()),
        int(deleted.sum()),
        int(inserted.sum()),
        per_text,
    )


def _rate(sums: np.ndarray) -> float:
    """Errors for each unit, of both summed; see the rule for empty references."""
    errors, length = sums
    return float(errors / max(length, 1))
