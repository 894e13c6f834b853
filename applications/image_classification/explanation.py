"""Pictures of where a model looked: attention, gates and Grad-CAM over the images."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

from applications.errors import UserError
from applications.image_classification.classifier import Classifier
from applications.images.batches import ImageData
from applications.pipeline import figures
from applications.pipeline.run import Run
from keras_attention import interpretation, models
from keras_attention.interpretation import plots

_EXAMPLES = 6
_MOST = 24  # images in one picture
_PLACES = 4  # layers whose gates of places are shown, the last ones
_LAST = "channels_last"
_SEARCHED = 500  # test images among which there is one of each class, most likely


Drawing = tuple[str, Any]  # name of the file, figure


class Shown(NamedTuple):
    """Images `(n, h, w, c)` as the model takes them, and a line on each."""

    images: np.ndarray
    lines: list[str]


def explain(
    data: ImageData, model: keras.Model, run: Run, inputs: Sequence[str]
) -> list[Path]:
    """Draw the figures of the model's kind into the run.

    Args:
        data: Names the classes; gives examples where there are no inputs.
        model: The run's best model.
        run: Where the figures go.
        inputs: Image files of the user's own.
    """
    shown = _shown(Classifier(model, data), data, inputs)
    draw = _transformer if isinstance(model, models.VisionTransformer) else _cnn
    paths = [figures.save(run, name, figure) for name, figure in draw(model, shown)]
    if not paths:
        raise UserError(
            "This model has nothing to show: its attention gives no scores and its "
            "positions are not learned."
        )
    return paths


def _shown(classifier: Classifier, data: ImageData, inputs: Sequence[str]) -> Shown:
    """The user's images, or the first test image of each class."""
    if len(inputs) > _MOST:
        raise UserError(
            f"A picture holds {_MOST} images at most. Received: {len(inputs)}."
        )
    if inputs:
        images = np.stack([classifier.reader.read_file(path) for path in inputs])
        truths = [Path(path).name for path in inputs]
    else:
        images, labels = data.arrays("test", _SEARCHED)
        first = np.unique(labels, return_index=True)[1][:_EXAMPLES]
        images = images[first]
        truths = [data.class_names[label] for label in labels[first]]
    said = classifier.said(classifier.probabilities(images))
    lines = [f"{truth}: {words}" for truth, words in zip(truths, said, strict=True)]
    return Shown(images, lines)


def _recorded(model: keras.Model, images: np.ndarray) -> interpretation.Record:
    """What attention gave for the images; empty for a model without scores."""
    with interpretation.recording(model) as record:
        model(images.astype("float32"), training=False)
    return record


# ------------------------------------------------------------------ vision transformer


def _transformer(model: keras.Model, shown: Shown) -> Iterator[Drawing]:
    record = _recorded(model, shown.images)
    if record.names:  # linear attention has no scores
        shares = _shares(model, record)
        maps = [interpretation.patch_maps(one, model.grid) for one in shares.values()]
        figure = plots.overlay_rows(
            shown.images, np.stack(maps, axis=1), list(shares), shown.lines
        )
        yield "attention", figure
    if model.get_config()["positions"] == "learned":
        table = model.get_layer("positions").embeddings
        similarity = interpretation.position_similarity(table, model.grid)
        yield "positions", plots.position_similarity(similarity)


def _shares(model: keras.Model, record: interpretation.Record) -> dict[str, np.ndarray]:
    """What positions `(B, L)` give to the classifier: by rollout, and by its heads."""
    blocks = [name for name in record.names if name.endswith("self_attention")]
    followed = interpretation.rollout(record[name] for name in blocks)
    heads = _classifier_scores(model, record, blocks[-1])
    shares = {"rollout": _read(model, heads, followed)}
    if heads is not None:
        shares |= {f"head {i}": heads[:, i] for i in range(heads.shape[1])}
    return shares


def _classifier_scores(
    model: keras.Model, record: interpretation.Record, last: str
) -> np.ndarray | None:
    """What each head of the classifier looks at, `(B, N, L)`, if it attends."""
    if model.num_prefix_tokens:
        return record.numpy(last)[:, :, 0]
    if model.get_config()["pooling"] == "attention":
        return record.numpy("pooling/attention")[:, :, 0]
    return None


def _read(
    model: keras.Model, heads: np.ndarray | None, followed: np.ndarray
) -> np.ndarray:
    """The input positions `(B, L)` that reach the classifier, by rollout."""
    if model.num_prefix_tokens:
        return followed[:, 0]
    if heads is None:
        return followed.mean(axis=1)
    return np.einsum("bl,bls->bs", heads.mean(axis=1), followed)


# --------------------------------------------------------------------------------- CNN


def _cnn(model: keras.Model, shown: Shown) -> Iterator[Drawing]:
    pixels = shown.images.astype("float32")
    gates = _gates(model, shown.images)
    maps = {
        "Grad-CAM": interpretation.grad_cam(
            model, pixels, model.last_map, data_format=_LAST
        )
    }
    places = {name: gate for name, gate in gates.items() if gate.shape[1] > 1}
    for name in list(places)[-_PLACES:]:
        maps[_short(name)] = interpretation.position_gates(places[name], _LAST)
    figure = plots.overlay_rows(
        shown.images, _one_size(maps.values()), list(maps), shown.lines, smooth=True
    )
    yield "grad-cam", figure
    opened = {
        _short(name): interpretation.channel_gates(gate, _LAST)
        for name, gate in gates.items()
        if gate.shape[-1] > 1
    }
    if opened:
        means = {name: gate.mean(axis=0) for name, gate in opened.items()}
        yield "channels", plots.gate_bars(means)
        last = list(opened)[-1]
        yield "channels-by-image", plots.gate_strips(opened[last], shown.lines, last)


def _gates(model: keras.Model, images: np.ndarray) -> dict[str, np.ndarray]:
    """The gates by name of their layer, of four axes each."""
    record = _recorded(model, images)
    gates = {name: record.numpy(name) for name in record.names}
    # Of a choice between kernels, the share of the largest.
    return {n: gate[..., -1] if gate.ndim == 5 else gate for n, gate in gates.items()}


def _short(name: str) -> str:
    """`stage_2_block_1/spatial` of `stage_2_block_1_attention/spatial`."""
    return name.replace("_attention", "")


def _one_size(maps: Iterable[np.ndarray]) -> np.ndarray:
    """Maps `(B, n, h, w)` of the largest size among them, each repeated to it."""
    maps = list(maps)
    height, width = (max(one.shape[axis] for one in maps) for axis in (1, 2))
    return np.stack(
        [
            keras.ops.convert_to_numpy(
                keras.ops.image.resize(
                    one[..., None], (height, width), "nearest", data_format=_LAST
                )
            )[..., 0]
            for one in maps
        ],
        axis=1,
    )
