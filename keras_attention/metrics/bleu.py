"""BLEU of a test set, whole and by the length of the source."""

import bisect
import itertools
from collections.abc import Sequence
from typing import NamedTuple

from keras_attention.errors import require
from keras_attention.metrics.score import Score, check_texts, corpus_score


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """BLEU of all texts together, by sacreBLEU with its default settings.

    Matches, lengths and the brevity penalty are summed over the test set before
    anything is divided: it is not a mean of sentence or batch scores. Texts are
    detokenized; sacreBLEU's own `13a` tokenizer splits them.

    Args:
        hypotheses: One output for each reference. An empty one matches nothing and
            its reference still counts in the brevity penalty.
        references: One text for each hypothesis. A blank one matches nothing and the
            hypothesis still counts.

    Returns:
        A `Score`. It is 0 if nothing matches, two blank texts included.

    Raises:
        ValueError: There are no texts or not as many of both.

    Examples:
        >>> from keras_attention.metrics import bleu
        >>> text = ["the cat sat on the mat today"]
        >>> round(bleu(text, text).value, 2)
        100.0

    Source: Papineni et al. 2002; Post 2018, arXiv:1804.08771.
    """
    from sacrebleu.metrics import BLEU

    return corpus_score(BLEU(), hypotheses, references)


class LengthBucket(NamedTuple):
    """BLEU of the pairs whose source has `shortest <= words < limit`.

    Attributes:
        shortest: Fewest words of a source.
        limit: One more than the most words; `None` if there is no limit.
        count: Pairs in the bucket.
        bleu: Their score; `None` if there are none.
    """

    shortest: int
    limit: int | None
    count: int
    bleu: Score | None


def bleu_by_length(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    edges: Sequence[int] = (10, 20, 30),
) -> list[LengthBucket]:
    """BLEU of the short sources, of the longer ones, and so on.

    A model without attention falls with the length of the source; the curve shows
    whether attention holds.

    Args:
        sources: Texts, measured in words between blanks.
        hypotheses: One output for each source.
        references: One text for each source.
        edges: Rising numbers of words at which a new bucket begins. The first bucket
            begins at 0, the last has no limit.

    Returns:
        One `LengthBucket` more than there are edges.

    Raises:
        ValueError: `edges` do not rise from above 0, or the texts are not equally
            many.
    """
    check_texts(sources=sources, hypotheses=hypotheses, references=references)
    bounds = [0, *edges]
    rising = all(low < high for low, high in itertools.pairwise(bounds))
    require(rising, "`edges` must rise and be above 0.", edges=edges)
    pairs: list[list[tuple[str, str]]] = [[] for _ in bounds]
    for source, *pair in zip(sources, hypotheses, references, strict=True):
        bucket = bisect.bisect_right(edges, len(source.split()))
        pairs[bucket].append((pair[0], pair[1]))
    limits = [*edges, None]
    return [
        LengthBucket(
            low, high, len(inside), bleu(*zip(*inside, strict=True)) if inside else None
        )
        for low, high, inside in zip(bounds, limits, pairs, strict=True)
    ]
