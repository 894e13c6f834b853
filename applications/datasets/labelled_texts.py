"""What our builders of labelled texts share: features, and which texts are alike."""

import abc
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS, split_name

_KEPT = "LMN"  # letters, their marks, numbers


class LabelledText(NamedTuple):
    """A text and the name of its class."""

    text: str
    label: str


class LabelledTextBuilder(tfds.core.GeneratorBasedBuilder):
    """A set of texts with one class each; examples are `{"text", "label"}`."""

    VERSION = tfds.core.Version("1.0.0")
    HOMEPAGE = ""
    LICENSE = ""

    FURTHER_TESTS: ClassVar[tuple[str, ...]] = ()
    """Splits beside the three: texts of other domains with the same classes."""

    @abc.abstractmethod
    def _class_names(self) -> Sequence[str]:
        """Return the names of the labels 0, 1, ..."""

    @abc.abstractmethod
    def _parts(self) -> dict[str, list[LabelledText]]:
        """Return the texts of every split."""

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {
                    "text": tfds.features.Text(),
                    "label": tfds.features.ClassLabel(names=list(self._class_names())),
                }
            ),
            supervised_keys=("text", "label"),
            homepage=self.HOMEPAGE,
            license=self.LICENSE,
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; ours come from packages and files
        parts = self._parts()
        for name in SPLITS:
            if not parts[name]:
                raise DataError(
                    f"{self.name} has too few texts to be split: none is for {name}, "
                    f"which gets about {'90' if name == 'train' else '5'} of 100."
                )
        return {name: self._generate_examples(part) for name, part in parts.items()}

    def _generate_examples(
        self, part: list[LabelledText]
    ) -> Iterator[tuple[int, dict[str, str]]]:
        for number, row in enumerate(part):
            yield number, row._asdict()


def wording(text: str) -> str:
    """The words of a text without case, punctuation and forms of Unicode.

    Texts that differ in nothing else count as alike where sets are split. One that
    holds neither letters nor numbers, such as an emoji, is its own wording.

    Examples:
    >>> wording("Don't  PANIC!")
    'don t panic'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = (c if unicodedata.category(c)[0] in _KEPT else " " for c in folded)
    return " ".join("".join(kept).split()) or text.strip()


def unique(rows: Iterable[LabelledText]) -> list[LabelledText]:
    """The first of every text, spaces aside, in order."""
    first: dict[str, LabelledText] = {}
    for row in rows:
        first.setdefault(" ".join(row.text.split()), row)
    return list(first.values())


def split(rows: Iterable[LabelledText]) -> dict[str, list[LabelledText]]:
    """Split texts by the hash of their wording (`applications.datasets.pairs`).

    So texts that are alike are never on two sides, whatever their punctuation.
    """
    parts: dict[str, list[LabelledText]] = {name: [] for name in SPLITS}
    for row in rows:
        parts[split_name(wording(row.text))].append(row)
    return parts
