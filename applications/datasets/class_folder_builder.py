"""What our builders of a user's own class folders share, whatever the files are."""

import abc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import tensorflow_datasets as tfds

from applications.datasets.class_folders import (
    FileKind,
    LabelledFile,
    class_names,
    files,
    split,
)


class ClassFolderBuilder(tfds.core.GeneratorBasedBuilder):
    """Files in `folder/<class>/`, or in `folder/{train,validation,test}/<class>/`.

    A subclass says of which kind they are, and what is stored for one; examples are
    `{NAME, "label"}`. Which files count and how they are split stands at
    `applications.datasets.class_folders`.
    """

    VERSION = tfds.core.Version("1.0.0")
    KIND: ClassVar[FileKind]
    NAME: ClassVar[str]
    """What an example calls the content of its file."""

    @abc.abstractmethod
    def _feature(self) -> tfds.features.FeatureConnector:
        """Return the feature that a file becomes."""

    @abc.abstractmethod
    def _stored(self, path: Path) -> Any:
        """Return what is stored for a file; a `UserError` if it cannot be read."""

    def _info(self) -> tfds.core.DatasetInfo:
        names = class_names(self._files())
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {
                    self.NAME: self._feature(),
                    "label": tfds.features.ClassLabel(names=names),
                }
            ),
            supervised_keys=(self.NAME, "label"),
            license="The user's own.",
        )

    def _files(self) -> list[LabelledFile]:
        return files(Path(self.builder_config.path), self.KIND)

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; these are here
        parts = split(self._files(), self.KIND)
        return {name: self._generate_examples(part) for name, part in parts.items()}

    def _generate_examples(
        self, part: list[LabelledFile]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        for file in part:
            key = file.path.relative_to(self.builder_config.path).as_posix()
            yield key, {self.NAME: self._stored(file.path), "label": file.label}
