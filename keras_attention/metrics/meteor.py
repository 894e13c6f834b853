"""METEOR of captions, which runs in Java."""

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from keras_attention.errors import import_extra, require
from keras_attention.metrics.captions import CaptionScore, checked_captions

_PERCENT = 100


def java_is_present() -> bool:
    """Whether `meteor` can run here."""
    return shutil.which("java") is not None


def meteor(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> CaptionScore:
    """METEOR 1.5 of all captions: words match by stem, synonym and paraphrase too.

    By the authors' own Java program, which pycocoevalcap brings; it takes seconds to
    start. Every text goes through `normalized_caption`.

    Args:
        hypotheses: One caption for each image; an empty one scores 0.
        references: One or more captions for each image.

    Returns:
        A `CaptionScore`, from 0 to 100.

    Raises:
        ValueError: As `caption_scores` raises; or Java is not on this machine, which
            `java_is_present` says beforehand.
        ImportError: Without pycocoevalcap, of the extra `image-captioning`.

    Source: Denkowski and Lavie 2014, "Meteor Universal".
    """
    found, given = checked_captions(hypotheses, references)
    require(java_is_present(), "`meteor` needs `java` on this machine: install it.")
    with _program() as program:
        value, scores = program.compute_score(given, found)
    return CaptionScore(_PERCENT * float(value), _PERCENT * np.array(scores))


@contextlib.contextmanager
def _program() -> Iterator[Any]:
    """The running program of pycocoevalcap, whose pipes it leaves open itself."""
    program = import_extra("pycocoevalcap.meteor.meteor", "image-captioning").Meteor()
    try:
        yield program
    finally:
        process = program.meteor_p
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
