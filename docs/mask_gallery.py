"""Build hook: the gallery's page on masks, with a picture of each."""

import io

import keras
from matplotlib.figure import Figure
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from keras_attention import masks

MENU, PAGE = "Gallery", "gallery/masks.md"
LENGTH = 32

# Every public mask as it is drawn; run-time masks get the tensors of one batch row.
DRAWN = {
    "Causal": masks.Causal(),
    "Local": masks.Local(4),
    "Dilated": masks.Dilated(3, 4),
    "Block": masks.Block(8),
    "Prefix": masks.Causal() | masks.Prefix(10),
    "Strided": masks.Causal() & masks.Strided(6),
    "Fixed": masks.Causal() & masks.Fixed(8, 2),
    "Global": masks.Global(2) | masks.Local(4),
    "RandomBlocks": masks.RandomBlocks(2, 4, LENGTH),
    "BigBird": masks.BigBird(3, 2, 1, 4, LENGTH),
    "Predicate": masks.Predicate(lambda i, j: (i - j) % 5 < 2),
    "Padding": masks.Padding([[True] * 22 + [False] * 10]),
    "Documents": masks.Causal() & masks.Documents([[0] * 9 + [1] * 14 + [2] * 9]),
    "Dense": masks.Dense([[(i * j) % 3 == 0 for j in range(32)] for i in range(32)]),
}

INTRODUCTION = """# Masks

A mask says which query position may attend which key position. Masks combine with `&`,
`|` and `~`, stand in the constructor of a layer (`mask=`) or are given to `ops.attend`:

```python
import numpy as np

from keras_attention import layers, masks

longformer = masks.Local(64) | masks.Global(4)
layer = layers.MultiHeadAttention(num_heads=2, key_dim=8, mask=longformer)
x = np.ones((1, 256, 16), "float32")
assert tuple(layer(x, x).shape) == (1, 256, 16)
```

The blockwise path computes only blocks that a mask does not leave empty, and computes
the parts of a union one after the other, each in the order in which it lies together.
In the pictures a row is a query, a column a key, and dark is what may be attended.
"""


def picture(mask: masks.Mask) -> bytes:
    """A PNG of the dense mask at `LENGTH` queries and keys."""
    allowed = keras.ops.convert_to_numpy(mask.dense(LENGTH, LENGTH))[0, 0]
    whole = keras.ops.convert_to_numpy(keras.ops.broadcast_to(allowed, (LENGTH,) * 2))
    figure = Figure(figsize=(2.6, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.imshow(whole, cmap="Purples", vmin=-0.1, vmax=1.2)
    axes.set(xlabel="key", ylabel="query", xticks=[0, 15, 31], yticks=[0, 15, 31])
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


def page() -> str:
    """The Markdown of the page."""
    lines = [INTRODUCTION]
    for name, mask in DRAWN.items():
        what = "tensors of one batch row" if mask.tensors() else f"`{mask!r}`"
        lines += [
            f"::: keras_attention.ops.masks.{name}",
            "",
            f"![{name}](masks/{name}.png)",
            "",
            f"*Drawn: {what}.*",
            "",
        ]
    return "\n".join(lines)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the page to the gallery's menu."""
    menu = next(entry for entry in config.nav if MENU in entry)
    menu[MENU] = [menu[MENU][0], {"Masks": PAGE}, *menu[MENU][1:]]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page and its pictures."""
    files.append(File.generated(config, PAGE, content=page()))
    for name, mask in DRAWN.items():
        path = f"gallery/masks/{name}.png"
        files.append(File.generated(config, path, content=picture(mask)))
    return files
