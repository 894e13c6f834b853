import pytest
import soundfile

from applications.errors import UserError
from applications.pipeline import files
from applications.pipeline import run as runs
from applications.speech_recognition import explanation
from applications.speech_recognition.recognizer import Recognizer
from tests.applications.speech_recognition.conftest import spoken


@pytest.fixture
def data(make_data):
    return make_data(objective="ctc")


@pytest.fixture
def run(data, root):
    return runs.create(root, "speech_recognition", "smoke", data.config)


def test_a_picture_of_a_file_of_ones_own(data, run, make_recognizer, tmp_path):
    path = tmp_path / "my words.flac"
    soundfile.write(path, spoken("ab cd", 22_050), 22_050)
    model = make_recognizer(data).model
    (picture,) = explanation.explain(data, model, run, [str(path)])
    assert picture == run.path("figures", "my-words.png")
    assert picture.stat().st_size > 10_000


def test_examples_are_test_clips_that_a_picture_has_room_for(
    data, run, make_recognizer, monkeypatch, capsys
):
    """Where nothing was recognized, a line says so."""
    model = make_recognizer(data).model
    said = ["abc", "", "a", "b d"]
    monkeypatch.setattr(Recognizer, "__call__", lambda *_: said)
    found = explanation.explain(data, model, run, [])
    assert len(found) == 3
    texts = data.clips("test").texts
    names = {files.names_after([text])[0]: len(text) for text in texts}
    shown = [names[path.stem] for path in found]
    assert min(shown) >= sorted(map(len, texts))[-4]
    assert capsys.readouterr().out.count("nothing was recognized") == 1


def test_too_many_clips_are_refused(data, run):
    with pytest.raises(UserError, match="At most 24 clips"):
        explanation.explain(data, None, run, ["a.wav"] * 25)
