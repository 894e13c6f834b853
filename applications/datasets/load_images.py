"""One function that gives any set of labelled images, as files, split by split."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from applications.datasets import labelled
from applications.datasets.pairs import SPLITS
from applications.datasets.preparation import (
    find_builder,
    is_folder,
    prepare,
    quiet_tfds,
    stated_licence,
)
from applications.errors import require_known

if TYPE_CHECKING:
    import tensorflow as tf
    import tensorflow_datasets as tfds

# Module and class of each builder of ours, imported when it is asked for.
OURS = {"fashion_mnist": ("fashion_mnist", "DebianFashionMnist")}
OTHERS = (
    "the path of a folder of class folders",
    "a set of labelled images of TFDS such as cifar10",
    "cifar100",
)

_INSTEAD = "Use fashion_mnist from a Debian package, or a folder of your own images."


class ImageSet(NamedTuple):
    """What is known of a set before any image is read.

    Attributes:
        class_names: The names of the labels 0, 1, ...
        shape: Height, width and channels; `None` where it differs between images.
        licence: As its builder states it, on one line.
    """

    class_names: tuple[str, ...]
    shape: tuple[int | None, int | None, int | None]
    licence: str


def describe(name: str, data_dir: Path | str | None = None) -> ImageSet:
    """Return the classes, shape and licence of a set; see `load_images`."""
    with quiet_tfds():
        builder = _builder(name, data_dir)
        image, label = _keys(name, builder.info)
        features = builder.info.features
        return ImageSet(
            tuple(features[label].names),
            tuple(features[image].shape),
            stated_licence(builder),
        )


def load_images(
    name: str, split: str, data_dir: Path | str | None = None
) -> "tf.data.Dataset":
    """Return one split of a set of labelled images, in an order that never changes.

    A set of TFDS without a validation part gets the last 5 % of its train part; one
    with a train part only gives 5 % for test too. One with a held-out part that is
    called validation, and no test, is tested on that; so is one whose test part has no
    labels, because a contest keeps them (`imagenet2012`).

    Args:
        name: A set of ours (`fashion_mnist`), the path of a folder (`my/photos`), or
            any set of TFDS with one image and one label (`cifar10`). Ours, which needs
            no server, takes the place of TFDS's `fashion_mnist`; a folder that exists
            that of a set with its name.
        split: `"train"`, `"validation"` or `"test"`.
        data_dir: The folder of prepared sets. Defaults to TFDS's own.

    Returns:
        A dataset of `{"image": string, "label": int64}`; the image is the content of
        its file, which `applications.images.decoding.decode` reads. A set that is not
        prepared yet is prepared first, announced by one line on standard error.

    Raises:
        UserError: The name or split is unknown, the set is not one of labelled images,
            or what it is made from cannot be read or fetched.
    """
    import tensorflow_datasets as tfds

    require_known("split", split, SPLITS)
    with quiet_tfds():
        builder = _builder(name, data_dir)
        image, label = _keys(name, builder.info)
        prepare(name, builder, _INSTEAD)
        part = labelled.parts(builder, label)[split]
    rows = builder.as_dataset(
        split=part,
        decoders={image: tfds.decode.SkipDecoding()},
        read_config=tfds.ReadConfig(try_autocache=False),
    )
    return rows.map(lambda row: {"image": row[image], "label": row[label]})


def _builder(name: str, data_dir: Path | str | None) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet."""
    if is_folder(name, OURS):
        from applications.datasets.image_folder import ImageFolder, config_of

        return ImageFolder(config=config_of(Path(name).expanduser()), data_dir=data_dir)
    return find_builder("image set", name, OURS, OTHERS, data_dir)


def _keys(name: str, info: "tfds.core.DatasetInfo") -> tuple[str, str]:
    """Return the names of the image and the label of a set."""
    import tensorflow_datasets as tfds

    return labelled.keys(name, info, tfds.features.Image, "images")
