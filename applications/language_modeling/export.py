"""The SavedModel: a beginning in, its continuation out; or gaps in, whole texts out."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from applications.errors import UserError
from applications.language_modeling.continuation import Continuation
from applications.language_modeling.filling import Filler
from applications.language_modeling.tokens import GAP
from keras_attention import export as exporting

CHECKED_TEXTS = 40
SEED = 7
SEARCHES = ("greedy", "sample")  # the first one is the default

_BATCH = 10
_WORDS = 12


def export_continuation(continuation: Continuation, directory: Path) -> None:
    """Write the endpoints `greedy` (the default) and `sample`.

    Both take `text` `(B,)`, `sample` also a `seed`, and return `continuation`, `text`
    with it, and its `log_probability`.
    """
    endpoints = {search: (continuation.compiled(search), None) for search in SEARCHES}
    tracked = [continuation.model, *continuation.tokens.tracked]
    exporting.write(directory, endpoints, tracked)


def export_filler(filler: Filler, directory: Path) -> None:
    """Write the endpoint `fill`, also `serving_default`.

    It takes `text` `(B,)` with gaps and returns `text` without, and how sure of it.
    """
    tracked = [filler.model, *filler.tokens.tracked]
    exporting.write(directory, {"fill": (filler.compiled, None)}, tracked)


def check_continuation(
    directory: Path, texts: Sequence[str], continuation: Continuation
) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    Args:
        directory: The SavedModel.
        texts: Of the test split; their first words are continued, and nothing at all.
        continuation: What was exported.

    Raises:
        UserError: The answers differ.
    """
    begun = [" ".join(text.split()[:_WORDS]) for text in texts[:CHECKED_TEXTS]]
    batches = _batches(begun)
    answers = exporting.ask_alone(directory, batches, SEARCHES, {"seed": SEED})
    for search, found in answers.items():
        # Batch by batch, as there: what is drawn follows the place in a batch.
        here = [text for x in batches for text in continuation(x, search, SEED)]
        there = [text for one in found for text in one["continuation"]]
        _require_same(search, there, here)


def check_filler(directory: Path, texts: Sequence[str], filler: Filler) -> None:
    """The same for texts of which a word in six is a gap."""
    gapped = [_gapped(text) for text in texts[:CHECKED_TEXTS]]
    batches = _batches(gapped)
    answers = exporting.ask_alone(directory, batches, ["fill"])["fill"]
    here = [text for batch in batches for text in filler(batch)]
    _require_same("fill", [text for one in answers for text in one["text"]], here)


def _batches(texts: list[str]) -> list[list[str]]:
    rest = [texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH)]
    return [[""], ["", *texts[:2]], *rest]


def _gapped(text: str) -> str:
    words = np.array(text.split()[: 4 * _WORDS], dtype=object)
    words[3::6] = GAP
    return " ".join(words)


def _require_same(name: str, there: Sequence[str], here: Sequence[str]) -> None:
    different = [pair for pair in zip(there, here, strict=True) if pair[0] != pair[1]]
    if different:
        alone, ours = different[0]
        raise UserError(
            f"The exported {name} endpoint answers {len(different)} of {len(here)} "
            f"texts differently, the first {alone!r} instead of {ours!r}."
        )
    print(f"{name}: SavedModel alone equals this process on {len(here)} texts")
