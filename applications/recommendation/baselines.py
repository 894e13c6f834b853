"""What a model of sequences must beat: what all take, and what goes with what."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from applications.recommendation.data import HeldOut
from applications.recommendation.ranking import full_ranks
from keras_attention.errors import import_extra

EXTRA = "recommendation"

_ITEMS_AT_ONCE = 512


class Popularity:
    """The items that most users took in training, for everybody the same.

    Args:
        counts: How many took each item, `(V,)`.
    """

    def __init__(self, counts: np.ndarray):
        self.counts = counts

    def __call__(self, histories: Sequence[np.ndarray]) -> np.ndarray:
        """Scores `(n, V)`; many items have the same."""
        scores = self.counts.astype("float32")
        return np.broadcast_to(scores, (len(histories), len(scores)))


class ItemNeighbours:
    """Items that the same users took as those of a history: item-kNN.

    The score of an item is the sum of its similarities to the items of the history,
    where each item has its `neighbours` most similar ones. The similarity is the cosine
    between the sets of users, `|A and B| / sqrt(|A| |B|)`. Order does not count.

    Args:
        similar: Similarities of each item to its nearest, a sparse matrix `(V, V)`.
        neighbours: Similar items kept of each.

    Source:
        Sarwar et al. 2001, "Item-based collaborative filtering recommendation
        algorithms", section 3.1.1; Deshpande and Karypis 2004, "Item-based top-N
        recommendation algorithms".
    """

    def __init__(self, similar: Any, neighbours: int):
        self._similar, self.neighbours = similar, neighbours

    def __call__(self, histories: Sequence[np.ndarray]) -> np.ndarray:
        """Scores `(n, V)`, 0 for items that go with none of a history."""
        sparse = import_extra("scipy.sparse", EXTRA)
        took = _users_and_items(sparse, histories, self._similar.shape[0] - 1)
        return np.asarray((took @ self._similar).todense(), "float32")


def item_neighbours(
    learned: Sequence[np.ndarray], num_items: int, counts: Sequence[int]
) -> list[ItemNeighbours]:
    """Item-kNN with each of several numbers of neighbours.

    Args:
        learned: What each user took in training.
        num_items: How many items there are.
        counts: Similar items kept of each.
    """
    sparse = import_extra("scipy.sparse", EXTRA)
    took = _users_and_items(sparse, learned, num_items)
    lengths = np.sqrt(np.maximum(took.sum(axis=0).A1, 1))
    scaled = took @ sparse.diags(1 / lengths)
    parts: list[list[Any]] = [[] for _ in counts]
    for start in range(0, num_items + 1, _ITEMS_AT_ONCE):
        similar = _similarities(scaled, start)
        for kept, count in zip(parts, counts, strict=True):
            kept.append(sparse.csr_matrix(_nearest(similar, count)))
    return [
        ItemNeighbours(sparse.vstack(kept).tocsr(), count)
        for kept, count in zip(parts, counts, strict=True)
    ]


def best_neighbours(
    learned: Sequence[np.ndarray],
    num_items: int,
    validation: HeldOut,
    chosen: Sequence[int],
    k: int,
) -> ItemNeighbours:
    """Item-kNN with the number of neighbours that is best on validation, by NDCG@k."""
    found = item_neighbours(learned, num_items, chosen)
    return max(found, key=lambda one: full_ranks(one, validation).gains(k).mean())


def _users_and_items(
    sparse: Any, histories: Sequence[np.ndarray], num_items: int
) -> Any:
    """Which user took which item, a sparse matrix `(n, V)` of 0 and 1."""
    users = np.repeat(np.arange(len(histories)), [len(items) for items in histories])
    items = np.concatenate([np.zeros(0, "int32"), *histories])
    shape = (len(histories), num_items + 1)
    return sparse.csr_matrix((np.ones(len(items), "float32"), (users, items)), shape)


def _similarities(scaled: Any, start: int) -> np.ndarray:
    """Of some items to all others, `(b, V)`."""
    some = scaled[:, start : start + _ITEMS_AT_ONCE]
    similar = np.asarray((some.T @ scaled).todense())
    rows = np.arange(len(similar))
    similar[rows, start + rows] = 0  # itself
    return similar


def _nearest(similar: np.ndarray, neighbours: int) -> np.ndarray:
    """The largest similarities of each row `(b, V)`, 0 elsewhere."""
    if neighbours >= similar.shape[1]:
        return similar
    far = np.argpartition(-similar, neighbours, axis=1)[:, neighbours:]
    kept = similar.copy()
    np.put_along_axis(kept, far, 0, axis=1)
    return kept
