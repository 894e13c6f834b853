"""One function that gives any set of captioned images, as files, split by split."""

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS
from applications.datasets.preparation import (
    find_builder,
    is_folder,
    parts_named,
    prepare,
    quiet_tfds,
    stated_licence,
)
from applications.errors import require_known

if TYPE_CHECKING:
    import tensorflow as tf
    import tensorflow_datasets as tfds

# Module and class of each builder of ours, imported when it is asked for.
OURS = {
    "emoji": ("emoji", "Emoji"),
    "tuxpaint_stamps": ("tuxpaint_stamps", "TuxpaintStamps"),
}
OTHERS = (
    "several of them joined by +",
    "the path of a folder with images and a captions.tsv",
    "coco_captions of TFDS",
)

_INSTEAD = "Use emoji+tuxpaint_stamps, or a folder of your own images."
_JOINT = "+"

# What the parts of a split are called. Karpathy's train, of which all results on COCO
# are reported, is what TFDS has as `train` and `restval`.
_PARTS = {
    "train": ("train", "restval"),
    "validation": ("validation", "val"),
    "test": ("test",),
}


def load_captions(
    name: str, split: str, data_dir: Path | str | None = None
) -> "tf.data.Dataset":
    """Return one split of a set of captioned images, in an order that never changes.

    Args:
        name: A set of ours (`emoji`, `tuxpaint_stamps`), the path of a folder with
            images and a `captions.tsv`, a set of TFDS with captions (`coco_captions`),
            or several of these joined by `+`. What is held out in one and has a
            caption that is in train of another is left out then.
        split: `"train"`, `"validation"` or `"test"`.
        data_dir: The folder of prepared sets. Defaults to TFDS's own.

    Returns:
        A dataset of `{"image": string, "captions": (n,) string, "key": string, "set":
        string}`: the content of the image's file, alpha included where it has any, its
        captions as they were written, its name within the set, and the set. A set that
        is not prepared yet is prepared first, announced by one line on standard error.

    Raises:
        UserError: The name or split is unknown, the set is not one of captioned
            images, or what it is made from cannot be read or fetched.
    """
    require_known("split", split, SPLITS)
    names = _names(name)
    with quiet_tfds():
        builders = [_checked_builder(one, data_dir) for one in names]
        for one, builder in zip(names, builders, strict=True):
            prepare(one, builder, _INSTEAD)
    parts = [
        _rows(builder, split).map(functools.partial(_marked, name=one))
        for one, builder in zip(names, builders, strict=True)
    ]
    if len(parts) > 1 and split != "train":
        trains = [_subjects(_rows(builder, "train")) for builder in builders]
        parts = [
            _without(rows, set().union(*trains[:own], *trains[own + 1 :]))
            for own, rows in enumerate(parts)
        ]
    joined = parts[0]
    for rows in parts[1:]:
        joined = joined.concatenate(rows)
    return joined


def licence(name: str, data_dir: Path | str | None = None) -> str:
    """The licences of a set as its builders state them, on one line."""
    with quiet_tfds():
        return "; ".join(
            stated_licence(_builder(one, data_dir)) for one in _names(name)
        )


def _names(name: str) -> list[str]:
    return [name] if Path(name).is_dir() else name.split(_JOINT)


def _checked_builder(
    name: str, data_dir: Path | str | None
) -> "tfds.core.DatasetBuilder":
    builder = _builder(name, data_dir)
    features = builder.info.features
    if not _has_captions(features):
        holds = ", ".join(features)
        raise DataError(
            f"{name} is no set of captioned images; its examples hold {holds}."
        )
    return builder


def _builder(name: str, data_dir: Path | str | None) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet."""
    if is_folder(name, OURS):
        from applications.datasets.caption_folder import CaptionFolder, config_of

        folder = Path(name).expanduser()
        return CaptionFolder(config=config_of(folder), data_dir=data_dir)
    return find_builder("set of captioned images", name, OURS, OTHERS, data_dir)


def _has_captions(features: "tfds.features.FeaturesDict") -> bool:
    """Whether examples have an image and texts, alone or each with other things."""
    import tensorflow_datasets as tfds

    found = dict(features.items())
    captions = found.get("captions")
    if not (
        isinstance(found.get("image"), tfds.features.Image)
        and isinstance(captions, tfds.features.Sequence)
    ):
        return False
    dtype = captions.dtype
    return (dtype.get("text") if isinstance(dtype, dict) else dtype) == np.object_


def _rows(builder: "tfds.core.DatasetBuilder", split: str) -> "tf.data.Dataset":
    import tensorflow_datasets as tfds

    key = "key" if "key" in builder.info.features else "image/filename"
    rows = builder.as_dataset(
        split=parts_named(_PARTS[split], builder.name, split, builder),
        decoders=tfds.decode.PartialDecoding(
            dict.fromkeys(("image", "captions", key), True),
            decoders={"image": tfds.decode.SkipDecoding()},
        ),
        read_config=tfds.ReadConfig(try_autocache=False),
    )

    def uniform(row: dict) -> dict:
        captions = row["captions"]
        return {
            "image": row["image"],
            "captions": captions["text"] if isinstance(captions, dict) else captions,
            "key": row[key],
        }

    return rows.map(uniform)


def _marked(row: dict, name: str) -> dict:
    """A row that says of which set it is."""
    return {**row, "set": name}


def _subjects(rows: "tf.data.Dataset") -> set[str]:
    return set().union(*map(_row_subjects, _read(rows)))


def _without(rows: "tf.data.Dataset", seen: set[str]) -> "tf.data.Dataset":
    """The rows none of whose captions was `seen`, still of a known number."""
    import tensorflow as tf

    kept = [not _row_subjects(row) & seen for row in _read(rows)]
    marks = tf.data.Dataset.from_tensor_slices(kept)
    left = tf.data.Dataset.zip(rows, marks).filter(_is_kept).map(_row)
    return left.apply(tf.data.experimental.assert_cardinality(sum(kept)))


def _is_kept(row: dict, kept: "tf.Tensor") -> "tf.Tensor":
    del row
    return kept


def _row(row: dict, kept: "tf.Tensor") -> dict:
    del kept
    return row


def _read(rows: "tf.data.Dataset") -> Iterable:
    return rows.map(lambda row: row["captions"]).as_numpy_iterator()


def _row_subjects(captions: Iterable[bytes]) -> set[str]:
    from applications.datasets.captioned import subject

    return {subject(caption.decode("utf-8")) for caption in captions}
