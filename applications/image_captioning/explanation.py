"""Film strips: a caption word by word, and where in the image each word looked."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

from applications.errors import UserError
from applications.image_captioning.captioner import Caption, Captioner, has_attention
from applications.image_captioning.data import CaptionData
from applications.pipeline import files
from applications.pipeline.run import Run
from keras_attention import interpretation
from keras_attention.interpretation import plots

_EXAMPLES = 6
_SEARCHED = 500  # test images among which the examples are, evenly apart

Drawing = tuple[str, Any]  # name of the file, figure


class Shown(NamedTuple):
    """Images `(h, w, c)` as the model takes them, and what each is called."""

    images: list[np.ndarray]
    names: list[str]


def explain(
    data: CaptionData, model: keras.Model, run: Run, inputs: Sequence[str]
) -> list[Path]:
    """Draw a film strip for each image into the run, and its heads apart.

    Args:
        data: Reads files; gives test images where there are no inputs.
        model: The run's best model.
        run: Where the figures go.
        inputs: Image files of the user's own.

    Raises:
        UserError: the model has no attention, or a file is no image.
    """
    if not has_attention(model):
        raise UserError("A model without attention has nothing to show.")
    captioner = Captioner(model, data)
    shown = _own(captioner, inputs) if inputs else _examples(data)
    captions = captioner(image[None] for image in shown.images)
    figures = []
    names = files.names_after(shown.names)
    for file, name, image, caption in zip(
        names, shown.names, shown.images, captions, strict=True
    ):
        for kind, figure in _drawn(image, name, caption, model.grid):
            path = run.path("figures", f"{file}{kind}.png")
            with files.replacing(path) as temporary:
                plots.save(figure, temporary)
            figures.append(path)
    return figures


def _own(captioner: Captioner, inputs: Sequence[str]) -> Shown:
    images = [captioner.reader.read_file(path) for path in inputs]
    return Shown(images, [Path(path).stem for path in inputs])


def _examples(data: CaptionData) -> Shown:
    """Test images evenly apart: of every set, and of the same in every run."""
    names = [example.captions[0] for example in data.examples("test")][:_SEARCHED]
    chosen = np.linspace(0, len(names) - 1, min(_EXAMPLES, len(names))).astype(int)
    searched = data.image_batches("test").unbatch().take(len(names))
    images = list(searched.as_numpy_iterator())
    return Shown([images[i] for i in chosen], [names[i] for i in chosen])


def _drawn(
    image: np.ndarray, name: str, caption: Caption, grid: tuple[int, int]
) -> Iterator[Drawing]:
    """The strip of the heads' mean, and a row for each head where there are several."""
    maps = interpretation.word_maps(caption.scores, grid)
    title = f"{name}: {caption.text}"
    yield "", plots.film_strip(image, caption.words, maps, title)
    heads = len(caption.scores)
    if heads > 1:
        maps = np.stack([interpretation.word_maps(one, grid) for one in caption.scores])
        rows = [f"head {head}" for head in range(heads)]
        figure = plots.overlay_rows([image] * heads, maps, caption.words, rows, title)
        yield "-heads", figure
