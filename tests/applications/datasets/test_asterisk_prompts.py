import pytest

from applications.audio.reader import as_samples, read
from applications.datasets import asterisk_prompts
from applications.datasets.asterisk_prompts import (
    KINDS,
    LANGUAGES,
    WORDS,
    AsteriskPrompts,
    clips_from,
    labels_of,
    split,
)
from applications.datasets.errors import DataError
from applications.datasets.fetch import DebianPackage, debian_package
from tests.applications.sound_files import recording

PHONETIC = ("phonetic",)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The phonetic alphabet in five languages, and what is left out."""
    root = tmp_path_factory.mktemp("packages")
    for number, language in enumerate(LANGUAGES):
        voice = root / language / asterisk_prompts._FOLDER / f"{language}_voice"
        for word in (*WORDS["phonetic"], "9_p"):
            value = 100 * number + ord(word[0])
            recording(voice / "phonetic" / f"{word}.wav", value, rate=8000, samples=50)
    return {language: DebianPackage(root / language, "1") for language in LANGUAGES}


def folders(packages):
    return {
        language: package.root / asterisk_prompts._FOLDER
        for language, package in packages.items()
    }


def test_words_of_two_kinds_may_have_one_name():
    assert "at" in WORDS["digits"]
    assert "at" in WORDS["letters"]
    labels = labels_of(KINDS)
    assert len(set(labels)) == len(labels) == 177
    assert labels == sorted(labels)


def test_a_language_is_held_out_with_every_class(packages):
    clips = clips_from(folders(packages), PHONETIC)
    assert len(clips) == 5 * 26
    for language in LANGUAGES:
        parts = split(clips, language)
        assert sum(map(len, parts.values())) == len(clips)
        tested, validated = (
            {clip.language for clip in parts[name]} for name in ("test", "validation")
        )
        assert tested == {language}
        assert {clip.language for clip in parts["train"]} == (
            set(LANGUAGES) - tested - validated
        )
        for part in parts.values():
            assert {clip.label for clip in part} == set(labels_of(PHONETIC))


@pytest.mark.parametrize(("held_out", "other"), [("en", "es"), ("es", "en")])
def test_the_voice_of_two_languages_is_never_on_two_sides(held_out, other, packages):
    parts = split(clips_from(folders(packages), PHONETIC), held_out)
    assert {clip.language for clip in parts["validation"]} == {other}


def test_the_builder_writes_samples_and_labels(packages, tmp_path, monkeypatch):
    monkeypatch.setattr(
        asterisk_prompts,
        "debian_package",
        lambda name, _: packages[name.split("-")[3]],
    )
    builder = AsteriskPrompts(config="phonetic-ru", data_dir=tmp_path)
    assert builder.info.features["audio"].sample_rate == 8000
    builder.download_and_prepare()
    names = builder.info.features["label"].names
    rows = builder.as_dataset(split="test").as_numpy_iterator()
    written = {names[row["label"]]: row for row in rows}
    assert written.keys() == set(labels_of(PHONETIC))
    path = folders(packages)["ru"] / "ru_voice" / "phonetic" / "q_p.wav"
    row = written["phonetic/q_p"]
    assert row["audio"].tolist() == as_samples(read(path)[0]).tolist()
    assert (LANGUAGES[row["language"]], KINDS[row["kind"]]) == ("ru", "phonetic")


def test_a_word_that_is_not_there_is_named(packages):
    with pytest.raises(DataError, match="has no clip of letters/a in it") as error:
        clips_from(folders(packages), ("letters",))
    assert "\n" not in str(error.value)


@pytest.mark.network
def test_words_are_those_that_all_packages_have():
    said = []
    for language in LANGUAGES:
        package = debian_package(asterisk_prompts._PACKAGE.format(language), "")
        if package.version != "1.6.1-1":
            pytest.skip(f"the machine's sources offer version {package.version}")
        found = package.root.glob(f"{asterisk_prompts._FOLDER}/*/*/*.wav")
        said.append({f"{path.parent.name}/{path.stem}" for path in found})
    shared = {
        label for label in set.intersection(*said) if label.partition("/")[0] in KINDS
    }
    assert shared == set(labels_of(KINDS))
    counts = {kind: len(WORDS[kind]) for kind in KINDS}
    assert counts == {"digits": 92, "letters": 59, "phonetic": 26}
