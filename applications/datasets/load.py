"""One function that gives any corpus of pairs of texts as a `tf.data.Dataset`."""

from pathlib import Path
from typing import TYPE_CHECKING

from applications.datasets.pairs import SPLITS
from applications.datasets.preparation import (
    find_builder,
    prepare,
    quiet_tfds,
    stated_licence,
    supervised_keys,
)
from applications.errors import require_known

if TYPE_CHECKING:
    import tensorflow as tf
    import tensorflow_datasets as tfds

# Module and class of each builder of ours, imported when it is asked for.
OURS = {
    "libreoffice_help": ("libreoffice_help.builder", "LibreofficeHelp"),
    "debian_descriptions": ("debian_descriptions", "DebianDescriptions"),
    "debian_handbook": ("debian_handbook", "DebianHandbook"),
    "debian_synopses": ("debian_synopses", "DebianSynopses"),
}
OTHERS = (
    "the path of a file that ends in .tsv or .jsonl",
    "a set of pairs of TFDS such as ted_hrlr_translate/pt_to_en",
    "wmt14_translate/de-en",
    "cnn_dailymail",
    "xsum",
)

_INSTEAD = "Use libreoffice_help/en-de or a file of your own, which need none."


def load(
    name: str, split: str, data_dir: Path | str | None = None
) -> "tf.data.Dataset":
    """Return one split of a corpus of pairs, in an order that never changes.

    Args:
        name: A corpus of ours (`libreoffice_help/en-de`, `debian_descriptions/it`,
            `debian_synopses`), the path of a file (`my/pairs.tsv`, `my/pairs.jsonl`),
            or any set of TFDS whose examples are a text and another one
            (`ted_hrlr_translate/pt_to_en`, `cnn_dailymail`).
        split: `"train"`, `"validation"` or `"test"`.
        data_dir: The folder of prepared corpora. Defaults to TFDS's own.

    Returns:
        A dataset of `{"source": string, "target": string}`. A corpus that is not
        prepared yet is prepared first, announced by one line on standard error.

    Raises:
        UserError: The name or split is unknown, the set is not one of pairs of texts,
            or what it is made from cannot be read or fetched.
    """
    import tensorflow_datasets as tfds

    require_known("split", split, SPLITS)
    with quiet_tfds():
        builder = _builder(name, data_dir)
        keys = _text_keys(name, builder.info)
        prepare(name, builder, _INSTEAD)
    require_known(f"split of {name}", split, builder.info.splits)
    rows = builder.as_dataset(
        split=split, read_config=tfds.ReadConfig(try_autocache=False)
    )
    return rows.map(lambda row: {"source": row[keys[0]], "target": row[keys[1]]})


def licence(name: str, data_dir: Path | str | None = None) -> str:
    """The licence of a corpus as its builder states it, on one line."""
    with quiet_tfds():
        return stated_licence(_builder(name, data_dir))


def _builder(name: str, data_dir: Path | str | None) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet."""
    if name.endswith(".tsv"):
        from applications.datasets.tsv_pairs import TsvPairs, config_of

        return TsvPairs(config=config_of(Path(name)), data_dir=data_dir)
    if name.endswith(".jsonl"):
        from applications.datasets.jsonl_pairs import JsonlPairs, config_of

        return JsonlPairs(config=config_of(Path(name)), data_dir=data_dir)
    return find_builder("corpus", name, OURS, OTHERS, data_dir)


def _text_keys(name: str, info: "tfds.core.DatasetInfo") -> tuple[str, str]:
    """Return the names of the source and target features of a set."""
    import tensorflow_datasets as tfds

    kinds = tfds.features.Text, tfds.features.Text
    return supervised_keys(name, info, kinds, "pairs of texts")
