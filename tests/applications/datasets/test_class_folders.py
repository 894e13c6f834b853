import re
import shutil

import pytest

from applications.datasets.class_folders import (
    IMAGES,
    RECORDINGS,
    class_names,
    config_of,
    files,
    split,
    split_files,
)
from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS, split_name
from tests.applications.image_files import picture
from tests.applications.sound_files import class_folder


def names(part):
    return [file.path.name for file in part]


def test_classes_are_numbered_by_name_and_hidden_files_ignored(photos):
    (photos / "cat" / ".DS_Store").write_text("x")
    (photos / "cat" / "Thumbs.db").write_text("x")
    (photos / ".git" / "cat").mkdir(parents=True)
    (photos / "cat" / ".thumbnails").mkdir()
    (photos / "cat" / ".thumbnails" / "0.txt").write_text("x")
    (photos / "notes.txt").write_text("about the photos")
    found = files(photos, IMAGES)
    assert class_names(found) == ["cat", "dog"]
    assert len(found) == 120


def test_split_is_by_content_whatever_the_name(photos):
    parts = split(files(photos, IMAGES), IMAGES)
    assert sum(map(len, parts.values())) == 120
    assert all(parts.values())
    for name in SPLITS:
        for file in parts[name]:
            file.path.rename(file.path.with_name(f"renamed-{file.path.name}"))
    again = split(files(photos, IMAGES), IMAGES)
    renamed = {n: [f"renamed-{x}" for x in names(parts[n])] for n in SPLITS}
    assert {n: names(part) for n, part in again.items()} == renamed


def test_copies_stay_on_one_side(photos):
    originals = split(files(photos, IMAGES), IMAGES)
    for file in files(photos, IMAGES):
        copy = file.path.with_name(f"copy-{file.path.name}")
        copy.write_bytes(file.path.read_bytes())
    parts = split(files(photos, IMAGES), IMAGES)
    for name in SPLITS:
        copies = [f"copy-{x}" for x in names(originals[name])]
        assert sorted(names(parts[name])) == sorted(copies + names(originals[name]))


def given(root, **counts):
    """A folder with folders for splits, `counts` images for each of two classes."""
    for number, (name, count) in enumerate(counts.items()):
        for value in range(count):
            picture(root / name / "cat" / f"{value}.png", 10_000 * number + value)
            picture(root / name / "dog" / f"{value}.png", 10_000 * number + value + 999)
    return root


def test_folders_of_splits_are_kept(tmp_path):
    parts = split(
        files(given(tmp_path / "x", train=7, validation=3, test=2), IMAGES), IMAGES
    )
    assert {name: len(part) for name, part in parts.items()} == {
        "train": 14,
        "validation": 6,
        "test": 4,
    }
    for name, part in parts.items():
        assert {file.path.parent.parent.name for file in part} == {name}


def test_a_missing_split_is_carved_from_train_only(tmp_path):
    parts = split(files(given(tmp_path / "x", train=60, test=2), IMAGES), IMAGES)
    assert {file.path.parent.parent.name for file in parts["test"]} == {"test"}
    assert len(parts["test"]) == 4
    assert {file.path.parent.parent.name for file in parts["validation"]} == {"train"}
    assert len(parts["train"]) + len(parts["validation"]) == 120


def test_a_held_out_copy_of_a_training_image_is_left_out_and_said(tmp_path, capsys):
    root = given(tmp_path / "x", train=5, validation=3, test=2)
    content = (root / "train" / "cat" / "0.png").read_bytes()
    (root / "test" / "cat" / "again.png").write_bytes(content)
    parts = split(files(root, IMAGES), IMAGES)
    assert "again.png" not in names(parts["test"])
    assert len(parts["test"]) == 4
    said = "Left out 1 images of test that also stand in train\n"
    assert capsys.readouterr().err == said


def test_of_two_held_out_copies_test_keeps_its_own(tmp_path, capsys):
    root = given(tmp_path / "x", train=5, validation=3, test=2)
    content = (root / "test" / "cat" / "0.png").read_bytes()
    (root / "validation" / "cat" / "again.png").write_bytes(content)
    parts = split(files(root, IMAGES), IMAGES)
    assert {name: len(part) for name, part in parts.items()} == {
        "train": 10,
        "validation": 6,
        "test": 4,
    }
    assert "again.png" not in names(parts["validation"])
    said = "Left out 1 images of validation that also stand in train or test\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("test", "Every image of test also stands in train. Put others"),
        ("validation", "Every image of validation also stands in train or test. Put"),
    ],
)
def test_a_split_of_copies_only_is_refused(name, message, tmp_path):
    root = given(tmp_path / "x", train=5, validation=3, test=2)
    shutil.rmtree(root / name)
    shutil.copytree(root / "train", root / name)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        split(files(root, IMAGES), IMAGES)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("train", "validation", "test"),
    [("train", "val", "test"), ("Train", "Valid", "TEST"), ("TRAIN", "dev", "Test")],
)
def test_folders_of_splits_are_known_by_other_names(train, validation, test, tmp_path):
    root = given(tmp_path / "x", **{train: 5, validation: 3, test: 2})
    found = files(root, IMAGES)
    assert class_names(found) == ["cat", "dog"]
    parts = split(found, IMAGES)
    folders = {"train": train, "validation": validation, "test": test}
    for name, part in parts.items():
        assert {file.path.parent.parent.name for file in part} == {folders[name]}


