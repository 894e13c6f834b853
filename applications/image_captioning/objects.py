"""Whether words look at the object: attention beside the alpha channel of cut-outs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

from applications.image_captioning.captioner import Caption, has_attention
from applications.image_captioning.concepts import Concepts
from applications.image_captioning.data import CaptionData
from keras_attention import interpretation


@dataclass(frozen=True)
class Looks:
    """How much of attention is inside the object, and how much of the image it covers.

    Attributes:
        inside: `(n,)`, the share of the attention of all words, heads alike, that lies
            on what is opaque.
        area: `(n,)`, the share of the image that is opaque, which is what attention
            that looks everywhere alike would have inside.
        habit: `(n,)`, what the mean of the model's maps over all cut-outs would have
            inside: objects stand in the middle, so that attention which always looks
            there is above the area and knows nothing of the image.
        cut_out: `(n,)` bool, whether the image has transparent pixels at all.
    """

    inside: np.ndarray
    area: np.ndarray
    habit: np.ndarray
    cut_out: np.ndarray

    @classmethod
    def of(
        cls, captions: Sequence[Caption], model: keras.Model, data: CaptionData
    ) -> "Looks":
        """Those of the test images; of none, if the model does not look."""
        if not has_attention(model):
            nothing = np.zeros(len(captions))
            return cls(nothing, nothing, nothing, np.zeros(len(captions), bool))
        cells, cut_out = data.objects("test", model.grid)
        maps = looked_at(captions, model.grid)
        usual = maps[cut_out].mean(axis=0) if cut_out.any() else maps.mean(axis=0)
        inside, habit = ((found * cells).sum(axis=(1, 2)) for found in (maps, usual))
        return cls(inside, cells.mean(axis=(1, 2)), habit, cut_out)

    def figures(
        self, concepts: Concepts, chosen: np.ndarray | None = None
    ) -> dict[str, Any]:
        """Means over the cut-outs, differences and their intervals, if there are any.

        Args:
            concepts: What the interval draws.
            chosen: `(n,)` bool, the images to look at; by default all.
        """
        counted = self.cut_out if chosen is None else self.cut_out & chosen
        if not counted.any():
            return {}
        found: dict[str, Any] = {
            "images": int(counted.sum()),
            "share": float(self.inside[counted].mean()),
        }
        for name, other in (("area", self.area), ("mean_map", self.habit)):
            above = concepts.difference(self.inside, other, counted)
            found[name] = float(other[counted].mean())
            found[f"above_{name}"] = above._asdict()
        return {"attention_inside_the_object": found}


def looked_at(captions: Sequence[Caption], grid: tuple[int, int]) -> np.ndarray:
    """Where all words and heads of each caption looked, `(n, rows, columns)`, sum 1.

    Args:
        captions: With scores, one an image.
        grid: Rows and columns of the places.
    """
    maps = np.stack(
        [interpretation.word_maps(one.scores, grid).mean(axis=0) for one in captions]
    )
    return maps / maps.sum(axis=(1, 2), keepdims=True)
