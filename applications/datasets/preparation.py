"""Find the builder of a set by its name, and make its files where there are none."""

import contextlib
import importlib
import io
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from applications.datasets.errors import DataError
from applications.errors import unknown

if TYPE_CHECKING:
    import tensorflow_datasets as tfds

_PROBE_SECONDS = 5
_MOST_PROBES = 2


def find_builder(
    kind: str,
    name: str,
    ours: Mapping[str, tuple[str, str]],
    others: Sequence[str],
    data_dir: Path | str | None,
) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet.

    Args:
        kind: What the name stands for: `"corpus"`.
        name: A key of `ours` or a set of TFDS, with `/configuration` or without. Ours
            comes first where both have a name.
        ours: Module and class of each builder of ours, imported when it is asked for.
        others: What else would be a right name; ends the error.
        data_dir: The folder of prepared sets.

    Raises:
        UserError: There is no such set or configuration.
    """
    base, _, config = name.partition("/")
    builder_class = _our_class(*ours[base]) if base in ours else _their_class(base)
    if builder_class is None:
        raise unknown(kind, name, [*ours, *others])
    configs = list(builder_class.builder_configs)
    if config and config not in configs:
        raise unknown(f"configuration of {base}", config, configs)
    return builder_class(config=config or None, data_dir=data_dir)


def is_folder(name: str, ours: Iterable[str]) -> bool:
    """Say whether a name is the path of a folder: there is one, or it looks like one.

    Args:
        name: As the user gave it.
        ours: Names of sets, which folders do not replace.
    """
    looks_like_one = name.startswith((".", "/", "~"))
    there = bool(name) and Path(name).is_dir()
    return name.partition("/")[0] not in ours and (looks_like_one or there)


def supervised_keys(
    name: str, info: "tfds.core.DatasetInfo", kinds: tuple[type, type], what: str
) -> tuple[str, str]:
    """Return the names of what a set gives and of what is to be learned from it.

    Args:
        name: The set as the user called it.
        info: Of its builder.
        kinds: The features that both must be.
        what: The set that is wanted: `"labelled images"`.

    Raises:
        DataError: It is no set of these.
    """
    found = info.supervised_keys or ()
    if len(found) == 2 and all(
        isinstance(key, str) and isinstance(info.features[key], kind)
        for key, kind in zip(found, kinds, strict=True)
    ):
        return found
    holds = ", ".join(info.features)
    raise DataError(f"{name} is no set of {what}; its examples hold {holds}.")


def parts_named(
    names: Sequence[str], name: str, split: str, builder: "tfds.core.DatasetBuilder"
) -> str:
    """Return which parts of a prepared set, joined, are a split.

    Args:
        names: What parts of the split are called in one set or another.
        name: The set as an error shall call it.
        split: The split as the user called it.
        builder: Its builder.

    Raises:
        UserError: The set has none of them.
    """
    there = [part for part in names if part in builder.info.splits]
    if not there:
        raise unknown(f"split of {name}", split, builder.info.splits)
    return "+".join(there)


def _our_class(module: str, class_name: str) -> type["tfds.core.DatasetBuilder"]:
    return getattr(
        importlib.import_module(f"applications.datasets.{module}"), class_name
    )


def _their_class(base: str) -> type["tfds.core.DatasetBuilder"] | None:
    import tensorflow_datasets as tfds

    if base not in tfds.list_builders(with_community_datasets=False):
        return None
    found = tfds.builder_cls(base)
    # Ours are on TFDS's list too, once imported.
    return found if is_online(found) else None


def is_online(builder_class: type["tfds.core.DatasetBuilder"]) -> bool:
    """Say whether a builder is TFDS's and not one of ours."""
    return builder_class.__module__.startswith("tensorflow_datasets.")


def prepare(name: str, builder: "tfds.core.DatasetBuilder", instead: str) -> None:
    """Make the files of a set that has none, if the network answers where it must.

    Args:
        name: The set as the user called it.
        builder: Its builder.
        instead: What a user can do without a network; ends the error.

    Raises:
        DataError: The network does not answer, a download fails or is left to the user,
            or the files cannot be made.
    """
    if builder.is_prepared():
        return
    by_hand = bool(builder.MANUAL_DOWNLOAD_INSTRUCTIONS)  # may need no network
    online = is_online(type(builder)) and not by_hand
    if online and not _any_answers(builder.url_infos):
        raise DataError(
            f"{name} must be downloaded and the network does not answer. {instead}"
        )
    print(f"Preparing {name} in {builder.data_path}", file=sys.stderr)
    try:
        builder.download_and_prepare()
    except (OSError, ImportError) as error:  # or a package that reads its files
        raise DataError(f"{name} cannot be prepared: {_reason(error)}.") from error
    except _download_errors() as error:
        raise DataError(
            f"The download of {name} failed: {_reason(error)}. {instead}"
        ) from error
    except AssertionError as error:
        if not by_hand:
            raise
        said = " ".join(str(error).split())
        raise DataError(f"{name} must be downloaded by hand. {said}") from error


def _download_errors() -> tuple[type[Exception], ...]:
    """What TFDS raises where a server has no file, another one, or a broken one."""
    from tensorflow_datasets.core import download

    return (
        download.DownloadError,
        download.download_manager.NonMatchingChecksumError,
        download.extractor.ExtractError,
    )


def _reason(error: Exception) -> str:
    """The first line of what an error says, without its end mark."""
    said = str(error) or type(error).__name__
    return said.splitlines()[0].rstrip(" .:")


@contextlib.contextmanager
def quiet_tfds() -> Iterator[None]:
    """Keep back what TFDS prints, logs and draws while it makes a set."""
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


def stated_licence(builder: "tfds.core.DatasetBuilder") -> str:
    """The licence of a set as its builder states it, on one line."""
    stated = builder.info.redistribution_info.license
    return " ".join((stated or "not stated by its builder").split())


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
