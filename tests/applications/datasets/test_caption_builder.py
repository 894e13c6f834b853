import io

import numpy as np
import pytest
from PIL import Image

from applications.datasets.caption_builder import LARGEST, CaptionBuilder
from applications.datasets.captioned import Captioned, split
from applications.datasets.errors import DataError
from tests.applications.image_files import picture

COUNT = 40


class Drawings(CaptionBuilder):
    """Forty drawings, the first one larger than what is stored."""

    folder = None
    count = COUNT

    def _images(self):
        return [
            Captioned(
                f"{i}",
                self.folder / f"{i}.png",
                (f"drawing {i}", f"a number {i}")[: 1 + i % 2],
                f"{i}",
            )
            for i in range(self.count)
        ]


@pytest.fixture
def builder(tmp_path, monkeypatch):
    for i in range(COUNT):
        picture(tmp_path / f"{i}.png", i, size=(3, 2 * LARGEST) if i == 0 else (3, 2))
    monkeypatch.setattr(Drawings, "folder", tmp_path)
    return Drawings(data_dir=tmp_path / "data")


def test_examples_are_files_with_alpha_captions_and_key(builder):
    import tensorflow_datasets as tfds

    builder.download_and_prepare()
    for name, part in split(builder._images()).items():
        rows = builder.as_dataset(
            split=name, decoders={"image": tfds.decode.SkipDecoding()}
        )
        found = {row["key"].decode(): row for row in rows.as_numpy_iterator()}
        assert found.keys() == {image.key for image in part}
        for image in part:
            row = found[image.key]
            assert [text.decode() for text in row["captions"]] == list(image.captions)
            stored = np.array(Image.open(io.BytesIO(row["image"])))
            assert stored.shape[-1] == 4
            if image.key == "0":
                assert max(stored.shape) == LARGEST
            else:
                with Image.open(image.path) as original:
                    np.testing.assert_array_equal(stored[..., :3], np.array(original))


def test_too_few_images_are_refused_and_leave_nothing(builder, monkeypatch, tmp_path):
    monkeypatch.setattr(Drawings, "count", 1)
    with pytest.raises(DataError, match="drawings has too few images to be split"):
        builder.download_and_prepare()
    assert not list(tmp_path.rglob("*.tfrecord*"))
