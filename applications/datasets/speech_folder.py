"""The builder `speech_folder`: a user's own recordings, with a file of their texts."""

from pathlib import Path

from applications.datasets import listed_files
from applications.datasets.class_folders import (
    RECORDINGS,
    FolderConfig,
    split_files,
    split_of,
)
from applications.datasets.errors import DataError
from applications.datasets.speech_builder import SpeechBuilder
from applications.datasets.utterances import Utterance, spoken

TRANSCRIPTS = listed_files.Listing("transcripts.tsv", RECORDINGS, "text", spoken)


class SpeechFolder(SpeechBuilder):
    """A folder of recordings and a `transcripts.tsv` of `file<TAB>text` lines in it.

    WAV, FLAC, OGG and MP3 files of any rate and number of channels, stored as one
    channel of 16 kHz; UTF-8, no header, one line for each file. Texts are stored as
    their lower-case words (`utterances.spoken`).

    A file in a folder `train`, `validation` or `test` is of that split (in upper or
    lower case; `val`, `valid` and `dev` are validation). Without these a recording goes
    by the hash of its words (5 % test, 5 % validation), so that a text is never on two
    sides, while a speaker may be; a split without a folder is filled from train by the
    same rule. A recording held out by its folder whose copy also stands in train, or in
    test for one of validation, is left out, and so is one without a text, which is said
    on standard error.
    """

    LICENSE = "The user's own."

    def _utterances(self) -> list[Utterance]:
        return read(Path(self.builder_config.path))

    def _split(self, utterances: list[Utterance]) -> dict[str, list[Utterance]]:
        return split(utterances)


def config_of(folder: Path) -> FolderConfig:
    """Name a configuration after a folder; see `listed_files.config_of`."""
    return listed_files.config_of(folder, TRANSCRIPTS)


def read(folder: Path) -> list[Utterance]:
    """Read and check a folder with its texts, in the order of the file.

    Raises:
        DataError: What `listed_files.read` refuses, or a file has two texts.
    """
    texts = listed_files.read(folder, TRANSCRIPTS)
    listed_files.say_unlisted(folder, TRANSCRIPTS, texts)
    for key, own in texts.items():
        if len(own) > 1:
            path = folder / TRANSCRIPTS.name
            raise DataError(f"{path} has {len(own)} texts of {key}; expected one.")
    return [Utterance(key, folder / key, own[0]) for key, own in texts.items()]


def split(utterances: list[Utterance]) -> dict[str, list[Utterance]]:
    """Split recordings by their folder or, where that says nothing, by their words.

    Raises:
        DataError: A split is empty or has only copies, or a file cannot be read.
    """
    by_path = {utterance.path: utterance for utterance in utterances}
    given = {
        utterance.path: split_of(utterance.key.partition("/")[0])
        for utterance in utterances
    }
    words = {utterance.path: utterance.words for utterance in utterances}
    parts = split_files(given, RECORDINGS, words)
    return {name: [by_path[path] for path in part] for name, part in parts.items()}
