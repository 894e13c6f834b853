"""What our builders of captioned images share: features, splits and example keys."""

import abc
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import tensorflow_datasets as tfds

from applications.datasets.captioned import Captioned, split, transparent_png
from applications.datasets.errors import DataError

LARGEST = 128  # pixels of a stored side


class CaptionBuilder(tfds.core.GeneratorBasedBuilder):
    """Images with captions, split so that no caption is on two sides.

    A subclass says where its images come from; examples are `{"image", "captions",
    "key"}`: the file, a PNG with alpha, one or more strings, and the image's name
    within the set. The split rule stands at `applications.datasets.captioned.split`.
    """

    VERSION = tfds.core.Version("1.0.0")
    HOMEPAGE = ""
    LICENSE = ""
    IMAGE: ClassVar[dict[str, Any]] = {
        "shape": (None, None, 4),
        "encoding_format": "png",
    }

    @abc.abstractmethod
    def _images(self) -> Iterable[Captioned]:
        """Return all images of the set."""

    def _split(self, images: Iterable[Captioned]) -> dict[str, list[Captioned]]:
        return split(images)

    def _contents(self, image: Captioned) -> bytes:
        """Return the file that is stored for an image."""
        return transparent_png(image.path, LARGEST)

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {
                    "image": tfds.features.Image(**self.IMAGE),
                    "captions": tfds.features.Sequence(tfds.features.Text()),
                    "key": tfds.features.Text(),
                }
            ),
            homepage=self.HOMEPAGE,
            license=self.LICENSE,
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; ours come from packages and files
        parts = self._split(self._images())
        for name, part in parts.items():
            if not part:
                raise DataError(
                    f"{self.name} has too few images to be split: none is for {name}."
                )
        return {name: self._generate_examples(part) for name, part in parts.items()}

    def _generate_examples(
        self, images: list[Captioned]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        for image in images:
            yield (
                image.key,
                {
                    "image": self._contents(image),
                    "captions": list(image.captions),
                    "key": image.key,
                },
            )
