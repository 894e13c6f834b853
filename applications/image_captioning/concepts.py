"""What counts as one example of a test set of drawings."""

from collections.abc import Sequence

import numpy as np

from applications.datasets.captioned import subject
from keras_attention.metrics import bootstrap_difference
from keras_attention.metrics.bootstrap import Difference


class Concepts:
    """Images that share a caption, taken together in every interval.

    Two vendors' drawings of one emoji, or a stamp called `A cow.` and the emoji `cow`,
    are no two independent examples: a system that knows the word is right on both. So
    intervals draw concepts, each with all its images. Captions are equal if their words
    are, whatever the article in front, as for the splits; an image with two captions
    joins the images of both. With as many images of each the figures are those of the
    concepts' means.

    Args:
        references: The captions of every image.

    Attributes:
        count: How many there are.
    """

    def __init__(self, references: Sequence[Sequence[str]]):
        self._of = _joined([[subject(text) for text in one] for one in references])
        self.count = int(self._of.max()) + 1

    def difference(
        self,
        first: np.ndarray,
        second: np.ndarray,
        counted: np.ndarray | None = None,
    ) -> Difference:
        """The difference of two means over images, and its 95 % interval over concepts.

        Args:
            first: `(n,)`, a figure of every image.
            second: `(n,)`, what it is held against.
            counted: `(n,)` bool, the images to look at; by default all.
        """
        chosen = slice(None) if counted is None else counted
        return bootstrap_difference(
            self._sums(first, chosen),
            self._sums(second, chosen),
            lambda sums: sums[0] / sums[1],
        )

    def _sums(self, values: np.ndarray, chosen: slice | np.ndarray) -> np.ndarray:
        """Sum and number of the chosen images of each concept that has any."""
        of = self._of[chosen]
        counts = np.bincount(of, minlength=self.count)
        sums = np.bincount(of, np.asarray(values)[chosen], minlength=self.count)
        return np.stack([sums, counts], axis=1)[counts > 0]


def _joined(names: Sequence[Sequence[str]]) -> np.ndarray:
    """A number of each row, the same of rows that a chain of shared names joins."""
    above, first = list(range(len(names))), {}

    def top(row: int) -> int:
        while above[row] != row:
            row = above[row]
        return row

    for row, own in enumerate(names):
        for name in own:
            above[top(row)] = top(first.setdefault(name, row))
    return np.unique([top(row) for row in above], return_inverse=True)[1]
