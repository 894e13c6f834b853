import json

import pytest

from applications.datasets import emoji as module
from applications.datasets.captioned import split
from applications.datasets.emoji import Emoji, base, images_from
from applications.datasets.errors import DataError
from applications.datasets.fetch import npm_package
from tests.applications.image_files import picture

# Code points, kind, Unicode's name, CLDR's American and British ones.
EMOJI = [
    ("1F346", "food", "AUBERGINE", "eggplant", "aubergine"),
    ("1F405", "animal", "TIGER", "tiger", None),
    ("2764-FE0F", "heart", "HEAVY BLACK HEART", "red heart", None),
    ("1F469-200D-1F692", "person-role", "WOMAN FIREFIGHTER", "woman firefighter", None),
    ("1F473", "person-role", "MAN WITH TURBAN", "person wearing turban", None),
    ("1F4A1", "light", "ELECTRIC LIGHT BULB", "light bulb", "light bulb"),
    ("1F1EA-1F1EC", "country-flag", "Egypt Flag", "flag: Egypt", None),
    ("1F3FB", "skin-tone", "FITZPATRICK", "light skin tone", None),
    ("1F999", "animal", "LLAMA", None, None),
]


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def packages(tmp_path):
    """Packages of drawings and names, unpacked."""
    listed = [
        {
            "unified": unified,
            "subcategory": kind,
            "name": name,
            "image": f"{unified.lower()}.png",
        }
        for unified, kind, name, *_ in EMOJI
    ]
    drawings = {vendor: tmp_path / vendor for vendor in module.DRAWINGS}
    for vendor, root in drawings.items():
        write_json(root / "emoji.json", listed)
        for value, one in enumerate(listed):
            if (vendor, one["unified"]) != ("twitter", "1F405"):  # not drawn by all
                picture(root / "img" / vendor / "64" / one["image"], value)
    for language, column in (("en", 3), ("en-001", 4)):
        said = {
            module._text(row[0]).replace("\ufe0f", ""): {"tts": [row[column]]}
            for row in EMOJI
            if row[column]
        }
        said["\N{FIRE ENGINE}"] = {"default": ["truck"], "tts": ["fire engine"]}
        said["\N{FROG FACE}"] = {"default": ["a keyword only"]}
        write_json(
            tmp_path / "names" / "annotations" / language / "annotations.json",
            {"annotations": {"identity": {}, "annotations": said}},
        )
    return drawings, [tmp_path / "names"]


def test_names_that_say_what_is_drawn_are_captions(packages):
    found = {image.key: image.captions for image in images_from(*packages)}
    assert found["google/1f346"] == ("eggplant", "aubergine")
    assert found["google/2764-fe0f"] == ("red heart",)
    assert found["google/1f473"] == ("person wearing turban",)
    assert found["google/1f4a1"] == ("light bulb", "electric light bulb")


def test_what_cannot_be_seen_or_is_missing_is_left_out(packages):
    keys = {image.key for image in images_from(*packages)}
    codes = {"1f346", "2764-fe0f", "1f469-200d-1f692", "1f473", "1f4a1"}
    both = {f"{vendor}/{code}" for vendor in module.DRAWINGS for code in codes}
    assert keys == both | {"google/1f405"}


def test_groups_are_the_names_of_base_code_points(packages):
    groups = {image.key: image.group for image in images_from(*packages)}
    assert groups["google/1f469-200d-1f692"] == "fire engine"
    assert groups["twitter/1f4a1"] == groups["google/1f4a1"] == "light bulb"


@pytest.mark.parametrize(
    ("unified", "expected"),
    [
        ("1F405", "1F405"),
        ("1F469-200D-1F692", "1F692"),
        ("1F9D1-200D-1F692", "1F692"),
        ("26F9-FE0F-200D-2642-FE0F", "26F9"),
        ("1F468", "1F468"),
        ("2640-FE0F", "2640"),
        ("0031-FE0F-20E3", "0031"),
    ],
)
def test_base_is_what_a_person_is_or_does(unified, expected):
    assert base(unified) == chr(int(expected, 16))


def test_the_builder_fetches_the_versions_it_names(packages, tmp_path, monkeypatch):
    drawings, (names,) = packages
    asked = []

    def fetch(name, version, instead):
        asked.append((name, version))
        return drawings.get(name.removeprefix("emoji-datasource-"), names)

    monkeypatch.setattr(module, "npm_package", fetch)
    builder = Emoji(data_dir=tmp_path / "data")
    assert list(builder._images()) == images_from(drawings, [names, names])
    assert ("emoji-datasource-twitter", "16.0.0") in asked
    assert len(asked) == 4


def test_a_broken_package_is_one_line(packages):
    (packages[0]["google"] / "emoji.json").write_text("{")
    with pytest.raises(DataError, match=r"emoji\.json cannot be read: ") as error:
        images_from(*packages)
    assert "\n" not in str(error.value)


@pytest.mark.network
@pytest.mark.slow
def test_counts_of_the_docstring():
    def fetched(versions, prefix=""):
        return [npm_package(prefix + name, it, "") for name, it in versions.items()]

    drawings = fetched(module.DRAWINGS, "emoji-datasource-")
    images = images_from(
        dict(zip(module.DRAWINGS, drawings, strict=True)), fetched(module.NAMES)
    )
    assert {
        name: (
            len(part),
            len({image.path.name for image in part}),
            sum(len(image.captions) for image in part),
        )
        for name, part in split(images).items()
    } == {
        "train": (2_982, 1_491, 3_530),
        "validation": (136, 68, 168),
        "test": (170, 85, 210),
    }
