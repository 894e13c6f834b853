"""The builder `fillets_speech`: the spoken dialogues of a game, Czech or Dutch."""

import dataclasses
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import tensorflow_datasets as tfds

from applications.datasets.fetch import debian_package
from applications.datasets.speech_builder import SpeechBuilder
from applications.datasets.utterances import Utterance, is_spelled_out

_INSTEAD = "Use the path of a folder of your own recordings with a transcripts.tsv."
_GAME = "usr/share/games/fillets-ng"

# `dialogId("key", "font", "English text")`, then `dialogStr("text")` of the language.
_STRING = r'"((?:[^"\\]|\\.)*)"'
_ESCAPED = re.compile(r"\\(.)")
_DIALOG = re.compile(rf"dialogId\(\s*{_STRING}|dialogStr\(\s*{_STRING}\s*\)")

# Files in which there is no sound.
_SILENT = ("elevator1/zd1-m-cesta", "gems/zav-v-sto")


@dataclasses.dataclass(eq=False, kw_only=True)
class LanguageConfig(tfds.core.BuilderConfig):
    """Names one language.

    Args:
        alphabet: Its letters.
    """

    alphabet: str = string.ascii_lowercase


class FilletsSpeech(SpeechBuilder):
    """Dialogues of the game Fish Fillets, spoken by actors, with some noise of the sea.

    By ALTAR interactive, Ivo and Pavel Danihelka and others; GPL-2, so it is fetched
    and never part of this project. Sound from the Debian packages
    `fillets-ng-data-{cs,nl}` (22.05 and 44.1 kHz, one channel or two, made one of 16
    kHz), texts from `fillets-ng-data`.

    Texts are the lower-case words (`utterances.spoken`). Left out are recordings
    without a text (cs 68, nl 1), those whose text has a digit, `%`, a slash or a letter
    of another alphabet, so that it does not say how it is read (cs 33, nl 11), and two
    Dutch files without sound.

    Split by the hash of the words; what is said twice is on one side.

    Counts, from version 1.0.1-1.1:

    | split | recordings | different texts | minutes |
    |---|---|---|---|
    | cs train | 1,514 | 1,460 | 85.3 |
    | cs validation | 78 | 78 | 4.7 |
    | cs test | 89 | 87 | 5.2 |
    | nl train | 1,362 | 1,339 | 81.1 |
    | nl validation | 86 | 85 | 5.1 |
    | nl test | 67 | 66 | 3.7 |
    """

    HOMEPAGE = "https://fillets.sourceforge.net"
    LICENSE = "GPL-2.0"
    BUILDER_CONFIGS: ClassVar = [
        LanguageConfig(name="cs", alphabet=f"{string.ascii_lowercase}áčďéěíňóřšťúůýž"),
        LanguageConfig(name="nl", alphabet=f"{string.ascii_lowercase}àèéêëïóöüç"),
    ]

    def _utterances(self) -> list[Utterance]:
        language = self.builder_config.name
        texts = debian_package("fillets-ng-data", _INSTEAD).root / _GAME
        sound = debian_package(f"fillets-ng-data-{language}", _INSTEAD).root / _GAME
        return [
            utterance
            for utterance in utterances_from(sound, texts, language)
            if is_spelled_out(utterance.text, self.builder_config.alphabet)
        ]


def utterances_from(sound: Path, texts: Path, language: str) -> Iterator[Utterance]:
    """Yield the recordings of a language that have sound and a text, in order.

    Args:
        sound: The folder of the game with `sound/<level>/<language>/<line>.ogg`.
        texts: The same with `script/<level>/dialogs_<language>.lua`.
        language: Which one.
    """
    for level in sorted((sound / "sound").iterdir()):
        said = lines(texts / "script" / level.name / f"dialogs_{language}.lua")
        for path in sorted(level.glob(f"{language}/*.ogg")):
            key = f"{level.name}/{path.stem}"
            if said.get(path.stem) and not (language == "nl" and key in _SILENT):
                yield Utterance(key, path, said[path.stem])


def lines(script: Path) -> dict[str, str]:
    """Return the texts of a level's script by the names of their lines."""
    if not script.is_file():
        return {}
    found: dict[str, str] = {}
    name = ""
    for match in _DIALOG.finditer(script.read_text(encoding="utf-8")):
        if match[1] is not None:
            name = match[1]
        else:
            found[name] = _ESCAPED.sub(r"\1", match[2])
    return found
