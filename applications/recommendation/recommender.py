"""From past items to the next, in the graph: one code for Python and SavedModel."""

import keras
import numpy as np
import tensorflow as tf

from applications.datasets.interactions import Catalogue
from applications.errors import UserError
from keras_attention import metrics


class Recommender:
    """A model, its catalogue, and what it says to those it knows nothing of.

    What a user took is never recommended, and neither is padding. Numbers that are no
    item are left out of a history; one of which nothing is left gets the items that
    most users took in training, with how many these were as scores.

    Args:
        model: A `models.SequenceRecommender`.
        catalogue: Its items.
        counts: How many users took each in training, `(V,)`.
        top_k: Length of a recommendation; of a smaller catalogue all.
    """

    def __init__(
        self,
        model: keras.Model,
        catalogue: Catalogue,
        counts: np.ndarray,
        top_k: int,
    ):
        self.model, self.catalogue = model, catalogue
        self.top_k = min(top_k, catalogue.num_items)
        scores = counts.astype("float32")[None]
        popular = metrics.top_items(scores, self.top_k)
        self._popular = popular.astype("int32")
        self._popular_scores = np.take_along_axis(scores, popular, axis=1)
        # A name that is none is item 0.
        self.lookup = keras.layers.StringLookup(
            vocabulary=list(catalogue.names[1:]), oov_token="", name="item_numbers"
        )
        self.lookup.build((None,))  # else it cannot be exported before it was called

    def answer(self, items: tf.Tensor) -> dict[str, tf.Tensor]:
        """What comes after histories `(B, T)` of numbers, 0 = none, in the graph.

        Returns:
            `items` int32 and `scores` float32 `(B, k)`, the best first. Where fewer
            than k are left that the user did not take, 0 and minus infinity.
        """
        there = (items > 0) & (items <= self.catalogue.num_items)
        items = tf.where(there, items, 0)
        items = tf.pad(items, [[0, 0], [0, 1]])  # a history of no place has one
        found, scores = self.model.recommend(items, self.top_k)
        is_cold = ~tf.reduce_any(there, axis=1, keepdims=True)
        return {
            "items": tf.where(is_cold, self._popular, found),
            "scores": tf.where(is_cold, self._popular_scores, scores),
        }

    def named(self, names: tf.Tensor) -> dict[str, tf.Tensor]:
        """The same by the log's own names: strings `(B, T)`, `""` = none.

        Returns:
            `items` and `titles` strings, `scores` float32, `(B, k)`.
        """
        found = self.answer(tf.cast(self.lookup(names), tf.int32))
        known, titles = (tf.constant(part) for part in self.catalogue)
        return {
            "items": tf.gather(known, found["items"]),
            "titles": tf.gather(titles, found["items"]),
            "scores": found["scores"],
        }

    def numbers(self, text: str) -> np.ndarray:
        """The items of a line that a user wrote: names with commas between.

        Raises:
            UserError: One is not in the catalogue.
        """
        names = [name.strip() for name in text.split(",") if name.strip()]
        known = {name: number for number, name in enumerate(self.catalogue.names)}
        for name in names:
            if name not in known:
                raise UserError(
                    f"There is no item {name!r}. Expected items of the log it was "
                    f"trained on, with commas between, such as "
                    f"{','.join(self.catalogue.names[1:4])}."
                )
        return np.array([known[name] for name in names], "int32")

    def describe(self, history: np.ndarray) -> str:
        """What is recommended after a history, on one line; shorter if little is left.

        Such as `Fargo (1996) [100] 7.31; ...`: title, the log's own name, score.
        """
        found = self.answer(tf.constant(history[None], tf.int32))
        pairs = zip(found["items"][0].numpy(), found["scores"][0].numpy(), strict=True)
        names, titles = self.catalogue
        return "; ".join(
            f"{titles[item]} [{names[item]}] {score:.2f}"
            for item, score in pairs
            if item
        )
