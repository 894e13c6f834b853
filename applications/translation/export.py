"""The SavedModel: text in, translation out, decoding inside."""

from collections.abc import Sequence
from pathlib import Path

from applications.text import seq2seq_export
from applications.translation.translator import Translator

ANSWER = "translation"


def export(translator: Translator, directory: Path) -> None:
    """Write the endpoints of `seq2seq_export.export`; they return `translation`."""
    seq2seq_export.export(translator, directory, ANSWER)


def check(directory: Path, sentences: Sequence[str], translator: Translator) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one."""
    seq2seq_export.check(directory, sentences, translator, ANSWER)
