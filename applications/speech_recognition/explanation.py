"""Pictures of clips: the spectrogram and, under it, when each character is said."""

from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np

from applications.errors import UserError
from applications.pipeline import figures, files
from applications.pipeline.run import Run
from applications.speech_recognition.alignment import CTC, alignments
from applications.speech_recognition.data import SpeechData
from applications.speech_recognition.recognizer import Recognizer
from keras_attention import interpretation
from keras_attention.interpretation import plots

_EXAMPLES = 4
_MOST = 24  # clips of one call
_SEARCHED = 100  # test clips among which short ones are sought
_READABLE = 40  # characters of an example, at most


def explain(
    data: SpeechData, model: keras.Model, run: Run, inputs: Sequence[str]
) -> list[Path]:
    """Draw frames x characters of each clip: a panel for every head, and for CTC.

    The diagonality of each stands above it. A clip in which nothing was recognized has
    nothing to show, which is said.

    Args:
        data: Reads files; gives examples where there are no inputs.
        model: The run's best model.
        run: Where the figures go.
        inputs: Files of the user's own.
    """
    if len(inputs) > _MOST:
        raise UserError(f"At most {_MOST} clips. Received: {len(inputs)}.")
    recognizer = Recognizer(model, data)
    names, clips = _shown(data, inputs)
    texts = recognizer(clips)
    seconds = data.config.front_end.hop_milliseconds / 1000
    paths = []
    for name, file, clip, text, found in zip(
        names,
        files.names_after(names),
        clips,
        texts,
        alignments(recognizer, clips, texts),
        strict=True,
    ):
        if not text:
            print(f"{name}: nothing was recognized, so there is nothing to show")
            continue
        figure = plots.aligned_spectrogram(
            clip, _titled(found), list(text), f"{name}: {text}", seconds
        )
        paths.append(figures.save(run, file, figure))
    return paths


def _titled(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Alignments, with their diagonality in their names."""
    titled = {}
    for name, values in found.items():
        number = float(interpretation.diagonality(values))
        title = name if number != number else f"{name}, diagonality {number:.2f}"
        titled[title] = np.minimum(values, 1.0) if name == CTC else values
    return titled


def _shown(data: SpeechData, inputs: Sequence[str]) -> tuple[list[str], list]:
    """The user's clips, or test clips that a picture has room for, and their names."""
    if inputs:
        clips = [data.reader.read_file(path) for path in inputs]
        return [Path(path).stem for path in inputs], clips
    test = data.clips("test", _SEARCHED)
    # The longest texts that are readable: there is the most to see.
    rows = range(len(test.texts))
    short = [row for row in rows if len(test.texts[row]) <= _READABLE] or rows
    chosen = sorted(short, key=lambda row: -len(test.texts[row]))[:_EXAMPLES]
    return [test.texts[row] for row in chosen], [test.frames[row] for row in chosen]
