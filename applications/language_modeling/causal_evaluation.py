"""Perplexity and bits per byte of a causal model, beside n-grams."""

import time
from typing import Any, NamedTuple

import keras
import numpy as np

from applications.language_modeling.data import LanguageData
from applications.language_modeling.ngrams import KneserNey
from applications.language_modeling.scoring import token_bits
from applications.language_modeling.word_model import WordModel
from applications.pipeline import files
from applications.pipeline.run import Run
from keras_attention import metrics

BITS = "bits.npz"


class Bits(NamedTuple):
    """What the test documents cost, `(n,)` each.

    Attributes:
        bytes: Of the texts, in UTF-8.
        model: Bits under the model.
        ngrams: Under n-grams of the same tokens; none where they were not asked for.
        words: Under n-grams of words, the same.
    """

    bytes: np.ndarray
    model: np.ndarray
    ngrams: np.ndarray | None = None
    words: np.ndarray | None = None


def evaluate(
    data: LanguageData, learned: LanguageData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Over the whole test split; writes the bits of every document beside the run.

    Args:
        data: What is tested on.
        learned: What the run was trained on; the n-grams are, too.
        model: The run's best model.
        run: Where the bits go.
    """
    texts, ids = data.texts("test"), data.ids("test")
    settings = data.config.data
    began = time.perf_counter()
    by_token = token_bits(model, ids, settings.length, settings.rows_per_batch)
    seconds = time.perf_counter() - began
    bits = Bits(
        np.array([len(text.encode()) for text in texts]),
        np.array([found.sum() for found in by_token]),
        *_baselines(data, learned),
    )
    if data.config == run.config(type(data.config)):  # else not those of the table
        keep(run, bits)
    tokens = sum(map(len, by_token))
    found = {
        "documents": len(texts),
        "tokens": tokens,
        "bytes": int(bits.bytes.sum()),
        "bits_per_byte": bits_per_byte(bits.model, bits.bytes),
        "perplexity_per_token": perplexity(bits.model, tokens),
        "tokens_per_second": tokens / seconds,
        "protocol": f"windows of {settings.length} tokens, each half over the one "
        "before; a document begins without context; its end is a token",
    }
    return {**found, **_beside(bits, tokens, data.config.baseline.order)}


def _baselines(data: LanguageData, learned: LanguageData) -> tuple:
    """Bits of the test documents under n-grams of tokens and of words."""
    order = data.config.baseline.order
    if not order:
        return None, None
    size = data.tokens.vocabulary_size
    # Without the start token, which they need not guess; the end is one of them.
    known, test = (
        [ids[1:].tolist() for ids in part.ids(split)]
        for part, split in ((learned, "train"), (data, "test"))
    )
    ngrams = KneserNey(order, vocabulary_size=size).fit(known)
    by_token = [-found.sum() for found in ngrams.log2_probabilities(test)]
    words = WordModel(order).fit(learned.texts("train"))
    return np.array(by_token), words.bits(data.texts("test"))


def _beside(bits: Bits, tokens: int, order: int) -> dict[str, Any]:
    """The baselines, and how far the model is above them: below 0 is better."""
    if bits.ngrams is None or bits.words is None:
        return {}
    return {
        "baselines": {
            f"{order}_gram_of_tokens": {
                "bits_per_byte": bits_per_byte(bits.ngrams, bits.bytes),
                "perplexity_per_token": perplexity(bits.ngrams, tokens),
            },
            f"{order}_gram_of_words": {
                "bits_per_byte": bits_per_byte(bits.words, bits.bytes)
            },
        },
        "bits_per_byte_above_tokens": difference(bits, bits.ngrams)._asdict(),
        "bits_per_byte_above_words": difference(bits, bits.words)._asdict(),
    }


def bits_per_byte(bits: np.ndarray, sizes: np.ndarray) -> float:
    """Of all documents together."""
    return float(bits.sum() / sizes.sum())


def perplexity(bits: np.ndarray, tokens: int) -> float:
    """Of a token."""
    return float(2 ** (bits.sum() / tokens))


def difference(bits: Bits, others: np.ndarray) -> metrics.Difference:
    """Bits per byte of the model minus others', with its interval over documents.

    One document says nothing of others: its interval is not a number.
    """
    own, theirs = (np.stack([x, bits.bytes], axis=1) for x in (bits.model, others))
    gap = metrics.bootstrap_difference(own, theirs, lambda sums: sums[0] / sums[1])
    return gap if len(own) > 1 else gap._replace(low=np.nan, high=np.nan)


def keep(run: Run, bits: Bits) -> None:
    """Write the bits of a run."""
    there = {name: value for name, value in bits._asdict().items() if value is not None}
    with files.replacing(run.path(BITS)) as path:
        np.savez(path, **there)


def kept(run: Run) -> Bits:
    """The bits of an evaluated run."""
    with np.load(run.path(BITS)) as found:
        return Bits(**found)
