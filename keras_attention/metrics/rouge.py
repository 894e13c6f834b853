"""ROUGE of a test set of summaries, for texts of every script."""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from keras_attention.errors import import_extra
from keras_attention.metrics.bootstrap import Difference, bootstrap_difference
from keras_attention.metrics.score import check_texts

_EXTRA = "summarization"
_TYPES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}

# Scripts that put no blanks between words: a character, with its marks, is a token.
_UNSEGMENTED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # Han, as all that follow
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


class RougeScore(NamedTuple):
    """An F1 of a whole test set, and of each text.

    Attributes:
        value: From 0 to 1, the mean of `per_text`.
        per_text: `(n,)`.
    """

    value: float
    per_text: np.ndarray


def rouge_tokens(text: str) -> list[str]:
    """The tokens that `rouge` counts: words in lower case, without punctuation.

    Letters, their marks and digits make words, in every script. Where a script puts no
    blanks between words (Chinese, Japanese, Thai, ...) each character is a token, and
    so is each emoji. Composed and decomposed spellings are one. Of ASCII text these are
    the tokens of rouge-score's own tokenizer, which drops all other letters; there is
    no stemming.

    Examples:
        >>> from keras_attention.metrics import rouge_tokens
        >>> rouge_tokens("The T-shirt: ÉCOLE, 2 кошки, 猫が!")
        ['the', 't', 'shirt', 'école', '2', 'кошки', '猫', 'が']
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    tokens: list[str] = []
    last = ""  # "word" goes on with letters and marks, "sign" with marks only
    for char in text:
        kind = unicodedata.category(char)
        alone = kind == "So" or _is_unsegmented(char)
        if last and kind[0] == "M":
            tokens[-1] += char
        elif kind[0] not in "LMN" and not alone:
            last = ""
        elif last == "word" and not alone:
            tokens[-1] += char
        else:
            tokens.append(char)
            last = "sign" if alone else "word"
    return tokens


def rouge(
    hypotheses: Sequence[str], references: Sequence[str]
) -> dict[str, RougeScore]:
    """F1 of ROUGE-1, ROUGE-2 and ROUGE-L, by rouge-score with `rouge_tokens`.

    Args:
        hypotheses: One summary for each reference. An empty one scores 0.
        references: One text for each hypothesis. A blank one scores 0, a blank
            hypothesis against it too.

    Returns:
        A `RougeScore` under each of `"rouge_1"`, `"rouge_2"` and `"rouge_l"`.

    Raises:
        ValueError: There are no texts or not as many of both.
        ImportError: Without rouge-score, of the extra `summarization`.

    Examples:
        >>> from keras_attention.metrics import rouge
        >>> found = rouge(["the cat sat"], ["the cat is on the mat"])
        >>> {name: round(score.value, 3) for name, score in found.items()}
        {'rouge_1': 0.444, 'rouge_2': 0.286, 'rouge_l': 0.444}

    Source: Lin 2004, "ROUGE: a package for automatic evaluation of summaries".
    """
    check_texts(hypotheses=hypotheses, references=references)
    module = import_extra("rouge_score.rouge_scorer", _EXTRA)
    scorer = module.RougeScorer(list(_TYPES.values()), tokenizer=_Tokenizer())
    rows = [
        scorer.score(reference, hypothesis)
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]
    found = {}
    for name, kind in _TYPES.items():
        per_text = np.array([row[kind].fmeasure for row in rows], dtype="float64")
        found[name] = RougeScore(float(per_text.mean()), per_text)
    return found


def rouge_difference(first: RougeScore, second: RougeScore) -> Difference:
    """How far the difference between two systems on the same texts may be chance."""
    count = len(first.per_text)
    return bootstrap_difference(
        first.per_text[:, None], second.per_text[:, None], lambda sums: sums[0] / count
    )


class _Tokenizer:
    """`rouge_tokens` as rouge-score calls it."""

    def tokenize(self, text: str) -> list[str]:
        return rouge_tokens(text)


def _is_unsegmented(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _UNSEGMENTED)
