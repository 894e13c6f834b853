from pathlib import Path

import pytest

from applications.datasets.captioned import split
from applications.datasets.fetch import debian_package
from applications.datasets.tuxpaint_stamps import images_from, stem
from tests.applications.image_files import picture


@pytest.fixture
def folder(tmp_path):
    """Some stamps as the package has them, and what is left out."""

    def stamp(name, text, picture_ending=".png"):
        path = tmp_path / name
        picture(path.with_suffix(picture_ending), 1)
        path.with_suffix(".txt").write_text(text, encoding="utf-8")

    stamp("animals/cow", "A cow.\nde.utf8=Eine Kuh.\n")
    stamp("animals/cartoon/cow_2", " A happy  cow. \n")
    stamp("food/long", "This text explains what you should know and when it was eaten.")
    stamp(
        "food/longer",
        "This text explains what you should know and when it was eaten by.",
    )
    stamp("food/empty", "")
    stamp("food/none", "...\n")
    picture(tmp_path / "animals" / "cow_mirror.png", 2)
    (tmp_path / "food" / "drawn.svg").write_text("<svg/>")
    (tmp_path / "food" / "drawn.txt").write_text("A drawing.")
    return tmp_path


def test_stamps_with_a_picture_and_a_short_caption(folder):
    found = {image.key: image for image in images_from(folder)}
    assert found.keys() == {"animals/cow", "animals/cartoon/cow_2", "food/long"}
    cow, happy = found["animals/cow"], found["animals/cartoon/cow_2"]
    assert (cow.captions, cow.group, cow.kin) == (("A cow.",), "cow", "cow")
    assert (happy.captions, happy.kin) == (("A happy cow.",), "cow")
    assert cow.path == folder / "animals" / "cow.png"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Candy_cane_photo_2.png", "candy cane photo"),
        ("cow2.png", "cow"),
        ("2_venus.png", "venus"),
        ("01.png", "01"),
    ],
)
def test_stem_has_no_numbers(name, expected):
    assert stem(Path(name)) == expected


@pytest.mark.network
@pytest.mark.slow
def test_counts_of_the_docstring():
    package = debian_package("tuxpaint-stamps-default", "")
    if package.version != "2022.06.04-1":
        pytest.skip(f"the machine's sources offer version {package.version}")
    folder = package.root / "usr/share/tuxpaint/stamps"
    parts = split(images_from(folder))
    assert {
        name: (len(part), len({image.captions for image in part}))
        for name, part in parts.items()
    } == {"train": (679, 585), "validation": (41, 34), "test": (38, 33)}
    texts = list(folder.rglob("*.txt"))
    drawn = [path for path in texts if path.with_suffix(".png").is_file()]
    assert len(drawn) - len(images_from(folder)) == 20
    only_svg = [path for path in texts if path.with_suffix(".svg").is_file()]
    assert len(set(only_svg) - set(drawn)) == 165
