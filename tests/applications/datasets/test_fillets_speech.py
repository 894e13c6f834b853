import re

import pytest

from applications.datasets import fillets_speech
from applications.datasets.fetch import DebianPackage, debian_package
from applications.datasets.fillets_speech import FilletsSpeech, lines, utterances_from
from applications.datasets.utterances import Utterance, split
from tests.applications.sound_files import recording

SCRIPT = r"""
dialogId("m-divna", "font_small", "What is \"that\"?")
dialogStr("Co je to za \"divnou\" loď?")

dialogId("v-dva", "font_big", "Two.")
dialogStr("F2")
dialogId("v-nic", "font_big", "Nothing.")
dialogStr("")
dialogId("v-jen", "font_big", "Only English.")
dialogId("v-zvuk", "font_big", "No sound.")
dialogStr("Ticho.")
"""


@pytest.fixture
def root(tmp_path):
    """One level with texts and sound, and one with sound alone."""
    game = tmp_path / fillets_speech._GAME
    script = game / "script" / "ship" / "dialogs_cs.lua"
    script.parent.mkdir(parents=True)
    script.write_text(SCRIPT, encoding="utf-8")
    for name in ("ship/cs/m-divna", "ship/cs/v-dva", "ship/cs/v-nic", "ship/cs/v-jen"):
        recording(game / "sound" / f"{name}.ogg", 1, rate=22_050, channels=2)
    recording(game / "sound" / "sea" / "cs" / "m-divna.ogg", 2)
    return tmp_path


def test_a_script_gives_the_texts_of_its_language(root):
    script = root / fillets_speech._GAME / "script" / "ship" / "dialogs_cs.lua"
    assert lines(script) == {
        "m-divna": 'Co je to za "divnou" loď?',
        "v-dva": "F2",
        "v-nic": "",
        "v-zvuk": "Ticho.",
    }
    assert lines(script.with_name("dialogs_xx.lua")) == {}


def test_recordings_with_a_text(root):
    game = root / fillets_speech._GAME
    found = list(utterances_from(game, game, "cs"))
    assert [utterance.key for utterance in found] == ["ship/m-divna", "ship/v-dva"]
    assert found[0].words == "co je to za divnou loď"


def test_the_builder_keeps_texts_that_are_spelled_out(root, tmp_path, monkeypatch):
    monkeypatch.setattr(
        fillets_speech, "debian_package", lambda *_: DebianPackage(root, "1")
    )
    builder = FilletsSpeech(config="cs", data_dir=tmp_path / "data")
    path = root / fillets_speech._GAME / "sound" / "ship" / "cs" / "m-divna.ogg"
    text = 'Co je to za "divnou" loď?'
    assert builder._utterances() == [Utterance("ship/m-divna", path, text)]
    assert list(builder.builder_configs) == ["cs", "nl"]


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "without", "left_out"), [("cs", 68, 33), ("nl", 1, 11)]
)
def test_counts_of_the_docstring(language, without, left_out, tmp_path):
    import soundfile

    package = debian_package(f"fillets-ng-data-{language}", "")
    if package.version != "1.0.1-1.1":
        pytest.skip(f"the machine's sources offer version {package.version}")
    builder = FilletsSpeech(config=language, data_dir=tmp_path)
    kept = builder._utterances()
    texts = debian_package("fillets-ng-data", "").root / fillets_speech._GAME
    game = package.root / fillets_speech._GAME
    with_text = len(list(utterances_from(game, texts, language)))
    silent = len(fillets_speech._SILENT) if language == "nl" else 0
    assert len(list(game.glob(f"sound/*/{language}/*.ogg"))) == (
        with_text + silent + without
    )
    assert with_text - len(kept) == left_out
    rows = re.findall(
        rf"\| {language} (\w+) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|",
        FilletsSpeech.__doc__,
    )
    stated = {
        name: (*(int(number.replace(",", "")) for number in counts), float(minutes))
        for name, *counts, minutes in rows
    }
    found = {}
    for name, part in split(kept).items():
        seconds = sum(soundfile.info(utterance.path).duration for utterance in part)
        different = {utterance.words for utterance in part}
        found[name] = len(part), len(different), round(seconds / 60, 1)
    assert found == stated
