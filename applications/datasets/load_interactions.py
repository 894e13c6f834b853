"""One function that gives any log of who took what, user by user."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from applications.datasets.errors import DataError
from applications.datasets.interactions import (
    Catalogue,
    History,
    Interaction,
    Log,
    sequences,
)
from applications.datasets.preparation import (
    find_builder,
    is_online,
    prepare,
    quiet_tfds,
    stated_licence,
)

if TYPE_CHECKING:
    import tensorflow as tf
    import tensorflow_datasets as tfds

# Module and class of each builder of ours, imported when it is asked for.
OURS = {"movielens_100k": ("movielens_100k", "Movielens100k")}
OTHERS = (
    "the path of a file that ends in .csv",
    "a set of ratings of TFDS such as movielens/1m-ratings",
)
COLUMNS = ("user", "item", "time", "title")

# What a set of TFDS must have: who, what, when, and the title.
_RATED = ("user_id", "movie_id", "timestamp", "movie_title")
_ROWS_AT_ONCE = 16_384
_INSTEAD = "Use movielens_100k from a PyPI package, or a CSV file of your own."


class Interactions(NamedTuple):
    """A log that was read.

    Attributes:
        log: Items and histories.
        missing: Rows that were left out because a value was missing.
    """

    log: Log
    missing: int


def load_interactions(
    name: str,
    data_dir: Path | str | None = None,
    columns: tuple[str, str, str, str] = COLUMNS,
) -> Interactions:
    """Return what every user of a log took, in order.

    Args:
        name: A set of ours (`movielens_100k`), the path of a CSV file (`my/log.csv`),
            or a set of ratings of TFDS (`movielens/1m-ratings`). TFDS writes ratings in
            the order of a hash, which never changes, so there ratings of one second are
            in that order; ours and a user's own are in that of the file.
        data_dir: The folder of prepared sets. Defaults to TFDS's own.
        columns: What the header of a CSV file calls user, item, time and title.

    Returns:
        The log. A set that is not prepared yet is prepared first, announced by one line
        on standard error.

    Raises:
        UserError: The name is unknown, the set is no log, or what it is made from
            cannot be read or fetched.
    """
    with quiet_tfds():
        builder = _builder(name, data_dir, columns)
        _check_features(name, builder)
        prepare(name, builder, _INSTEAD)
        rows = _rows(builder)
        if is_online(type(builder)):
            return Interactions(sequences(_rated(rows)), 0)
        return _by_user(rows, builder.info.metadata)


def licence(
    name: str,
    data_dir: Path | str | None = None,
    columns: tuple[str, str, str, str] = COLUMNS,
) -> str:
    """The licence of a set as its builder states it, on one line."""
    with quiet_tfds():
        return stated_licence(_builder(name, data_dir, columns))


def _builder(
    name: str, data_dir: Path | str | None, columns: tuple[str, str, str, str]
) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet."""
    if name.endswith(".csv"):
        from applications.datasets.interaction_csv import (
            Columns,
            InteractionCsv,
            config_of,
        )

        config = config_of(Path(name).expanduser(), Columns(*columns))
        return InteractionCsv(config=config, data_dir=data_dir)
    return find_builder("log", name, OURS, OTHERS, data_dir)


def _check_features(name: str, builder: "tfds.core.DatasetBuilder") -> None:
    features = builder.info.features or {}
    wanted = _RATED if is_online(type(builder)) else History._fields
    if not set(wanted) <= set(features):
        holds = ", ".join(features)
        raise DataError(
            f"{name} is no log of users and items; its examples hold {holds}."
        )


def _rows(builder: "tfds.core.DatasetBuilder") -> "tf.data.Dataset":
    """All examples, in an order that never changes."""
    import tensorflow_datasets as tfds

    config = tfds.ReadConfig(try_autocache=False, interleave_cycle_length=1)
    parts = "+".join(builder.info.splits)
    return builder.as_dataset(split=parts, read_config=config)


def _rated(rows: "tf.data.Dataset") -> Iterator[Interaction]:
    """The ratings of a set of TFDS."""
    wanted = rows.map(lambda row: {name: row[name] for name in _RATED})
    for batch in wanted.batch(_ROWS_AT_ONCE).as_numpy_iterator():
        columns = (batch[name].tolist() for name in _RATED)
        for user, item, time, title in zip(*columns, strict=True):
            called = title.decode("utf-8", "replace")
            yield Interaction(user.decode(), item.decode(), float(time), called)


def _by_user(rows: "tf.data.Dataset", metadata: dict) -> Interactions:
    """The histories that a builder of ours wrote."""
    histories = [
        History(
            row["user"].decode(),
            np.asarray(row["items"], "int32"),
            np.asarray(row["times"], "int64"),
        )
        for row in rows.as_numpy_iterator()
    ]
    catalogue = Catalogue(tuple(metadata["names"]), tuple(metadata["titles"]))
    log = Log(catalogue, histories, int(metadata["repeated"]))
    return Interactions(log, int(metadata["missing"]))
