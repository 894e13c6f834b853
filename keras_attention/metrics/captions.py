"""Scores of captions against several references: BLEU-1 to 4, ROUGE-L, CIDEr."""

import math
import unicodedata
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from keras_attention.errors import import_extra, require

_EXTRA = "image-captioning"
_PERCENT = 100
_LARGEST_ORDER = 4

# Hypothesis and references of every image, as pycocoevalcap takes them.
_Texts = dict[int, list[str]]


class CaptionScore(NamedTuple):
    """A score of a whole test set, and of each image.

    Attributes:
        value: From 0 to 100; of CIDEr from 0 to 10.
        per_image: (n,) the score of each image. `value` is their mean for CIDEr and
            ROUGE-L; BLEU and METEOR sum counts over the set first. BLEU of one image
            means little, and nothing for a caption shorter than its n-grams.
    """

    value: float
    per_image: np.ndarray


def normalized_caption(caption: str) -> str:
    """Return the words of a caption, lower case, one blank between them.

    Letters, marks and digits make words; an apostrophe inside a word stays, all other
    punctuation parts words and is dropped. That is what the COCO protocol's tokenizer,
    Stanford's, does to captions, except that it needs Java, keeps hyphens
    (`t-shirt`; here `t shirt`), and cuts off `'s` and `n't`. Training, references and
    scores all take this one, so that no word differs by its spelling only; scores
    from other tokenizers differ a little.

    Examples:
        >>> from keras_attention.metrics import normalized_caption
        >>> normalized_caption("A woman\u2019s T-shirt: red, 2 buttons.")
        "a woman's t shirt red 2 buttons"
    """
    lower = unicodedata.normalize("NFKC", caption).lower()
    text = unicodedata.normalize("NFKC", lower).replace("\u2019", "'")
    kept = (char if char == "'" or _in_words(char) else " " for char in text)
    words = (word.strip("'") for word in "".join(kept).split())
    return " ".join(filter(None, words))


def caption_scores(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    documents: Sequence[Sequence[str]] | None = None,
) -> dict[str, CaptionScore]:
    """BLEU-1 to 4, ROUGE-L and CIDEr of all captions, by pycocoevalcap.

    Every text goes through `normalized_caption`. CIDEr weighs n-grams by how few images
    have them in a reference, so it means something over a set only: of one image it is
    NaN with a warning, unless `documents` gives the frequencies. A caption of fewer
    than four words has no 4-grams and cannot reach 10: two words that are equal to the
    reference score 5. Papers print 100 times this: 1.2 here is their 120.

    Args:
        hypotheses: One caption for each image; an empty one scores 0.
        references: One or more captions for each image.
        documents: References of the images that CIDEr counts its document frequencies
            over. Defaults to `references`.

    Returns:
        A `CaptionScore` under each of `"bleu_1"` to `"bleu_4"`, `"rouge_l"`, `"cider"`.

    Raises:
        ValueError: There is no image, not a hypothesis for each, or an image without a
            reference that has words.
        ImportError: Without pycocoevalcap, of the extra `image-captioning`.

    Examples:
        >>> from keras_attention.metrics import bootstrap_difference, caption_scores
        >>> references = [["a b c d"], ["e f g h", "e f g"]]
        >>> good = caption_scores(["a b c d", "e f g"], references)["cider"]
        >>> poor = caption_scores(["a b c d", "a b"], references)["cider"]
        >>> good.per_image.round(2).tolist(), poor.per_image.tolist()
        ([10.0, 6.7], [10.0, 0.0])

        How far the difference between two systems may be chance:

        >>> found = bootstrap_difference(
        ...     good.per_image[:, None],
        ...     poor.per_image[:, None],
        ...     lambda sums: sums[0] / len(references),
        ... )
        >>> round(found.value, 2)
        3.35

    Source: Vedantam et al. 2015, arXiv:1411.5726; Chen et al. 2015, "Microsoft COCO
    captions", arXiv:1504.00325.
    """
    found, given = checked_captions(hypotheses, references)
    rouge = import_extra("pycocoevalcap.rouge.rouge", _EXTRA).Rouge()
    mean, scores = rouge.compute_score(given, found)
    return {
        **_bleu(found, given),
        "rouge_l": CaptionScore(_PERCENT * float(mean), _PERCENT * scores),
        "cider": _cider(found, given, documents),
    }


def checked_captions(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[_Texts, _Texts]:
    """Return normalized texts as pycocoevalcap takes them, by the image's number."""
    require(
        len(hypotheses) == len(references) > 0,
        "`hypotheses` must have one caption for each of `references`, at least one.",
        hypotheses=len(hypotheses),
        references=len(references),
    )
    found = {i: [normalized_caption(text)] for i, text in enumerate(hypotheses)}
    return found, _normalized_references("references", references)


def _normalized_references(name: str, references: Sequence[Sequence[str]]) -> _Texts:
    given = {}
    for number, texts in enumerate(references):
        require(
            not isinstance(texts, str),
            f"Every one of `{name}` must be a list of captions.",
            caption=texts,
        )
        given[number] = list(filter(None, map(normalized_caption, texts)))
        require(
            bool(given[number]),
            f"Every one of `{name}` must have a caption with words.",
            image=number,
            captions=list(texts),
        )
    return given


def _in_words(char: str) -> bool:
    """Whether a character is a letter, a mark or a number."""
    return unicodedata.category(char)[0] in "LMN"


def _bleu(found: _Texts, given: _Texts) -> dict[str, CaptionScore]:
    bleu = import_extra("pycocoevalcap.bleu.bleu", _EXTRA).Bleu(_LARGEST_ORDER)
    values, per_image = bleu.compute_score(given, found, verbose=0)
    return {
        f"bleu_{order}": CaptionScore(
            _PERCENT * float(value), _PERCENT * np.array(scores)
        )
        for order, (value, scores) in enumerate(
            zip(values, per_image, strict=True), start=1
        )
    }


def _cider(
    found: _Texts, given: _Texts, documents: Sequence[Sequence[str]] | None
) -> CaptionScore:
    counted = given
    if documents is not None:
        counted = _normalized_references("documents", documents)
    if len(counted) == 1:
        warnings.warn(
            "CIDEr of one image is not defined: its document frequencies come from the "
            "set. Give `documents`, references of many images.",
            stacklevel=3,
        )
        return CaptionScore(math.nan, np.full(len(found), math.nan))
    scorer = _scorer(len(counted))
    for texts in counted.values():
        scorer += ("", texts)
    scorer.compute_doc_freq()
    scorer.crefs, scorer.ctest = [], []
    for number, (text,) in found.items():
        scorer += (text, given[number])
    scores = np.array(scorer.compute_cider(), dtype="float64")
    return CaptionScore(float(scores.mean()), scores)


def _scorer(documents: int) -> Any:
    """A scorer of pycocoevalcap that knows how many images were counted."""
    module = import_extra("pycocoevalcap.cider.cider_scorer", _EXTRA)

    class Scorer(module.CiderScorer):
        # Theirs sets it from the images that are scored, just before it scores them.
        ref_len = property(lambda self: math.log(documents), lambda self, value: None)

    return Scorer()
