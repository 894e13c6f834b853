"""Who took what, and when: from the rows of a log to one sequence for each user."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

SPLITS = ("train", "validation", "test")

_SHORTEST = 3  # one item to learn from, one for validation, one for test


class Interaction(NamedTuple):
    """A row of a log.

    Attributes:
        user: Who, by the log's own name.
        item: What, by the log's own name.
        time: When, in seconds.
        title: What the item is called, if the log says so.
    """

    user: str
    item: str
    time: float
    title: str = ""


class Catalogue(NamedTuple):
    """The items of a log: the number of each is its place here.

    Attributes:
        names: The log's own names; 0 stands for none, `""`.
        titles: What items are called, the names where the log has no titles.
    """

    names: tuple[str, ...]
    titles: tuple[str, ...]

    @property
    def num_items(self) -> int:
        """Without the place 0."""
        return len(self.names) - 1


class History(NamedTuple):
    """What a user took, in order.

    Attributes:
        user: By the log's own name.
        items: Numbers in the catalogue, int32 `(n,)`, none twice.
        times: In whole seconds, int64 `(n,)`.
    """

    user: str
    items: np.ndarray
    times: np.ndarray


class Log(NamedTuple):
    """A whole log, by user.

    Attributes:
        catalogue: Its items.
        histories: Of every user, in the order of the users' names.
        repeated: Rows that were left out: the user had the item already.
    """

    catalogue: Catalogue
    histories: list[History]
    repeated: int


def sequences(rows: Iterable[Interaction]) -> Log:
    """Put the rows of a log in order, user by user.

    Rows may come in any order of users and times. A user's items are in the order of
    their times; those of one time stay in the order of the rows, since any other order
    (such as that of their names) would be a pattern that nobody made. Of several rows
    of one user and one item the earliest counts, so that what is to be recommended is
    never what was taken before. Items are numbered from 1, names that are numbers by
    their size and others after them by their letters.

    Args:
        rows: In the order of the file.
    """
    by_user: dict[str, list[Interaction]] = {}
    titles: dict[str, str] = {}
    count = 0
    for row in rows:
        count += 1
        by_user.setdefault(row.user, []).append(row)
        titles[row.item] = titles.get(row.item) or row.title
    names = ("", *sorted(titles, key=_natural))
    catalogue = Catalogue(names, tuple(titles.get(name) or name for name in names))
    numbers = {name: number for number, name in enumerate(names)}
    histories = [
        _history(user, by_user[user], numbers) for user in sorted(by_user, key=_natural)
    ]
    kept = sum(len(history.items) for history in histories)
    return Log(catalogue, histories, count - kept)


def training_items(items: np.ndarray) -> np.ndarray:
    """What a model may learn from: all but the last two.

    Someone with fewer than three items is neither validated nor tested on, and gives
    all of them.

    Args:
        items: Of one user in order, `(n,)`.
    """
    return items[:-2] if len(items) >= _SHORTEST else items


def held_out(items: np.ndarray, split: str) -> tuple[np.ndarray, int] | None:
    """The item that is to be foreseen, and what was taken before it.

    Leave-last-one-out: the last item is the test, the one before it the validation.
    What precedes the test item holds the validation item.

    Args:
        items: Of one user in order, `(n,)`.
        split: `"validation"` or `"test"`.

    Returns:
        What was taken before, `(m,)`, and the item; `None` for someone with fewer than
        three items.
    """
    if len(items) < _SHORTEST:
        return None
    place = {"validation": -2, "test": -1}[split]
    return items[:place], int(items[place])


def counts(histories: Sequence[np.ndarray]) -> dict[str, int]:
    """How many items each split of leave-last-one-out has.

    Examples:
    >>> counts([np.array([5, 2, 9, 4]), np.array([3, 1])])
    {'train': 4, 'validation': 1, 'test': 1}
    """
    tested = sum(len(items) >= _SHORTEST for items in histories)
    learned = sum(len(training_items(items)) for items in histories)
    return dict(zip(SPLITS, (learned, tested, tested), strict=True))


def _history(
    user: str, rows: Sequence[Interaction], numbers: dict[str, int]
) -> History:
    """The first row of each item, in the order of times."""
    first: dict[str, Interaction] = {}
    for row in sorted(rows, key=lambda row: row.time):  # stable: ties keep their order
        first.setdefault(row.item, row)
    items = np.array([numbers[item] for item in first], "int32")
    times = np.array([np.floor(row.time) for row in first.values()], "int64")
    return History(user, items, times)


def _natural(name: str) -> tuple[bool, int, str]:
    """The place of a name: numbers by their size, then words."""
    is_number = name.isascii() and name.isdecimal()
    return not is_number, int(name) if is_number else 0, name
