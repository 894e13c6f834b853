"""A text once for each word that was written, shaded by what that step gave it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keras_attention.errors import require
from keras_attention.interpretation.plots._figure import as_array, label
from keras_attention.interpretation.plots.text import shaded_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_STEPS = 16  # of more the first are shown, and a line says so


def shaded_steps(
    source_words: Sequence[str],
    target_words: Sequence[str],
    measures: Mapping[str, Any],
    title: str | None = None,
) -> "Figure":
    """A source text under each word of an answer, shaded by one or more measures.

    For a summary: what a word looked at (attention), and what it was copied from. All
    shades are of one scale, from 0 to 1, so words, measures and pictures compare.

    Args:
        source_words: The W words that were read.
        target_words: The T words that were written.
        measures: By name: `(T, W)` in [0, 1], such as attention scores summed over the
            pieces of a word.
        title: Above the picture; by default the target words.

    Returns:
        The figure, as of `shaded_text`: its paragraphs are the measures of the first
        word, then those of the second, and so on.

    Raises:
        ValueError: for numbers that are not one for each pair of words in [0, 1].

    Examples:
        >>> from keras_attention.interpretation import plots
        >>> figure = plots.shaded_steps(
        ...     ["a", "red", "car"], ["red"], {"attention": [[0.1, 0.7, 0.2]]}
        ... )
        >>> figure.axes[0].get_title(loc="left")
        'red: attention 0.70 at red'
    """
    arrays = {name: as_array(values) for name, values in measures.items()}
    shape = len(target_words), len(source_words)
    require(bool(target_words), "There must be at least one word that was written.")
    for name, values in arrays.items():
        require(
            values.shape == shape and values.min() >= 0 and values.max() <= 1.01,
            f"The measure {name!r} must be numbers in [0, 1], one for each pair of "
            "words.",
            shape=values.shape,
            words=shape,
        )
    heading = title or label(" ".join(target_words), 80)
    if len(target_words) > MAX_STEPS:
        heading += f"\nthe first {MAX_STEPS} of {len(target_words)} words"
    paragraphs = {}
    for step, word in enumerate(target_words[:MAX_STEPS]):
        for name, values in arrays.items():
            most = int(values[step].argmax())
            at = f"{values[step, most]:.2f} at {source_words[most]}"
            heads = f"{word}: {name} {at}"
            while heads in paragraphs:  # a word that is written twice
                heads += " "
            paragraphs[heads] = values[step]
    return shaded_text(source_words, paragraphs, heading, scale=1.0)
