import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow_datasets as tfds

from applications.datasets import load_captions as loading
from applications.datasets import preparation
from applications.datasets.emoji import Emoji
from applications.datasets.load_captions import licence, load_captions
from applications.datasets.pairs import SPLITS
from applications.datasets.tuxpaint_stamps import TuxpaintStamps
from applications.errors import UserError
from tests.applications.caption_files import captioned_folder
from tests.applications.datasets.messages import one_line
from tests.applications.image_files import picture


def rows_of(name, data_dir):
    return {
        split: list(load_captions(name, split, data_dir).as_numpy_iterator())
        for split in SPLITS
    }


def keys(rows):
    return {row["key"].decode() for row in rows}


@pytest.fixture
def folder(tmp_path):
    return captioned_folder(tmp_path / "a+b")


def test_a_folder_is_prepared_once_with_one_line(folder, tmp_path, capfd):
    for _ in range(2):
        parts = rows_of(str(folder), tmp_path / "data")
    rows = [row for part in parts.values() for row in part]
    assert len(keys(rows)) == len(rows) == 60
    for row in rows:
        assert row["image"] == (folder / row["key"].decode()).read_bytes()
        number = row["key"].decode().removesuffix(".png").rpartition("/")[2]
        said = [text.decode() for text in row["captions"]]
        assert said == [f"Picture {number}.", "a picture"]
        assert row["set"].decode() == str(folder)
    output, errors = capfd.readouterr()
    assert not output
    assert errors.count(f"Preparing {folder} in ") == 1
    assert licence(str(folder), tmp_path / "data") == "The user's own."


def folder_of_splits(root, offset, captions):
    """One image with one caption in each split; its own may be equal."""
    lines = []
    for value, (name, caption) in enumerate(zip(SPLITS, captions, strict=True)):
        picture(root / name / f"{root.name}.png", offset + value)
        lines.append(f"{name}/{root.name}.png\t{caption}")
    (root / "captions.tsv").write_text("\n".join(lines), encoding="utf-8")
    return str(root)


def test_joined_sets_give_nothing_of_train_away(tmp_path):
    first = folder_of_splits(tmp_path / "one", 0, ["a dog", "a dog", "a cat"])
    second = folder_of_splits(tmp_path / "two", 9, ["The cat.", "a hen", "an owl"])
    joined = {
        split: load_captions(f"{first}+{second}", split, tmp_path / "data")
        for split in SPLITS
    }
    assert {name: keys(rows.as_numpy_iterator()) for name, rows in joined.items()} == {
        "train": {"train/one.png", "train/two.png"},
        "validation": {"validation/one.png", "validation/two.png"},
        "test": {"test/two.png"},
    }
    assert int(joined["test"].cardinality()) == 1
    sources = [row["set"].decode() for row in joined["train"].as_numpy_iterator()]
    assert sources == [first, second]


def test_ours_are_found_by_name(tmp_path):
    assert isinstance(loading._builder("emoji", tmp_path), Emoji)
    assert isinstance(loading._builder("tuxpaint_stamps", tmp_path), TuxpaintStamps)
    assert licence("emoji+tuxpaint_stamps", tmp_path) == (
        "Drawings: Apache-2.0 (Noto), CC-BY-4.0 (Twemoji). Names: Unicode-3.0; GPL-2.0"
    )


@pytest.fixture
def coco(monkeypatch):
    """TFDS's COCO, of two images in each of Karpathy's parts.

    `tfds.testing.mock_data` cannot make its features up: it draws boxes that end
    before they begin.
    """

    def examples(part):
        for number in range(2):
            name = f"{part}{number}.jpg"
            texts = [f"photo {number}", f"{part} said {number} times"][: number + 1]
            yield (
                name,
                {
                    "image": np.zeros((3, 5, 3), np.uint8),
                    "image/filename": name,
                    "image/id": number,
                    "objects": [],
                    "captions": [{"text": text, "id": 7} for text in texts],
                },
            )

    def parts(self, dl_manager):
        names = ("train", "val", "test", "restval")
        return {part: examples(part) for part in names}

    coco_captions = tfds.builder_cls("coco_captions")
    monkeypatch.setattr(coco_captions, "_split_generators", parts)
    monkeypatch.setattr(preparation, "_any_answers", lambda urls: True)


@pytest.mark.usefixtures("coco")
def test_coco_becomes_files_captions_and_keys_in_karpathys_parts(tmp_path):
    """Shapes only: the network is never asked."""
    from applications.images.decoding import decode

    found = rows_of("coco_captions", tmp_path)
    assert {name: keys(rows) for name, rows in found.items()} == {
        "train": {"train0.jpg", "train1.jpg", "restval0.jpg", "restval1.jpg"},
        "validation": {"val0.jpg", "val1.jpg"},
        "test": {"test0.jpg", "test1.jpg"},
    }
    row = next(row for row in found["test"] if row["key"] == b"test1.jpg")
    assert row["captions"].tolist() == [b"photo 1", b"test said 1 times"]
    assert decode(row["image"]).shape == (3, 5, 3)


@pytest.mark.usefixtures("no_network")
def test_without_network_an_online_set_fails_at_once(tmp_path):
    with pytest.raises(UserError, match="the network does not answer") as error:
        load_captions("coco_captions", "train", tmp_path)
    assert "Use emoji+tuxpaint_stamps" in one_line(error)


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("emojis", "train", "Unknown set of captioned images 'emojis'. Did you mean"),
        ("emoji+stamps", "train", "'stamps'. Valid: emoji, tuxpaint_stamps, several"),
        ("emoji+", "train", "Unknown set of captioned images ''."),
        ("cifar10", "train", "no set of captioned images; its examples hold id, image"),
        ("emoji", "dev", "Valid: train, validation, test"),
        ("./no/such/folder", "train", "no/such/folder/captions.tsv cannot be read"),
    ],
)
def test_what_does_not_exist_is_one_line(name, split, message, tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "prepare", lambda *_: pytest.fail("it is fetched"))
    with pytest.raises(UserError, match=re.escape(message)) as error:
        load_captions(name, split, tmp_path)
    assert one_line(error)


def test_importing_the_loader_imports_no_tensorflow():
    script = (
        "import sys, applications.datasets.load_captions;"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
