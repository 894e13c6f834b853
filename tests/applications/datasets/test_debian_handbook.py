import pytest

from applications.datasets.debian_handbook import pairs_from, paragraphs
from applications.datasets.fetch import debian_package
from applications.datasets.pairs import Pair, split

PAGE = """<html><body>
<h2 class="title"><a id="x"></a>6.2. {title}</h2>
<div class="para">{first} <ul><li><div class="para">{item}</div></li></ul></div>
<pre class="screen">apt update</pre>
</body></html>"""
ENGLISH = PAGE.format(
    title="The <code>apt</code> command", first="It fetches lists:", item="one a source"
)
GERMAN = PAGE.format(
    title="Der Befehl <code>apt</code>", first="Er holt Listen:", item="je eine Quelle"
)


@pytest.fixture
def folders(tmp_path):
    for language, page in (("en", ENGLISH), ("de", GERMAN)):
        (tmp_path / language).mkdir()
        (tmp_path / language / "sect.apt.html").write_text(page, "utf-8")
    (tmp_path / "en" / "sect.more.html").write_text(ENGLISH, "utf-8")
    (tmp_path / "de" / "sect.more.html").write_text("<p>Nothing</p>", "utf-8")
    return tmp_path / "en", tmp_path / "de"


def test_paragraphs_lose_numbers_and_listings(folders):
    assert paragraphs(folders[0] / "sect.apt.html") == [
        "The apt command",
        "It fetches lists:",
        "one a source",
    ]


def test_pages_with_other_structure_are_left_out(folders):
    assert pairs_from(*folders) == [
        Pair("sect.apt", "The apt command", "Der Befehl apt"),
        Pair("sect.apt", "It fetches lists:", "Er holt Listen:"),
        Pair("sect.apt", "one a source", "je eine Quelle"),
    ]


@pytest.mark.network
@pytest.mark.slow
def test_counts_of_the_docstring():
    package = debian_package("debian-handbook", "")
    if package.version != "11.20220922":
        pytest.skip(f"the machine's sources offer version {package.version}")
    book = package.root / "usr/share/doc/debian-handbook/html"
    parts = split(pairs_from(book / "en-US", book / "de-DE"))
    assert {name: len(part) for name, part in parts.items()} == {
        "train": 5_210,
        "validation": 101,
        "test": 316,
    }
