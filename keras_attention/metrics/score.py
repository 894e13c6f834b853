"""A score of a whole test set, and the texts it is computed from."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from keras_attention.errors import require


class Score(NamedTuple):
    """A number and how it was computed, so that others can compare theirs.

    Attributes:
        value: From 0 to 100.
        signature: The library's own line with tokenizer, smoothing and version.
    """

    value: float
    signature: str


def corpus_score(
    metric: Any, hypotheses: Sequence[str], references: Sequence[str]
) -> Score:
    """Score all texts at once with a metric of sacrebleu.

    Args:
        metric: A `sacrebleu.metrics` object.
        hypotheses: One text for each reference; it may be empty.
        references: One text for each hypothesis.

    Raises:
        ValueError: There are no texts or not as many of both.
    """
    check_texts(hypotheses=hypotheses, references=references)
    value = metric.corpus_score(list(hypotheses), [list(references)]).score
    return Score(float(value), str(metric.get_signature()))


def check_texts(**texts: Sequence[str]) -> None:
    """Raise unless all lists of texts have the same length, at least 1."""
    counts = {name: len(values) for name, values in texts.items()}
    names = " and ".join(f"`{name}`" for name in texts)
    require(
        len(set(counts.values())) == 1 and 0 not in counts.values(),
        f"{names} must be equally many texts, at least one.",
        **counts,
    )
