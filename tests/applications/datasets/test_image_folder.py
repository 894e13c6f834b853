import pytest

from applications.datasets.class_folders import IMAGES, files, split
from applications.datasets.image_folder import ImageFolder, config_of
from applications.errors import UserError


def test_examples_are_the_files_themselves(photos, tmp_path):
    import tensorflow_datasets as tfds

    builder = ImageFolder(config=config_of(photos), data_dir=tmp_path / "data")
    builder.download_and_prepare()
    rows = builder.as_dataset(
        split="test", decoders={"image": tfds.decode.SkipDecoding()}
    )
    written = {(row["image"], row["label"]) for row in rows.as_numpy_iterator()}
    expected = {
        (file.path.read_bytes(), ("cat", "dog").index(file.label))
        for file in split(files(photos, IMAGES), IMAGES)["test"]
    }
    assert written == expected


def test_an_image_that_cannot_be_read_is_named(photos, tmp_path):
    broken = photos / "cat" / "broken.png"
    broken.write_bytes((photos / "cat" / "0.png").read_bytes()[:40])
    builder = ImageFolder(config=config_of(photos), data_dir=tmp_path / "data")
    with pytest.raises(UserError, match=r"broken\.png is no image") as error:
        builder.download_and_prepare()
    assert "\n" not in str(error.value)
    assert not builder.is_prepared()
