"""What all our builders of speech share: features, splits and example keys."""

import abc
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.utterances import Utterance, split
from applications.datasets.waveform import Waveform


class SpeechBuilder(tfds.core.GeneratorBasedBuilder):
    """Recordings with their texts, split so that no text is on two sides.

    A subclass says where its recordings come from; examples are `{"audio", "text",
    "key"}`: one channel of 16 kHz from a file of any rate and number of channels, the
    spoken words, and the recording's name within the set. What is kept of a text and
    the split rule stand at `applications.datasets.utterances`.
    """

    VERSION = tfds.core.Version("1.0.0")
    HOMEPAGE = ""
    LICENSE = ""

    @abc.abstractmethod
    def _utterances(self) -> Iterable[Utterance]:
        """Return all recordings of the set."""

    def _split(self, utterances: Iterable[Utterance]) -> dict[str, list[Utterance]]:
        return split(utterances)

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {
                    "audio": Waveform(),
                    "text": tfds.features.Text(),
                    "key": tfds.features.Text(),
                }
            ),
            supervised_keys=("audio", "text"),
            homepage=self.HOMEPAGE,
            license=self.LICENSE,
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; ours come from packages and files
        parts = self._split(self._utterances())
        for name, part in parts.items():
            if not part:
                raise DataError(
                    f"{self.name} has too few recordings to be split: none is for "
                    f"{name}."
                )
        return {name: self._generate_examples(part) for name, part in parts.items()}

    def _generate_examples(
        self, part: list[Utterance]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        from applications.audio.reader import read_samples

        for utterance in part:
            yield (
                utterance.key,
                {
                    "audio": read_samples(utterance.path),
                    "text": utterance.words,
                    "key": utterance.key,
                },
            )
