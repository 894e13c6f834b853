import re
import shutil

import pytest

from applications.datasets.caption_folder import CaptionFolder, config_of, read, split
from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS
from applications.errors import UserError
from tests.applications.caption_files import captioned_folder
from tests.applications.image_files import picture


@pytest.fixture
def folder(tmp_path):
    return captioned_folder(tmp_path / "my photos")


def write(folder, text):
    content = text if isinstance(text, bytes) else text.encode("utf-8")
    (folder / "captions.tsv").write_bytes(content)


def names(part):
    return sorted(image.path.name for image in part)


def test_lines_of_one_file_are_captions_of_one_image(folder):
    write(
        folder, "\ufeffmore/1.png\tOne.\r\nmore/0.png\t zero \nmore/1.png\tein Bild\n"
    )
    found = {image.key: image.captions for image in read(folder)}
    assert found == {"more/1.png": ("One.", "ein Bild"), "more/0.png": ("zero",)}


def test_images_without_a_caption_are_counted_aloud(folder, capsys):
    picture(folder / "new.png", 99)
    (folder / "notes.txt").write_text("about the photos")
    assert len(read(folder)) == 60
    assert capsys.readouterr().err == "Left out 1 images without a caption\n"


def test_split_is_by_content_and_copies_stay_together(folder):
    parts = split(read(folder))
    assert all(parts.values())
    assert sum(map(len, parts.values())) == 60
    lines = (folder / "captions.tsv").read_text("utf-8")
    for path in (folder / "more").glob("*.png"):
        shutil.copy(path, path.with_name(f"c{path.name}"))
    write(folder, lines + "\n" + lines.replace("more/", "more/c"))
    again = split(read(folder))
    for name in SPLITS:
        originals = names(parts[name])
        assert names(again[name]) == sorted([*originals, *(f"c{x}" for x in originals)])


def given(root, **values):
    """A folder of a folder for each split, with images of these values."""
    lines = []
    for name, numbers in values.items():
        for number in numbers:
            picture(root / name / f"{number}.png", number)
            lines.append(f"{name}/{number}.png\tpicture {number}")
    write(root, "\n".join(lines))
    return root


def test_folders_of_splits_are_kept_and_copies_left_out(tmp_path, capsys):
    root = given(tmp_path / "x", train=range(5), validation=[7], test=[8, 3])
    parts = split(read(root))
    assert {name: names(part) for name, part in parts.items()} == {
        "train": [f"{i}.png" for i in range(5)],
        "validation": ["7.png"],
        "test": ["8.png"],
    }
    said = "Left out 1 images of test that also stand in train\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("name", ["val", "valid", "Dev", "VALIDATION"])
def test_validation_has_other_names(tmp_path, name):
    given_names = {"Train": range(5), name: [7], "test": [8]}
    parts = split(read(given(tmp_path / "x", **given_names)))
    assert {name: len(part) for name, part in parts.items()} == {
        "train": 5,
        "validation": 1,
        "test": 1,
    }
    assert names(parts["validation"]) == ["7.png"]


def test_a_missing_folder_of_a_split_is_filled_from_train_and_not_from_test(tmp_path):
    parts = split(read(given(tmp_path / "x", train=range(60), test=range(60, 70))))
    assert names(parts["test"]) == [f"{i}.png" for i in range(60, 70)]
    assert parts["validation"]
    held = parts["train"] + parts["validation"]
    assert all(image.key.startswith("train/") for image in held)
    assert len(held) == 60


def test_what_is_in_no_folder_of_a_split_is_for_training(tmp_path):
    parts = split(read(given(tmp_path / "x", more=range(5), val=[7], test=[8])))
    assert names(parts["train"]) == [f"{i}.png" for i in range(5)]
    assert (names(parts["validation"]), names(parts["test"])) == (["7.png"], ["8.png"])


def test_too_few_images_are_refused(tmp_path):
    with pytest.raises(DataError, match="too few images to be split"):
        split(read(given(tmp_path / "x", train=[1, 2])))


def test_examples_are_the_files_themselves(folder, tmp_path):
    import tensorflow_datasets as tfds

    builder = CaptionFolder(config=config_of(folder), data_dir=tmp_path / "data")
    builder.download_and_prepare()
    rows = builder.as_dataset(
        split="test", decoders={"image": tfds.decode.SkipDecoding()}
    )
    written = {row["key"].decode(): row["image"] for row in rows.as_numpy_iterator()}
    expected = split(read(folder))["test"]
    assert written == {image.key: image.path.read_bytes() for image in expected}


def test_a_changed_folder_has_another_name(folder):
    first = config_of(folder).name
    assert re.fullmatch(r"my_photos-[0-9a-f]{8}", first)
    assert config_of(folder).name == first
    lines = (folder / "captions.tsv").read_text("utf-8")
    write(folder, lines.replace("Picture 3.", "Picture three."))
    second = config_of(folder).name
    picture(folder / "more" / "0.png", 5000, size=(7, 7))
    assert len({first, second, config_of(folder).name}) == 3


def test_a_folder_without_captions_is_one_line(folder):
    (folder / "captions.tsv").unlink()
    with pytest.raises(DataError, match=r"No such file or directory\. Expected a"):
        config_of(folder)


def test_an_image_that_cannot_be_read_is_named(folder, tmp_path):
    (folder / "more" / "0.png").write_bytes(b"\x89PNG")
    builder = CaptionFolder(config=config_of(folder), data_dir=tmp_path / "data")
    with pytest.raises(UserError, match=r"0\.png is no image") as error:
        builder.download_and_prepare()
    assert "\n" not in str(error.value)
    assert not builder.is_prepared()


def test_a_caption_without_a_word_is_refused(folder):
    write(folder, "more/0.png\t...")
    with pytest.raises(DataError, match="line 1 has a caption without a word"):
        read(folder)
