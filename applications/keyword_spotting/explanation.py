"""Pictures of clips: which moments a model read, and which moved its answer."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import keras
import numpy as np

from applications.audio.clips import model_inputs, padded
from applications.errors import UserError
from applications.keyword_spotting.classifier import Classifier
from applications.keyword_spotting.data import ClipData
from applications.pipeline import figures, files
from applications.pipeline.run import Run
from keras_attention import interpretation
from keras_attention.interpretation import plots

ATTENTION, GRADIENT = "attention", "gradient x input"
HEADS = "attention of the class token, last block"

_EXAMPLES = 6
_MOST = 24  # clips of one call
_SEARCHED = 500  # test clips among which there is one of each class, most likely


def explain(
    data: ClipData, model: keras.Model, run: Run, inputs: Sequence[str]
) -> list[Path]:
    """Draw each clip's spectrogram and, under it, attention and gradient over time.

    Args:
        data: Names the classes; gives examples where there are no inputs.
        model: The run's best model.
        run: Where the figures go.
        inputs: Files of the user's own.
    """
    if len(inputs) > _MOST:
        raise UserError(f"At most {_MOST} clips. Received: {len(inputs)}.")
    names, clips = _shown(data, inputs)
    said = Classifier(model, data.reader, data.class_names).said(clips)
    is_sound = data.known.frame_size is None
    seconds = data.config.front_end.hop_milliseconds / 1000 if is_sound else None
    paths = []
    for name, file, clip, line, measured in zip(
        names,
        files.names_after(names),
        clips,
        said,
        measures(model, clips),
        strict=True,
    ):
        figure = plots.attended_spectrogram(
            clip,
            measured,
            f"{name}: {line}",
            seconds,
            "mel band" if is_sound else "coefficient",
        )
        paths.append(figures.save(run, file, figure))
    return paths


def _shown(data: ClipData, inputs: Sequence[str]) -> tuple[list[str], list[np.ndarray]]:
    """The user's clips, or the first test clip of each class, and their names."""
    if inputs:
        clips = [data.reader.read_file(path) for path in inputs]
        return [Path(path).stem for path in inputs], clips
    test = data.clips("test", _SEARCHED)
    first = np.unique(test.labels, return_index=True)[1][:_EXAMPLES]
    names = [data.class_names[test.labels[row]] for row in first]
    return names, [test.frames[row] for row in first]


def measures(
    model: keras.Model, clips: Sequence[np.ndarray]
) -> Iterator[dict[str, np.ndarray]]:
    """What each frame of each clip is given, by name of the measure.

    Attention, `(T,)`, the share of a frame in what the classifier reads, of the
    transformer by rollout and for each head `(N, T)` of its last block too; and what
    the frame adds to the log odds of the predicted class, to first order.
    """
    frames, lengths = padded(clips)
    inputs = model_inputs(frames, lengths)
    by_name = _attention(model, inputs)
    by_name[GRADIENT] = interpretation.gradient_times_input(model, inputs, "projection")
    for row, length in enumerate(lengths):
        yield {name: values[row][..., :length] for name, values in by_name.items()}


def _attention(model: keras.Model, inputs: dict) -> dict[str, np.ndarray]:
    """Measures `(B, T)` or `(B, N, T)`; none of a model without scores."""
    with interpretation.recording(model) as record:
        model(inputs, training=False)
    if not record.names:
        return {}
    if model.kind == "temporal_attention":
        return {ATTENTION: record.numpy(0)}
    # Position 0 is the class token, which the classifier reads.
    rolled = interpretation.rollout(record)[:, 0, 1:]
    return {ATTENTION: rolled, HEADS: record.numpy(-1)[:, :, 0, 1:]}
