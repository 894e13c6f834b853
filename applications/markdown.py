"""Tables as the READMEs and cards hold them."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(map(_escaped, cells))} |" for cells in lines]


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
