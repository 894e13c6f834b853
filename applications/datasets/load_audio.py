"""One function that gives any set of labelled sounds, split by split."""

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
OURS = {
    "asterisk_prompts": ("asterisk_prompts", "AsteriskPrompts"),
    "spoken_digits": ("spoken_digits", "SpokenDigits"),
}
OTHERS = (
    "the path of a folder of class folders",
    "a set of labelled sounds of TFDS such as speech_commands",
)

_INSTEAD = "Use spoken_digits from a PyPI package, or a folder of your own recordings."


class AudioSet(NamedTuple):
    """What is known of a set before any sound is heard.

    Attributes:
        class_names: The names of the labels 0, 1, ...
        sample_rate: Samples of a second, in Hz; `None` where a set holds frames.
        frame_size: Numbers of a frame; `None` where a set holds samples.
        licence: As its builder states it, on one line.
    """

    class_names: tuple[str, ...]
    sample_rate: int | None
    frame_size: int | None
    licence: str


def describe(name: str, data_dir: Path | str | None = None) -> AudioSet:
    """Return classes, rate and licence of a set; see `load_audio`."""
    with quiet_tfds():
        builder = _builder(name, data_dir)
        audio, label = _keys(name, builder.info)
        features = builder.info.features
        return AudioSet(
            tuple(features[label].names),
            features[audio].sample_rate,
            (*features[audio].shape, None)[1],
            stated_licence(builder),
        )


def load_audio(
    name: str, split: str, data_dir: Path | str | None = None
) -> "tf.data.Dataset":
    """Return one split of a set of labelled sounds, in an order that never changes.

    Args:
        name: A set of ours (`asterisk_prompts/phonetic-ru`, `spoken_digits`), the path
            of a folder (`my/recordings`), or any set of TFDS with one sound and one
            label (`speech_commands`). Parts that such a set lacks are carved from
            train, see `labelled.parts`. A folder that exists takes the place of a set
            with its name, but not of ours.
        split: `"train"`, `"validation"` or `"test"`.
        data_dir: The folder of prepared sets. Defaults to TFDS's own.

    Returns:
        A dataset of `{"audio", "label"}`: int16 samples `(samples,)` of the rate that
        `describe` tells, or float32 frames `(frames, frame_size)`; and int64. A set
        that is not prepared yet is prepared first, announced by one line on standard
        error.

    Raises:
        UserError: The name or split is unknown, the set is not one of labelled sounds,
            or what it is made from cannot be read or fetched.
    """
    import tensorflow_datasets as tfds

    require_known("split", split, SPLITS)
    with quiet_tfds():
        builder = _builder(name, data_dir)
        audio, label = _keys(name, builder.info)
        prepare(name, builder, _INSTEAD)
        rows = builder.as_dataset(
            split=labelled.parts(builder, label)[split],
            read_config=tfds.ReadConfig(try_autocache=False),
        )
    return rows.map(lambda row: {"audio": row[audio], "label": row[label]})


def _builder(name: str, data_dir: Path | str | None) -> "tfds.core.DatasetBuilder":
    """Make the builder of `name`, which needs no network yet."""
    if is_folder(name, OURS):
        from applications.datasets.sound_folder import SoundFolder, config_of

        return SoundFolder(config=config_of(Path(name).expanduser()), data_dir=data_dir)
    return find_builder("set of labelled sounds", name, OURS, OTHERS, data_dir)


def _keys(name: str, info: "tfds.core.DatasetInfo") -> tuple[str, str]:
    """Return the names of the sound and the label of a set."""
    import tensorflow_datasets as tfds

    return labelled.keys(name, info, tfds.features.Audio, "sounds")
