"""One function that gives any set of labelled texts, split by split."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from applications.datasets import labelled
from applications.datasets.pairs import SPLITS
from applications.datasets.preparation import (
    find_builder,
    prepare,
    quiet_tfds,
    stated_licence,
)
from applications.errors import require_known

if TYPE_CHECKING:
    import tensorflow as tf
    import tensorflow_datasets as tfds

# Module and class of each builder of ours, imported when it is asked for.
OURS = {"vader": ("vader", "Vader")}
OTHERS = (
    "the path of a file that ends in .csv",
    "a set of labelled texts of TFDS such as imdb_reviews",
)

_INSTEAD = "Use vader from a PyPI package, or a CSV file of your own."


class TextSet(NamedTuple):
    """What is known of a set before any text is read.

    Attributes:
        class_names: The names of the labels 0, 1, ...
        further_tests: Splits beside the three: texts of other domains.
        licence: As its builder states it, on one line.
    """

    class_names: tuple[str, ...]
    further_tests: tuple[str, ...]
    licence: str


def describe(
    name: str,
    data_dir: Path | str | None = None,
    columns: tuple[str, str] = ("text", "label"),
) -> TextSet:
    """Return the classes, further tests and licence of a set; see `load_texts`."""
    with quiet_tfds():
        builder = _builder(name, data_dir, columns)
        _, label = _keys(name, builder.info)
        return TextSet(
            tuple(builder.info.features[label].names),
            tuple(getattr(builder, "FURTHER_TESTS", ())),
            stated_licence(builder),
        )


def load_texts(
    name: str,
    split: str,
    data_dir: Path | str | None = None,
    columns: tuple[str, str] = ("text", "label"),
) -> "tf.data.Dataset":
    """Return one split of a set of labelled texts, in an order that never changes.

    Args:
        name: A set of ours (`vader`), the path of a CSV file (`my/texts.csv`), or any
            set of TFDS with one text and one label (`imdb_reviews`). Parts that such a
            set lacks are carved from train, see `labelled.parts`.
        split: `"train"`, `"validation"`, `"test"`, or one of the set's further tests.
        data_dir: The folder of prepared sets. Defaults to TFDS's own.
        columns: What the header of a CSV file calls text and label.

    Returns:
        A dataset of `{"text": string, "label": int64}`. A set that is not prepared yet
        is prepared first, announced by one line on standard error.

    Raises:
        UserError: The name or split is unknown, the set is not one of labelled texts,
            or what it is made from cannot be read or fetched.
    """
    import tensorflow_datasets as tfds

    with quiet_tfds():
        builder = _builder(name, data_dir, columns)
        text, label = _keys(name, builder.info)
        further = getattr(builder, "FURTHER_TESTS", ())
        require_known("split", split, (*SPLITS, *further))
        prepare(name, builder, _INSTEAD)
        part = split if split in further else labelled.parts(builder, label)[split]
    rows = builder.as_dataset(
        split=part, read_config=tfds.ReadConfig(try_autocache=False)
    )
    return rows.map(lambda row: {"text": row[text], "label": row[label]})


def _builder(
    name: str, data_dir: Path | str | None, columns: tuple[str, str]
) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet."""
    if name.endswith(".csv"):
        from applications.datasets.labelled_csv import Columns, LabelledCsv, config_of

        config = config_of(Path(name).expanduser(), Columns(*columns))
        return LabelledCsv(config=config, data_dir=data_dir)
    return find_builder("set of labelled texts", name, OURS, OTHERS, data_dir)


def _keys(name: str, info: "tfds.core.DatasetInfo") -> tuple[str, str]:
    """Return the names of the text and the label of a set."""
    import tensorflow_datasets as tfds

    return labelled.keys(name, info, tfds.features.Text, "texts")
