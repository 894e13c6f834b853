import re
from types import SimpleNamespace

import pytest
import tensorflow_datasets as tfds
from tensorflow_datasets.core import download

from applications.datasets import preparation
from applications.datasets.errors import DataError
from applications.errors import UserError

OURS = {"libreoffice_help": ("libreoffice_help.builder", "LibreofficeHelp")}


def find(name, tmp_path):
    return preparation.find_builder("corpus", name, OURS, ["a file"], tmp_path)


def test_ours_come_first_and_theirs_by_their_name(tmp_path, monkeypatch):
    assert type(find("mnist", tmp_path)).__module__.startswith("tensorflow_datasets.")
    ours = find("libreoffice_help/en-de", tmp_path)
    assert type(ours).__module__ == "applications.datasets.libreoffice_help.builder"
    monkeypatch.setitem(OURS, "mnist", OURS["libreoffice_help"])
    assert isinstance(find("mnist", tmp_path), type(ours))


def test_builders_of_ours_are_not_found_among_theirs(tmp_path):
    from applications.datasets import image_folder, tsv_pairs

    for module in (image_folder.ImageFolder, tsv_pairs.TsvPairs):
        with pytest.raises(UserError, match="Valid: libreoffice_help, a file"):
            find(module.name, tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("libreofice_help", "Unknown corpus 'libreofice_help'. Did you mean"),
        ("libreoffice_help/xx", "Unknown configuration of libreoffice_help 'xx'."),
    ],
)
def test_an_unknown_name_is_one_line(name, message, tmp_path):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        find(name, tmp_path)
    assert "\n" not in str(error.value)


@pytest.fixture
def refusing(monkeypatch):
    """Make every server answer with an error."""

    def open_with(error):
        def answer(*_, **__):
            raise error

        monkeypatch.setattr(preparation.urllib.request, "urlopen", answer)

    return open_with


def test_without_network_an_online_set_fails_at_once(tmp_path, refusing):
    refusing(OSError("no route to host"))
    with pytest.raises(DataError) as error:
        preparation.prepare("mnist", find("mnist", tmp_path), "Use ours.")
    assert str(error.value) == (
        "mnist must be downloaded and the network does not answer. Use ours."
    )


def test_a_server_that_refuses_the_probe_still_answers(refusing):
    refusing(preparation.urllib.error.HTTPError("url", 403, "forbidden", None, None))
    assert preparation._any_answers(["https://example.org/file"])
    assert not preparation._any_answers([])


def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    builder = find("libreoffice_help", tmp_path)
    monkeypatch.setattr(type(builder), "download_and_prepare", full)
    with pytest.raises(DataError, match="No space left") as error:
        preparation.prepare("libreoffice_help", builder, "Use ours.")
    assert "\n" not in str(error.value)


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """A function that makes a set of TFDS whose preparation ends with an error."""

    def builder_of(name, error):
        def fail(*_, **__):
            raise error

        builder = find(name, tmp_path)
        monkeypatch.setattr(type(builder), "download_and_prepare", fail)
        return builder

    return builder_of


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            download.DownloadError("Failed to get url https://x.org. HTTP code: 503."),
            "Failed to get url https://x.org. HTTP code: 503",
        ),
        (
            download.download_manager.NonMatchingChecksumError(
                "Artifact https://x.org has wrong checksum:\n* Expected: 1\n* Got: 2"
            ),
            "Artifact https://x.org has wrong checksum",
        ),
        (
            download.extractor.ExtractError("Error while extracting x.zip: not a zip"),
            "Error while extracting x.zip: not a zip",
        ),
        (download.DownloadError(), "DownloadError"),
    ],
)
def test_a_failed_download_is_one_line(error, reason, failing, monkeypatch):
    monkeypatch.setattr(preparation, "_any_answers", lambda urls: True)
    with pytest.raises(DataError) as raised:
        preparation.prepare("mnist", failing("mnist", error), "Use ours.")
    assert str(raised.value) == f"The download of mnist failed: {reason}. Use ours."


def test_a_set_that_is_downloaded_by_hand_says_so_without_network(tmp_path, refusing):
    refusing(OSError("no route to host"))
    with pytest.raises(DataError) as error:
        preparation.prepare("imagenet2012", find("imagenet2012", tmp_path), "Use ours.")
    message = str(error.value)
    assert message.startswith("imagenet2012 must be downloaded by hand. Manual ")
    assert str(tmp_path / "downloads" / "manual") in message
    assert "ILSVRC2012_img_train.tar" in message
    assert "\n" not in message


def test_another_assertion_keeps_its_traceback(failing, monkeypatch):
    monkeypatch.setattr(preparation, "_any_answers", lambda urls: True)
    builder = failing("mnist", AssertionError("a fault of the program"))
    with pytest.raises(AssertionError, match="a fault of the program"):
        preparation.prepare("mnist", builder, "Use ours.")


def test_what_tfds_prints_is_kept_back(capfd):
    with preparation.quiet_tfds():
        print("loud")
    assert capfd.readouterr().out == ""


def test_licence_is_on_one_line(tmp_path):
    assert "\n" not in preparation.stated_licence(find("libreoffice_help", tmp_path))
    unstated = tfds.builder("mnist", data_dir=tmp_path)
    assert preparation.stated_licence(unstated) == "not stated by its builder"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("./x", True),
        ("/x", True),
        ("~/x", True),
        ("here", True),
        ("elsewhere", False),
        ("emoji", False),
        ("emoji/configuration", False),
        ("", False),
    ],
)
def test_folders_are_told_from_names(name, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("here", "emoji"):
        (tmp_path / folder).mkdir()
    assert preparation.is_folder(name, ("emoji",)) == expected


TEXT, LABEL = tfds.features.Text(), tfds.features.ClassLabel(num_classes=2)


def test_supervised_keys_are_of_the_kinds_that_are_asked_for():
    info = SimpleNamespace(supervised_keys=("a", "b"), features={"a": TEXT, "b": LABEL})
    kinds = tfds.features.Text, tfds.features.ClassLabel
    assert preparation.supervised_keys("set", info, kinds, "texts") == ("a", "b")
    with pytest.raises(DataError) as error:
        preparation.supervised_keys("set", info, kinds[::-1], "texts")
    assert str(error.value) == "set is no set of texts; its examples hold a, b."


def test_a_package_that_is_not_installed_is_one_line(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise ImportError("`some` is not installed.\nMore.")

    builder = find("libreoffice_help", tmp_path)
    monkeypatch.setattr(type(builder), "download_and_prepare", fail)
    message = "^libreoffice_help cannot be prepared: `some` is not installed.$"
    with pytest.raises(DataError, match=message):
        preparation.prepare("libreoffice_help", builder, "Use ours.")
