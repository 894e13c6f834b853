"""What all our translation builders share: features, splits and example keys."""

import abc
from collections.abc import Iterable, Iterator

import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.pairs import Pair, split


class TranslationBuilder(tfds.core.GeneratorBasedBuilder):
    """A corpus of sentence pairs, split by the hash of the document they are from.

    A subclass says where its pairs come from; examples are `{"source", "target",
    "group"}`, three strings, `group` naming the document. The split rule stands at
    `applications.datasets.pairs.split`.
    """

    VERSION = tfds.core.Version("1.0.0")
    HOMEPAGE = ""
    LICENSE = ""

    @abc.abstractmethod
    def _pairs(self) -> Iterable[Pair]:
        """Return all pairs of the chosen configuration."""

    def _parts(self) -> dict[str, list[Pair]]:
        """Return the pairs by split."""
        return split(self._pairs())

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {name: tfds.features.Text() for name in Pair._fields}
            ),
            supervised_keys=("source", "target"),
            homepage=self.HOMEPAGE,
            license=self.LICENSE,
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; ours come from packages and files
        parts = self._parts()
        for name, pairs in parts.items():
            if not pairs:
                raise DataError(
                    f"{self.name} has too few pairs to be split: none is for {name}, "
                    "which gets about "
                    f"{'90' if name == 'train' else '5'} of 100 documents."
                )
        return {name: self._generate_examples(pairs) for name, pairs in parts.items()}

    def _generate_examples(self, pairs: list[Pair]) -> Iterator[tuple[int, dict]]:
        for number, pair in enumerate(pairs):
            yield number, pair._asdict()
