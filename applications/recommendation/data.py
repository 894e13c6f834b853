"""The log of a run: histories, what is held out of them, and training batches."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from applications.datasets.interactions import Catalogue, held_out, training_items
from applications.datasets.load_interactions import Interactions, load_interactions
from applications.errors import UserError
from applications.pipeline.epochs import ShuffledBatches, as_written
from applications.recommendation.negatives import negatives, sorted_ragged
from applications.recommendation.presets import DataConfig, RecommendationConfig
from applications.recommendation.scorer import Scorer
from applications.recommendation.windows import Rows, rows
from keras_attention import models


class HeldOut(NamedTuple):
    """What is to be foreseen, a row for each user who took three items or more.

    Attributes:
        users: Their places in the log, int32 `(n,)`.
        histories: What each took before, in order.
        targets: What each took next, int32 `(n,)`.
    """

    users: np.ndarray
    histories: list[np.ndarray]
    targets: np.ndarray


@dataclass
class RecommendationData:
    """What the stages need of the data; each part is read when first asked for.

    Args:
        config: Of the run, or as a stage changes it.
        catalogue: The items the model knows.
    """

    config: RecommendationConfig
    catalogue: Catalogue
    _scorer: Scorer | None = field(default=None, init=False, repr=False)

    @property
    def num_items(self) -> int:
        return self.catalogue.num_items

    @cached_property
    def interactions(self) -> Interactions:
        """The log as it is now.

        Raises:
            UserError: Its items are not those that the model knows.
        """
        found = read(self.config.data)
        require_items(self.config.data.name, self.catalogue, found.log.catalogue)
        return found

    @cached_property
    def histories(self) -> list[np.ndarray]:
        """All that each user took, in order; of the first users, if limited."""
        every = [history.items for history in self.interactions.log.histories]
        return every[: self.config.data.user_limit]

    @cached_property
    def learned(self) -> list[np.ndarray]:
        """What may be learned from: without what is held out."""
        return [training_items(items) for items in self.histories]

    @cached_property
    def counts(self) -> np.ndarray:
        """How many users took each item in training, int64 `(V,)`."""
        return np.bincount(np.concatenate(self.learned), minlength=self.num_items + 1)

    def held_out(self, split: str) -> HeldOut:
        """What is to be foreseen in validation or test.

        Raises:
            UserError: Nobody took three items.
        """
        found = [
            (user, *pair)
            for user, items in enumerate(self.histories)
            if (pair := held_out(items, split))
        ]
        if not found:
            raise UserError(f"{self.config.data.name} has no user with three items.")
        users, histories, targets = zip(*found, strict=True)
        return HeldOut(
            np.array(users, "int32"), list(histories), np.array(targets, "int32")
        )

    def scorer(self, model: keras.Model) -> Scorer:
        """From histories to scores; that of a model is compiled once."""
        if self._scorer is None or self._scorer.model is not model:
            self._scorer = Scorer(model, self.config.data.max_length)
        return self._scorer

    @cached_property
    def rows(self) -> Rows:
        """Training histories as rows, one item wider than what is read but for gaps."""
        overlap = 0 if self.config.model.kind == "bert4rec" else 1
        found = rows(self.learned, self.config.data.max_length, overlap)
        if not len(found.items):
            raise UserError(
                f"{self.config.data.name} has nothing to learn from: nobody took two "
                "items before those that are held out."
            )
        return found

    @cached_property
    def train(self) -> ShuffledBatches:
        """Training batches by epoch: inputs of the model and labels."""
        config = self.config
        cuts = config.data.cuts if config.model.kind == "din" else 1
        return ShuffledBatches(
            self._shuffled(cuts),
            self._sampled if config.samples else self._compared,
            cuts * len(self.rows.items),
            config.data.batch_size,
            config.train.seed,
        )

    # ------------------------------------------------------------- from rows to batches

    def _shuffled(self, cuts: int) -> Callable[[tf.Tensor, int], tf.data.Dataset]:
        """All rows in random order, each as often as it is cut, and whose they are."""
        with tf.device("CPU:0"):
            items, users = (tf.constant(part) for part in self.rows)

        def batches(key: tf.Tensor, batch_size: int) -> tf.data.Dataset:
            order = tf.range(cuts * len(self.rows.items)) // cuts
            order = tf.random.experimental.stateless_shuffle(order, key)
            numbers = tf.data.Dataset.from_tensor_slices(order).batch(batch_size)
            return numbers.map(
                as_written(lambda n: (tf.gather(items, n), tf.gather(users, n)))
            )

        return batches

    def _compared(
        self, items: tf.Tensor, users: tf.Tensor, key: tf.Tensor
    ) -> tuple[Any, tf.Tensor]:
        """A batch for the cross-entropy over all items."""
        del users
        read, labels = self._asked(items, key)
        return {"items": read}, labels

    def _sampled(
        self, items: tf.Tensor, users: tf.Tensor, key: tf.Tensor
    ) -> tuple[Any, tf.Tensor]:
        """A batch for that over sampled items.

        They are none that the user took in training. What is held out is among them as
        any other item: a model that never saw it so would know it by that.
        """
        keys = tf.random.experimental.stateless_split(key, 2)
        read, labels = self._asked(items, keys[0])
        drawn = negatives(
            tf.gather(self._taken, users),
            self.num_items,
            self.config.train.negatives,
            keys[1],
        )
        inputs = {
            "items": read,
            "targets": labels,
            "negatives": drawn.items,
            "log_q": drawn.log_chance,
        }
        return inputs, labels

    @cached_property
    def _taken(self) -> tf.RaggedTensor:
        with tf.device("CPU:0"):
            return sorted_ragged(self.learned)

    def _asked(self, items: tf.Tensor, key: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """What is read of rows `(B, W)` and what is asked for."""
        kind = self.config.model.kind
        if kind == "bert4rec":
            return self._with_gaps(items, key)
        if kind == "din":
            return cut(items, key)
        return items[:, :-1], items[:, 1:]

    def _with_gaps(
        self, items: tf.Tensor, key: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Rows with items hidden: some at random, or the last one alone."""
        keys = tf.random.experimental.stateless_split(key, 2)
        train = self.config.train
        shape = tf.shape(items)
        numbers = tf.random.stateless_uniform(shape, keys[0])
        only_last = tf.random.stateless_uniform(shape[:1], keys[1]) < train.last_rate
        # Where nothing is drawn, the last item is hidden.
        numbers = tf.where(only_last[:, None], 1.0, numbers)
        return models.hide_items(items, numbers, self.num_items + 1, train.mask_rate)


