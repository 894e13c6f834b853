"""Every source module has its test file, at the mirrored path."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TREES = ("keras_attention", "applications")

# Modules without a test file of their own, by file name, and why.
WITHOUT_TESTS = {
    "__init__.py": "names and re-exports; the tests of the modules use them",
    "__main__.py": "two lines; the command line's own tests run them",
    "presets.py": "numbers only; the application's tests run the smoke preset",
}


def sources() -> list[Path]:
    """Every module of the two trees, relative to the root."""
    found = (path for tree in TREES for path in (ROOT / tree).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in found)


def mirror(source: Path) -> Path:
    """`a/b/_c.py` -> `tests/a/b/test_c.py`."""
    return "tests" / source.parent / f"test_{source.name.lstrip('_')}"


def test_mirror_follows_the_path():
    assert mirror(Path("a/b/_c.py")) == Path("tests/a/b/test_c.py")


def test_both_trees_are_seen():
    assert {path.parts[0] for path in sources()} == set(TREES)


def test_every_module_has_its_test_file():
    missing = [
        f"{source} -> {mirror(source)}"
        for source in sources()
        if source.name not in WITHOUT_TESTS and not (ROOT / mirror(source)).is_file()
    ]
    assert not missing, "modules without tests:\n" + "\n".join(missing)


@pytest.mark.parametrize("tree", [*TREES, *(f"tests/{tree}" for tree in TREES)])
def test_every_directory_is_a_package(tree):
    modules = (ROOT / tree).rglob("*.py")
    missing = {
        str(path.parent.relative_to(ROOT))
        for path in modules
        if not (path.parent / "__init__.py").is_file()
    }
    assert not missing, f"directories without __init__.py: {sorted(missing)}"