def test_train_and_test_alone_are_splits(tmp_path):
    found = files(given(tmp_path / "x", Train=3, Test=2), IMAGES)
    assert class_names(found) == ["cat", "dog"]
    assert {file.split for file in found} == {"train", "test"}


def test_a_class_may_be_called_like_a_split(tmp_path):
    for value in range(2):
        picture(tmp_path / "train" / f"{value}.png", value)
        picture(tmp_path / "test" / f"{value}.png", 10 + value)
    found = files(tmp_path, IMAGES)
    assert class_names(found) == ["test", "train"]
    assert {file.split for file in found} == {None}


def spoil_missing(folder):
    return folder / "none"


def spoil_nothing_inside(folder):
    (folder.parent / "empty").mkdir()
    return folder.parent / "empty"


def spoil_one_class(folder):
    return folder / "dog"


def spoil_empty_class(folder):
    (folder / "eel").mkdir()
    return folder


def spoil_kind(folder):
    (folder / "cat" / "x.tiff").write_bytes(b"II*")
    return folder


def spoil_beside_classes(folder):
    picture(folder / "0.PNG", 5000)
    return folder


def spoil_beside_classes_of_a_split(folder):
    root = given(folder.parent / "splits", train=2, test=1)
    picture(root / "test" / "0.png", 5000)
    return root


def spoil_beside_splits(folder):
    root = given(folder.parent / "splits", train=2, test=1)
    picture(root / "0.png", 5000)
    return root


def spoil_folder_beside_splits(folder):
    return given(folder.parent / "splits", Train=2, val=1, test=1, extra=1)


def spoil_link_to_file(folder):
    (folder / "cat" / "gone.png").symlink_to(folder / "gone.png")
    return folder


def spoil_link_to_class(folder):
    (folder / "gone").symlink_to(folder / "nowhere")
    return folder


def spoil_link_inside_class(folder):
    (folder / "cat" / "more").symlink_to(folder / "dog")
    return folder


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (spoil_missing, "none is no folder; expected folder/<class>/*.png."),
        (spoil_nothing_inside, "empty has no class folders; expected two or more:"),
        (spoil_one_class, "dog has one class, more; expected two or more:"),
        (spoil_empty_class, "eel is a class without an image. Fill or remove it."),
        (spoil_kind, "x.tiff is none of the kinds of image that are read: .png, "),
        (spoil_beside_classes, "0.PNG is in no folder of a class. Move it into one,"),
        (spoil_beside_classes_of_a_split, "test/0.png is in no folder of a class."),
        (spoil_beside_splits, "splits/0.png is in no folder of a class."),
        (spoil_folder_beside_splits, "extra is no split, but train beside it holds"),
        (spoil_link_to_file, "gone.png links to what is not there. Mend or remove it."),
        (spoil_link_to_class, "gone links to what is not there. Mend or remove it."),
        (spoil_link_inside_class, "more is a link to a folder, which is not followed."),
    ],
)
def test_bad_folders_are_refused_by_name(spoil, message, photos):
    path = spoil(photos)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        files(path, IMAGES)
    assert "\n" not in str(error.value)


def test_too_few_images_are_refused(tmp_path):
    root = given(tmp_path / "x", train=2)
    with pytest.raises(DataError, match="too few images to be split"):
        split(files(root, IMAGES), IMAGES)


def test_a_class_that_is_only_held_out_is_refused(tmp_path):
    root = given(tmp_path / "x", train=3, validation=2, test=2)
    picture(root / "test" / "eel" / "0.png", 777)
    with pytest.raises(DataError, match="class eel has no image to train on"):
        split(files(root, IMAGES), IMAGES)


def test_a_changed_folder_has_another_name(photos):
    first = config_of(photos, IMAGES).name
    assert re.fullmatch(r"my_photos-[0-9a-f]{8}", first)
    assert config_of(photos, IMAGES).name == first
    picture(photos / "cat" / "0.png", 5000, size=(7, 7))
    assert config_of(photos, IMAGES).name != first


def test_other_kinds_of_file_have_their_own_names(tmp_path):
    root = class_folder(tmp_path, count=2)
    assert len(files(root, RECORDINGS)) == 4
    message = "no/0.wav is none of the kinds of image that are read: .png, .jpg, .jpeg,"
    with pytest.raises(DataError, match=re.escape(message)):
        files(root, IMAGES)
    with pytest.raises(DataError, match=r"no folder; expected folder/<class>/\*\.wav"):
        files(root / "none", RECORDINGS)
    with pytest.raises(DataError, match="There are too few recordings to be split"):
        split(files(root, RECORDINGS), RECORDINGS)


def test_what_is_hashed_may_be_something_else_than_the_content(tmp_path):
    paths = [tmp_path / f"{value}.png" for value in range(60)]
    for value, path in enumerate(paths):
        picture(path, value)
    keys = {path: f"key {value // 2}" for value, path in enumerate(paths)}
    parts = split_files(dict.fromkeys(paths), IMAGES, keys)
    for name, part in parts.items():
        assert part
        assert {split_name(keys[path]) for path in part} == {name}
