"""One function that gives any translation corpus as a `tf.data.Dataset`."""

import contextlib
import importlib
import io
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS
from applications.errors import unknown

if TYPE_CHECKING:
    import tensorflow as tf
    import tensorflow_datasets as tfds

# Module and class of each builder of ours, imported when it is asked for.
OURS = {
    "libreoffice_help": ("libreoffice_help.builder", "LibreofficeHelp"),
    "debian_descriptions": ("debian_descriptions", "DebianDescriptions"),
    "debian_handbook": ("debian_handbook", "DebianHandbook"),
}
OTHERS = (
    "the path of a file that ends in .tsv",
    "a translation set of TFDS such as ted_hrlr_translate/pt_to_en",
    "wmt14_translate/de-en",
)

_PROBE_SECONDS = 5
_MOST_PROBES = 2


def load(
    name: str, split: str, data_dir: Path | str | None = None
) -> "tf.data.Dataset":
    """Return one split of a translation corpus, in an order that never changes.

    Args:
        name: A corpus of ours (`libreoffice_help/en-de`, `debian_descriptions/it`,
            `debian_handbook/de`), the path of a TSV file (`my/pairs.tsv`), or any
            translation set of TFDS (`ted_hrlr_translate/pt_to_en`).
        split: `"train"`, `"validation"` or `"test"`.
        data_dir: The folder of prepared corpora. Defaults to TFDS's own.

    Returns:
        A dataset of `{"source": string, "target": string}`. A corpus that is not
        prepared yet is prepared first, announced by one line on standard error.

    Raises:
        UserError: The name or split is unknown, the set is not one of translations,
            or what it is made from cannot be read or fetched.
    """
    import tensorflow_datasets as tfds

    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    with _quiet_tfds():
        builder = _builder(name, data_dir)
        keys = _translation_keys(name, builder.info)
        if not builder.is_prepared():
            _prepare(name, builder)
    if split not in builder.info.splits:
        raise unknown(f"split of {name}", split, builder.info.splits)
    rows = builder.as_dataset(
        split=split, read_config=tfds.ReadConfig(try_autocache=False)
    )
    return rows.map(lambda row: {"source": row[keys[0]], "target": row[keys[1]]})


def licence(name: str, data_dir: Path | str | None = None) -> str:
    """The licence of a corpus as its builder states it, on one line."""
    with _quiet_tfds():
        stated = _builder(name, data_dir).info.redistribution_info.license
    return " ".join((stated or "not stated by its builder").split())


def _builder(name: str, data_dir: Path | str | None) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet."""
    if name.endswith(".tsv"):
        from applications.datasets.tsv_pairs import TsvPairs, config_of

        return TsvPairs(config=config_of(Path(name)), data_dir=data_dir)
    base, _, config = name.partition("/")
    builder_class = _builder_class(name, base)
    configs = list(builder_class.builder_configs)
    if config and config not in configs:
        raise unknown(f"configuration of {base}", config, configs)
    return builder_class(config=config or None, data_dir=data_dir)


def _builder_class(name: str, base: str) -> type["tfds.core.DatasetBuilder"]:
    if base in OURS:
        module, class_name = OURS[base]
        return getattr(
            importlib.import_module(f"applications.datasets.{module}"), class_name
        )
    import tensorflow_datasets as tfds

    # `tsv_pairs` is on TFDS's list once imported, but is asked for by a path.
    theirs = {*tfds.list_builders(with_community_datasets=False)} - {"tsv_pairs"}
    if base not in theirs:
        raise unknown("corpus", name, [*OURS, *OTHERS])
    return tfds.builder_cls(base)


def _translation_keys(name: str, info: "tfds.core.DatasetInfo") -> tuple[str, str]:
    """Return the names of the source and target features of a set."""
    import tensorflow_datasets as tfds

    keys = info.supervised_keys or ()
    if len(keys) == 2 and all(
        isinstance(key, str) and isinstance(info.features[key], tfds.features.Text)
        for key in keys
    ):
        return keys
    holds = ", ".join(info.features)
    raise DataError(f"{name} is no set of translations; its examples hold {holds}.")


def _prepare(name: str, builder: "tfds.core.DatasetBuilder") -> None:
    """Make the files of a corpus, asking first whether the network answers."""
    online = type(builder).__module__.startswith("tensorflow_datasets.")
    if online and not _any_answers(builder.url_infos):
        raise DataError(
            f"{name} must be downloaded and the network does not answer. Use "
            "libreoffice_help/en-de, which needs none."
        )
    print(f"Preparing {name} in {builder.data_path}", file=sys.stderr)
    try:
        builder.download_and_prepare()
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{name} cannot be prepared: {reason}") from error


@contextlib.contextmanager
def _quiet_tfds() -> Iterator[None]:
    """Keep back what TFDS prints, logs and draws while it makes a corpus."""
    import tensorflow_datasets as tfds
    from absl import logging

    tfds.disable_progress_bar()
    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(verbosity)


def _any_answers(urls: Iterable[str]) -> bool:
    """Say whether one of the servers of `urls` answers at all.

    Without a network TFDS itself goes on trying for minutes.
    """
    by_server = {urllib.parse.urlsplit(url).netloc: url for url in urls}
    return any(map(_answers, list(by_server.values())[:_MOST_PROBES]))


def _answers(url: str) -> bool:
    request = urllib.request.Request(url, method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=_PROBE_SECONDS).close()
    except urllib.error.HTTPError:
        return True  # it answered, only not to a HEAD request
    except OSError:
        return False
    return True
