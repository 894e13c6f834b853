"""What our builders of logs share: a row for each user, titles beside them."""

import abc
from collections.abc import Iterator

import numpy as np
import tensorflow_datasets as tfds

from applications.datasets.errors import DataError
from applications.datasets.interactions import History, Log, held_out

PART = "users"


class InteractionBuilder(tfds.core.GeneratorBasedBuilder):
    """Who took what, in order: examples are `{"user", "items", "times"}`, one a user.

    `items` are the numbers of a user's items in the catalogue, in the order of time;
    `times` are in whole seconds. There is one part, `users`: leave-last-one-out splits
    every row (`applications.datasets.interactions.held_out`). The metadata have the
    `names` and the `titles` of the items by their number, and what was left out.
    """

    VERSION = tfds.core.Version("1.0.0")
    HOMEPAGE = ""
    LICENSE = ""

    @abc.abstractmethod
    def _log(self) -> tuple[Log, int]:
        """Return the log, and how many rows had a value missing."""

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=type(self).__doc__,
            features=tfds.features.FeaturesDict(
                {
                    "user": tfds.features.Text(),
                    "items": tfds.features.Sequence(np.int32),
                    "times": tfds.features.Sequence(np.int64),
                }
            ),
            homepage=self.HOMEPAGE,
            license=self.LICENSE,
            metadata=tfds.core.MetadataDict(),
            disable_shuffling=True,
        )

    def _split_generators(self, dl_manager) -> dict[str, Iterator]:
        del dl_manager  # it downloads by address; ours come from packages and files
        log, missing = self._log()
        if not any(held_out(history.items, "test") for history in log.histories):
            raise DataError(
                f"{self.name} has no user with three items: one to learn from, one for "
                "validation and one for test."
            )
        self.info.metadata.update(
            names=list(log.catalogue.names),
            titles=list(log.catalogue.titles),
            missing=missing,
            repeated=log.repeated,
        )
        return {PART: self._generate_examples(log.histories)}

    def _generate_examples(
        self, histories: list[History]
    ) -> Iterator[tuple[int, dict]]:
        for number, history in enumerate(histories):
            yield number, history._asdict()
