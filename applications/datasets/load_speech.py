"""One function that gives any set of speech with its texts, split by split."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from applications.datasets.pairs import SPLITS
from applications.datasets.preparation import (
    find_builder,
    is_folder,
    parts_named,
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
    "fillets_speech": ("fillets_speech", "FilletsSpeech"),
    "festvox_ru": ("festvox_ru", "FestvoxRu"),
}
OTHERS = (
    "the path of a folder with recordings and a transcripts.tsv",
    "a set of speech of TFDS such as librispeech",
)

_INSTEAD = "Use fillets_speech/cs from Debian packages, or recordings of your own."

# What the parts of a split are called. LibriSpeech's usual numbers are those of the
# clean half, by which its models are chosen too.
_PARTS = {
    "train": ("train", "train_clean100", "train_clean360", "train_other500"),
    "validation": ("validation", "dev_clean"),
    "test": ("test", "test_clean"),
}


class SpeechSet(NamedTuple):
    """What is known of a set before any sound is heard.

    Attributes:
        sample_rate: Samples of a second, in Hz.
        licence: As its builder states it, on one line.
    """

    sample_rate: int
    licence: str


def describe(name: str, data_dir: Path | str | None = None) -> SpeechSet:
    """Return rate and licence of a set; see `load_speech`."""
    with quiet_tfds():
        builder = _builder(name, data_dir)
        audio, _ = _keys(name, builder.info)
        rate = builder.info.features[audio].sample_rate
        return SpeechSet(rate, stated_licence(builder))


def load_speech(
    name: str, split: str, data_dir: Path | str | None = None
) -> "tf.data.Dataset":
    """Return one split of a set of speech, in an order that never changes.

    Args:
        name: A set of ours (`fillets_speech/cs`, `festvox_ru`), the path of a folder
            with recordings and a `transcripts.tsv`, or any set of TFDS with one sound
            and one text (`librispeech`). A folder that exists takes the place of a set
            with its name, but not of ours.
        split: `"train"`, `"validation"` or `"test"`.
        data_dir: The folder of prepared sets. Defaults to TFDS's own.

    Returns:
        A dataset of `{"audio", "text", "key"}`: int16 samples `(samples,)` of the rate
        that `describe` tells, what is said in lower case, and the recording's name
        within the set, empty where it has none. A set that is not prepared yet is
        prepared first, announced by one line on standard error.

    Raises:
        UserError: The name or split is unknown, the set is not one of speech and texts,
            or what it is made from cannot be read or fetched.
    """
    import tensorflow as tf
    import tensorflow_datasets as tfds

    require_known("split", split, SPLITS)
    with quiet_tfds():
        builder = _builder(name, data_dir)
        audio, text = _keys(name, builder.info)
        prepare(name, builder, _INSTEAD)
        rows = builder.as_dataset(
            split=parts_named(_PARTS[split], name, split, builder),
            read_config=tfds.ReadConfig(try_autocache=False),
        )
    key = next((key for key in ("key", "id") if key in builder.info.features), None)
    return rows.map(
        lambda row: {
            "audio": row[audio],
            "text": tf.strings.lower(row[text], encoding="utf-8"),
            "key": row[key] if key else "",
        }
    )


def _builder(name: str, data_dir: Path | str | None) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet."""
    if is_folder(name, OURS):
        from applications.datasets.speech_folder import SpeechFolder, config_of

        folder = Path(name).expanduser()
        return SpeechFolder(config=config_of(folder), data_dir=data_dir)
    return find_builder("set of speech", name, OURS, OTHERS, data_dir)


def _keys(name: str, info: "tfds.core.DatasetInfo") -> tuple[str, str]:
    """Return the names of the sound and the text of a set."""
    import tensorflow_datasets as tfds

    kinds = tfds.features.Audio, tfds.features.Text
    return supervised_keys(name, info, kinds, "speech and texts")
