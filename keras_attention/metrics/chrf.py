"""chrF of a test set: character n-grams instead of words."""

from collections.abc import Sequence

from keras_attention.metrics.score import Score, corpus_score


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """chrF2 of all texts together, by sacreBLEU with its default settings.

    An F-score of character 6-grams that counts recall twice. It needs no words, so
    it is kinder than BLEU to languages with rich endings or without blanks.

    Args:
        hypotheses: One output for each reference; an empty one matches nothing.
        references: One text for each hypothesis. What is said to a blank one is not
            counted: unlike BLEU, chrF leaves it out.

    Returns:
        A `Score`. It is 0 if nothing matches, two blank texts included.

    Raises:
        ValueError: There are no texts or not as many of both.

    Source: Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation".
    """
    from sacrebleu.metrics import CHRF

    return corpus_score(CHRF(), hypotheses, references)
