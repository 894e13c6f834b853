"""Show this repository's own docstring sections as the Google ones are shown.

The documentation tools know `Args`, `Returns`, `Raises` and `Examples`. `Shapes`,
`Call args` and `Source` are ours: each becomes a bold line above its text, and entries
of the form `name: text` become a list.
"""

import re
from textwrap import dedent
from typing import Any

from griffe import Extension, Object

WITH_ENTRIES = ("Shapes", "Call args")
SECTION = re.compile(
    rf"^(?P<title>{'|'.join((*WITH_ENTRIES, 'Source'))}):\n"
    r"(?P<body>(?:(?:[ ]{4}.*)?(?:\n|\Z))+)",
    re.MULTILINE,
)
ENTRY = re.compile(r"(?P<names>[\w*`][\w*`, ]*): ")


def as_markdown(docstring: str) -> str:
    """The docstring with this repository's sections written in Markdown."""
    return SECTION.sub(_section, docstring)


def _section(match: re.Match[str]) -> str:
    body = dedent(match["body"]).strip()
    if match["title"] in WITH_ENTRIES:
        body = _listed(body)
    return f"**{match['title']}:**\n\n{body}\n\n"


def _listed(body: str) -> str:
    lines, in_list = [], False
    for line in body.splitlines():
        entry = ENTRY.match(line)
        belongs = bool(entry) or (in_list and line.startswith(" "))
        if belongs != in_list:
            lines.append("")  # Markdown wants an empty line around a list
        lines.append(
            f"- {_code(entry['names'])}: {line[entry.end() :]}" if entry else line
        )
        in_list = belongs
    return "\n".join(lines)


def _code(names: str) -> str:
    return ", ".join(f"`{name.strip('` ')}`" for name in names.split(","))


class HouseSections(Extension):
    """Rewrites every docstring before it is parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called by griffe for each module, class, function and attribute."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
