import numpy as np
import tensorflow_datasets as tfds

from applications.datasets.class_folder_builder import ClassFolderBuilder
from applications.datasets.class_folders import IMAGES, config_of, files, split


class FileSizes(ClassFolderBuilder):
    """How many bytes each file has."""

    KIND = IMAGES
    NAME = "size"

    def _feature(self):
        return tfds.features.Scalar(np.int64)

    def _stored(self, path):
        return path.stat().st_size


def test_examples_are_what_is_stored_of_a_file_and_its_class(photos, tmp_path):
    config = config_of(photos, IMAGES)
    builder = FileSizes(config=config, data_dir=tmp_path / "data")
    assert builder.info.features["label"].names == ["cat", "dog"]
    assert builder.info.supervised_keys == ("size", "label")
    builder.download_and_prepare()
    for name, part in split(files(photos, IMAGES), IMAGES).items():
        rows = builder.as_dataset(split=name).as_numpy_iterator()
        found = sorted((int(row["size"]), int(row["label"])) for row in rows)
        expected = sorted(
            (file.path.stat().st_size, ("cat", "dog").index(file.label))
            for file in part
        )
        assert found == expected
