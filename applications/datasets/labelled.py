"""What sets of labelled examples share, of images, texts, sounds: labels and parts."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from applications.datasets.pairs import SPLITS
from applications.datasets.preparation import is_online, supervised_keys
from applications.errors import UserError

if TYPE_CHECKING:
    import tensorflow_datasets as tfds

# Where a set has no validation or test part, its train part gives it. TFDS writes a
# split in the order of a hash, so that these examples are random and always the same.
_NO_VALIDATION = {"train": "train[:95%]", "validation": "train[95%:]"}
_TRAIN_ONLY = {
    "train": "train[:90%]",
    "validation": "train[90%:95%]",
    "test": "train[95%:]",
}


def keys(
    name: str, info: "tfds.core.DatasetInfo", kind: type, kinds: str
) -> tuple[str, str]:
    """Return the names of the example and the label of a set.

    Args:
        name: The set as the user called it.
        info: Of its builder.
        kind: The feature that an example must be.
        kinds: What such examples are called: `"images"`.

    Raises:
        DataError: It is no set of such examples with one label each.
    """
    import tensorflow_datasets as tfds

    wanted = kind, tfds.features.ClassLabel
    return supervised_keys(name, info, wanted, f"labelled {kinds}")


def parts(builder: "tfds.core.DatasetBuilder", label: str) -> dict[str, str]:
    """Which parts of a prepared set, as TFDS writes them, are its three splits.

    A set without a validation part gets the last 5 % of its train part; one with a
    train part only gives 5 % for test too. One with a held-out part that is called
    validation, and no test, is tested on that; so is one whose test part has no labels,
    because a contest keeps them.

    Args:
        builder: Its builder.
        label: The name of its label.
    """
    return parts_of(_labelled(builder, label))


def parts_of(there: Iterable[str]) -> dict[str, str]:
    """The same of a set that has the parts `there`, and labels in all of them."""
    there = set(there)
    if {"validation", "test"} <= there:
        return {split: split for split in SPLITS}
    held_out = there & {"validation", "test"}
    return {**_NO_VALIDATION, "test": held_out.pop()} if held_out else _TRAIN_ONLY


def require_classes(name: str, known: Iterable[str], found: Iterable[str]) -> None:
    """Refuse a set whose classes are not those a model was trained on.

    Args:
        name: The set as the user called it.
        known: The classes of the model, in order.
        found: Those of the set.

    Raises:
        UserError: They differ; names what is new and what is gone.
    """
    known, found = tuple(known), tuple(found)
    if known != found:
        changes = [
            f"{'new' if one in found else 'gone'}: {one}"
            for one in sorted({*known} ^ {*found})
        ]
        raise UserError(
            f"The classes of {name} are not those the model was trained on; "
            f"{', '.join(changes)}. Train a new run."
        )


def _labelled(builder: "tfds.core.DatasetBuilder", label: str) -> set[str]:
    """The parts of a set, without a test part whose labels TFDS does not know.

    There it writes -1, for all of them or for none; all of ours have labels.
    """
    there = set(builder.info.splits)
    if "test" not in there or not is_online(type(builder)):
        return there
    return there if _first_label(builder, label) >= 0 else there - {"test"}


def _first_label(builder: "tfds.core.DatasetBuilder", label: str) -> int:
    import tensorflow_datasets as tfds

    rows = builder.as_dataset(
        split="test[:1]",
        decoders=tfds.decode.PartialDecoding({label: True}),
        read_config=tfds.ReadConfig(try_autocache=False),
    )
    return next((int(row[label]) for row in rows.as_numpy_iterator()), 0)
