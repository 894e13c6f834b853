"""Build hook: one reference page per public module of the library.

The pages follow `keras_attention.__all__` and the `__all__` of each package. A layer in
the registry is described on its gallery page and only linked from here.
"""

import importlib
from types import ModuleType

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import keras_attention
from keras_attention import layers

MENU = "Reference"


def module_names() -> list[str]:
    """The public modules, in the order that the package names them."""
    return [
        name
        for name in keras_attention.__all__
        if isinstance(getattr(keras_attention, name), ModuleType)
    ]


def described_elsewhere() -> set[str]:
    """Modules with a page of their own, and layers of the gallery."""
    pages = {getattr(keras_attention, name).__name__ for name in module_names()}
    shown = {f"keras_attention.layers.{c.__name__}" for c in layers.registry().values()}
    return pages | shown


def directives(path: str, level: int) -> list[str]:
    """Instructions to mkdocstrings for a module and the modules it makes public."""
    module = importlib.import_module(path)
    elsewhere = described_elsewhere()
    members, inner = [], []
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            inner += [] if value.__name__ in elsewhere else [value.__name__]
        elif f"{path}.{name}" not in elsewhere:
            members.append(name)
    lines = [f"::: {path}", "    options:", f"      heading_level: {level}"]
    if level == 1:
        lines.append("      show_root_heading: false")  # the page's title says it
    if hasattr(module, "__all__"):
        lines.append(f"      members: {members or 'false'}")
    for name in inner:
        lines += ["", *directives(name, level + 1)]
    return lines


def page(name: str) -> str:
    """The Markdown of one public module."""
    path = getattr(keras_attention, name).__name__
    lines = [f"# {name}", "", *directives(path, level=1), ""]
    if name == "layers":
        lines += ["The layers themselves: see the [gallery](../gallery/index.md).", ""]
    return "\n".join(lines)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the reference's place in the menu."""
    menu = next(entry for entry in config.nav if MENU in entry)
    menu[MENU] = [f"reference/{name}.md" for name in module_names()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for name in module_names():
        uri = f"reference/{name}.md"
        files.append(File.generated(config, uri, content=page(name)))
    return files
