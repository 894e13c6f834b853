"""One function that gives the documents of any set of texts, split by split."""

from pathlib import Path
from typing import TYPE_CHECKING

from applications.datasets import labelled
from applications.datasets.errors import DataError
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
OURS = {"jane_austen": ("jane_austen", "JaneAusten")}
OTHERS = (
    "the path of a file that ends in .txt",
    "the path of a folder of such files",
    "a set of TFDS with a text such as lm1b",
)

_TEXT = "text"
_INSTEAD = "Use jane_austen from a Debian package, or a .txt file of your own."


def load_documents(
    name: str, split: str, data_dir: Path | str | None = None
) -> "tf.data.Dataset":
    """Return the documents of one split, in an order that never changes.

    Args:
        name: A set of ours (`jane_austen`), the path of a `.txt` file or of a folder of
            them (how these are split stands at `text_files.TextFiles`), or a set of
            TFDS whose examples have a `text`.
        split: `"train"`, `"validation"` or `"test"`. A set without one of them gets it
            from the end of its train part (`labelled.parts_of`).
        data_dir: The folder of prepared sets. Defaults to TFDS's own.

    Returns:
        A dataset of `{"text": string}`. Documents of ours and of a user are in the
        order in which they were written. A set that is not prepared yet is prepared
        first, announced by one line on standard error.

    Raises:
        UserError: The name or split is unknown, the set has no texts, or what it is
            made from cannot be read or fetched.
    """
    import tensorflow_datasets as tfds

    require_known("split", split, SPLITS)
    with quiet_tfds():
        builder = _builder(name, data_dir)
        _check_text(name, builder.info.features)
        prepare(name, builder, _INSTEAD)
        part = labelled.parts_of(builder.info.splits)[split]
        rows = builder.as_dataset(
            split=part,
            decoders=tfds.decode.PartialDecoding({_TEXT: True}),
            # One file after the other, which keeps the order of examples.
            read_config=tfds.ReadConfig(try_autocache=False, interleave_cycle_length=1),
        )
    return rows


def licence(name: str, data_dir: Path | str | None = None) -> str:
    """The licence of a set as its builder states it, on one line."""
    with quiet_tfds():
        return stated_licence(_builder(name, data_dir))


def _builder(name: str, data_dir: Path | str | None) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet."""
    if is_folder(name, OURS) or name.endswith(".txt"):
        from applications.datasets.text_files import TextFiles, config_of

        config = config_of(Path(name).expanduser())
        return TextFiles(config=config, data_dir=data_dir)
    return find_builder("set of texts", name, OURS, OTHERS, data_dir)


def _check_text(name: str, features: "tfds.features.FeaturesDict") -> None:
    import tensorflow_datasets as tfds

    if not isinstance(dict(features.items()).get(_TEXT), tfds.features.Text):
        holds = ", ".join(features)
        raise DataError(f"{name} is no set of texts; its examples hold {holds}.")
