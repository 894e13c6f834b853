from applications.datasets.libreoffice_help import corpus
from applications.datasets.libreoffice_help.builder import LibreofficeHelp
from applications.datasets.pairs import Pair


def test_the_default_is_embedded(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "fetch", None)
    builder = LibreofficeHelp(data_dir=tmp_path)
    assert builder.info.full_name == "libreoffice_help/en-de/1.0.0"
    assert builder._pairs() == corpus.read()


def test_other_languages_are_fetched(tmp_path, monkeypatch):
    made = [Pair("page", "one", "um")]
    asked = []
    monkeypatch.setattr(
        corpus, "fetch", lambda code: asked.append(code) or (made, "1.0")
    )
    builder = LibreofficeHelp(config="en-pt-br", data_dir=tmp_path)
    assert builder._pairs() == made
    assert asked == ["pt-br"]
