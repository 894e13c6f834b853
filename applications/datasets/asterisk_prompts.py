"""The builder `asterisk_prompts`: short words of a telephone, in five languages."""

import dataclasses
import string
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.fetch import debian_package
from applications.datasets.waveform import Waveform

LANGUAGES = ("en", "es", "fr", "it", "ru")

_NUMBERS = (*range(21), *range(30, 100, 10))
_SIGNS = (34, *range(36, 43), 44, *range(58, 61), 62, 63, *range(91, 97))
_SIGNS = (*_SIGNS, *range(123, 127))

# The words that all languages have, which are the files' names.
WORDS = {
    "digits": (
        *(f"{number}" for number in _NUMBERS),
        *(f"h-{number}" for number in _NUMBERS[1:]),  # first, second, ...
        *(f"day-{number}" for number in range(7)),
        *(f"mon-{number}" for number in range(12)),
        *("hundred", "thousand", "million", "h-hundred", "h-thousand", "h-million"),
        *("h-billion", "minus", "a-m", "p-m", "oclock", "at", "today", "tomorrow"),
        *("yesterday", "dollars", "pound", "star"),
    ),
    "letters": (
        *string.ascii_lowercase,
        *(f"ascii{code}" for code in _SIGNS),
        *("at", "dash", "dollar", "dot", "equals", "exclaimation-point", "plus"),
        *("slash", "space"),
    ),
    "phonetic": tuple(f"{letter}_p" for letter in string.ascii_lowercase),
}
KINDS = tuple(WORDS)

# Whose clips validate a model that is tested on a language. English and Spanish are one
# speaker's, who is then not in train.
_VALIDATION = {"en": "es", "es": "en", "fr": "it", "it": "ru", "ru": "fr"}

_PACKAGE = "asterisk-core-sounds-{}-wav"
_FOLDER = "usr/share/asterisk/sounds"
_SAMPLE_RATE = 8_000
_INSTEAD = "Use spoken_digits, or the path of a folder, folder/<class>/*.wav."


class Clip(NamedTuple):
    """A recording, the word that it says, of which kind, and in which language."""

    path: Path
    word: str
    kind: str
    language: str

    @property
    def label(self) -> str:
        """Its class: two kinds have words of one name, such as `at`."""
        return f"{self.kind}/{self.word}"


@dataclasses.dataclass(eq=False, kw_only=True)
class PromptsConfig(tfds.core.BuilderConfig):
    """Which words, and the language that a model is tested on.

    Args:
        kinds: Folders of the packages.
        language: The one left out of training.
    """

    kinds: tuple[str, ...] = KINDS
    language: str = LANGUAGES[0]


class AsteriskPrompts(tfds.core.GeneratorBasedBuilder):
    """Prompts of the telephone exchange Asterisk: digits, letters, phonetic alphabet.

    From the Debian packages `asterisk-core-sounds-{en,es,fr,it,ru}-wav`: one clip of
    each word and language, of 8 kHz, by one voice for English and Spanish (Allison
    Smith) and one each for French (June Wallack), Italian (Carlo Flora) and Russian
    (IvrvoiceRU). The class is the name of folder and file, `digits/7` or
    `phonetic/a_p`: the same meaning in every language, the same sound only where they
    share the word. `digits` holds numbers, ordinals, days and months, `letters` signs
    too. Kept are the classes that all five languages have.

    With one clip a language nothing but a language can be held out:
    `asterisk_prompts/phonetic-ru` is tested on Russian, `all-ru` on all its words.
    Another language validates, here French, and three are left to train on. English and
    Spanish validate each other, so that no voice of a test is in its train.

    Counts for every language, from version 1.6.1:

    | kind | classes | train | validation | test |
    |---|---|---|---|---|
    | digits | 92 | 276 | 92 | 92 |
    | letters | 59 | 177 | 59 | 59 |
    | phonetic | 26 | 78 | 26 | 26 |
    | all | 177 | 531 | 177 | 177 |
    """

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS: ClassVar = [
        PromptsConfig(name=f"{name}-{language}", kinds=kinds, language=language)
        for name, kinds in {"all": KINDS, **{kind: (kind,) for kind in KINDS}}.items()
        for language in LANGUAGES
    ]

    def _info(self) -> tfds.core.DatasetInfo:
        labels = labels_of(self.builder_config.kinds)
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {
                    "audio": Waveform(_SAMPLE_RATE),
                    "label": tfds.features.ClassLabel(names=labels),
                    "language": tfds.features.ClassLabel(names=list(LANGUAGES)),
                    "kind": tfds.features.ClassLabel(names=list(KINDS)),
                }
            ),
            supervised_keys=("audio", "label"),
            homepage="https://www.asterisk.org",
            license="CC-BY-SA-3.0 (English, Spanish, French), CC-BY-3.0 (others)",
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; ours come from packages
        folders = {
            language: debian_package(_PACKAGE.format(language), _INSTEAD).root / _FOLDER
            for language in LANGUAGES
        }
        clips = clips_from(folders, self.builder_config.kinds)
        parts = split(clips, self.builder_config.language)
        return {name: self._generate_examples(part) for name, part in parts.items()}

    def _generate_examples(
        self, clips: list[Clip]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        from applications.audio.reader import as_samples, read

        for clip in clips:
            waveform, rate = read(clip.path)
            if rate != _SAMPLE_RATE:
                raise DataError(f"{clip.path} has {rate} Hz, not {_SAMPLE_RATE}.")
            yield (
                f"{clip.language}/{clip.label}",
                {
                    "audio": as_samples(waveform),
                    "label": clip.label,
                    "language": clip.language,
                    "kind": clip.kind,
                },
            )


def labels_of(kinds: Iterable[str]) -> list[str]:
    """The classes of some kinds of words, in order."""
    return sorted(f"{kind}/{word}" for kind in kinds for word in WORDS[kind])


def clips_from(folders: dict[str, Path], kinds: Iterable[str]) -> list[Clip]:
    """Return the clip of every word of some kinds in every language.

    Args:
        folders: Of the sounds of each language.
        kinds: Which folders of these to look into.

    Raises:
        DataError: There is none for a word.
    """
    return [
        _clip(folder, word, kind, language)
        for language, folder in folders.items()
        for kind in kinds
        for word in WORDS[kind]
    ]


def _clip(folder: Path, word: str, kind: str, language: str) -> Clip:
    found = sorted(folder.glob(f"*/{kind}/{word}.wav"))
    if not found:
        raise DataError(f"{folder} has no clip of {kind}/{word} in it.")
    return Clip(found[0], word, kind, language)


def split(clips: list[Clip], language: str) -> dict[str, list[Clip]]:
    """Hold one language out for the test, and another one for validation."""
    held_out = {"test": language, "validation": _VALIDATION[language]}
    parts = {
        name: [clip for clip in clips if clip.language == own]
        for name, own in held_out.items()
    }
    rest = [clip for clip in clips if clip.language not in held_out.values()]
    return {"train": rest, **parts}