def cut(items: tf.Tensor, key: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Rows cut before a random item: what precedes it, and the item.

    Args:
        items: int32 `(B, W)`, two items or more, then 0.
        key: int32 `(2,)`.

    Returns:
        int32 `(B, W - 1)` and `(B, 1)`.
    """
    lengths = tf.math.count_nonzero(items, axis=1, dtype=tf.int32)
    share = tf.random.stateless_uniform(tf.shape(lengths), key)
    steps = tf.cast(share * tf.cast(lengths - 1, tf.float32), tf.int32)
    places = 1 + tf.minimum(steps, lengths - 2)  # from 1 to the last
    read = tf.where(tf.range(tf.shape(items)[1])[None] < places[:, None], items, 0)
    return read[:, :-1], tf.gather(items, places[:, None], batch_dims=1)


def read(config: DataConfig) -> Interactions:
    """The whole log, whatever limits say."""
    columns = (
        config.user_column,
        config.item_column,
        config.time_column,
        config.title_column,
    )
    return load_interactions(config.name, config.data_dir, columns)


def require_items(name: str, known: Catalogue, found: Catalogue) -> None:
    """Refuse a log whose items are not those a model was trained on.

    Raises:
        UserError: They differ; says how many are new and gone, and names the first.
    """
    if known.names == found.names:
        return
    changes = [
        f"{len(names)} {change}, such as {min(names)!r}"
        for change, names in (
            ("new", {*found.names} - {*known.names}),
            ("gone", {*known.names} - {*found.names}),
        )
        if names
    ]
    raise UserError(
        f"The items of {name} are not those the model was trained on: "
        f"{'; '.join(changes)}. Train a new run."
    )
