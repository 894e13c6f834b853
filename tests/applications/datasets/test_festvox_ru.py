import pytest

from applications.datasets.errors import DataError
from applications.datasets.festvox_ru import _FOLDER, read
from applications.datasets.fetch import debian_package
from applications.datasets.utterances import Utterance, split


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "etc").mkdir()
    return tmp_path


def write(folder, text):
    (folder / "etc" / "txt.done.data").write_text(text, encoding="utf-8")


def test_texts_lose_their_marks_of_stress(folder):
    write(folder, '( ru_0001 "Прядь вол+ос." )\n( ru_0002 "+Окна, - \'нет\'." )\n')
    assert read(folder) == [
        Utterance("ru_0001", folder / "wav" / "ru_0001.wav", "Прядь волос."),
        Utterance("ru_0002", folder / "wav" / "ru_0002.wav", "Окна, - 'нет'."),
    ]


def test_another_line_is_named(folder):
    write(folder, '( ru_0001 "Прядь." )\nru_0002 "Окна."\n')
    with pytest.raises(DataError, match="has another line: 'ru_0002") as error:
        read(folder)
    assert "\n" not in str(error.value)


@pytest.mark.network
def test_counts_of_the_docstring():
    import soundfile

    package = debian_package("festvox-ru", "")
    if package.version != "0.5+dfsg-6":
        pytest.skip(f"the machine's sources offer version {package.version}")
    utterances = read(package.root / _FOLDER)
    assert len({utterance.words for utterance in utterances}) == len(utterances)
    found = {}
    for name, part in split(utterances).items():
        infos = [soundfile.info(utterance.path) for utterance in part]
        assert {(info.samplerate, info.channels) for info in infos} == {(16_000, 1)}
        minutes = sum(info.duration for info in infos) / 60
        found[name] = len(part), round(minutes, 1)
    assert found == {"train": (565, 90.6), "validation": (28, 4.4), "test": (27, 4.5)}
