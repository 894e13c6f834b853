"""The Python blocks of the README and of the documentation run."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SLOW = {"migrating-decoding.md"}  # imports KerasHub and compiles its `generate`
# `<!-- not run: reason -->` on the line before a block leaves it out.
BLOCK = re.compile(
    r"^(?P<skip><!-- not run: .+? -->\n+)?```python\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(text: str) -> Iterator[str]:
    """The code of each block, behind as many empty lines as stand before it."""
    for match in BLOCK.finditer(text):
        if not match["skip"]:
            yield "\n" * text.count("\n", 0, match.start("code")) + match["code"]


def pages_with_code() -> list[Path]:
    """The pages of which at least one block runs."""
    return [page for page in PAGES if any(blocks(page.read_text("utf-8")))]


def case(page: Path):
    marks = [pytest.mark.slow] if page.name in SLOW else []
    return pytest.param(page, id=page.name, marks=marks)


@pytest.mark.parametrize("page", [case(page) for page in pages_with_code()])
def test_blocks_run_in_order(page, tmp_path, monkeypatch):
    pytest.importorskip("tensorflow", reason="the pages are written for TensorFlow")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block in blocks(page.read_text("utf-8")):
        exec(compile(block, str(page), "exec"), namespace)


def test_the_readme_has_code():
    assert ROOT / "README.md" in pages_with_code()


def test_a_block_keeps_its_line_number():
    assert list(blocks("one\n\n```python\nx = 1\n```\n")) == ["\n\n\nx = 1\n"]


def test_a_marked_block_is_left_out():
    text = "<!-- not run: takes an hour -->\n```python\nx = 1\n```\n"
    assert list(blocks(text)) == []
