"""The builder `festvox_ru`: one Russian voice that reads prose."""

import re
from pathlib import Path

from applications.datasets.errors import DataError
from applications.datasets.fetch import debian_package
from applications.datasets.speech_builder import SpeechBuilder
from applications.datasets.utterances import Utterance

_INSTEAD = "Use the path of a folder of your own recordings with a transcripts.tsv."
_FOLDER = "usr/share/festival/voices/russian/msu_ru_nsh_clunits"
_TEXTS = "etc/txt.done.data"
_LINE = re.compile(r'\(\s*(\S+)\s+"(.*)"\s*\)\s*')
_STRESS = "+"  # stands before a vowel


class FestvoxRu(SpeechBuilder):
    """Sentences of Russian prose read by one speaker.

    By Nickolay V. Shmyrev (2005), from the Debian package `festvox-ru`, in which they
    are the parts that the speech synthesis Festival joins; 16 kHz, one channel. Texts
    are the lower-case words (`utterances.spoken`) without marks of stress; each is read
    once. With one speaker, results say nothing of other voices.

    Split by the hash of the words.

    Counts, from version 0.5+dfsg-6:

    | split | recordings | minutes |
    |---|---|---|
    | train | 565 | 90.6 |
    | validation | 28 | 4.4 |
    | test | 27 | 4.5 |
    """

    HOMEPAGE = "https://sourceforge.net/projects/festlang.berlios"
    LICENSE = "BSD-like"

    def _utterances(self) -> list[Utterance]:
        return read(debian_package("festvox-ru", _INSTEAD).root / _FOLDER)


def read(folder: Path) -> list[Utterance]:
    """Return the recordings of a voice's folder, in the order of its texts.

    Raises:
        DataError: The file of the texts has a line of another kind.
    """
    path = folder / _TEXTS
    utterances = []
    for line in path.read_text(encoding="utf-8").splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            raise DataError(f"{path} has another line: {line!r}.")
        name, text = match.groups()
        sound = folder / "wav" / f"{name}.wav"
        utterances.append(Utterance(name, sound, text.replace(_STRESS, "")))
    return utterances
