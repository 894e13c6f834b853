"""BERT's masking: some tokens are hidden, and a model says what they were."""

import dataclasses

import tensorflow as tf

from applications.errors import require


@dataclasses.dataclass(frozen=True, kw_only=True)
class Masking:
    """Hides tokens of rows, by a seed alone; a transform for `tf.data`.

    Of the tokens that may be chosen in a row, `rate` are, rounded, at least one. Of
    these `mask_share` become the mask, `random_share` another token, any that may be
    chosen, and the rest stay: a model cannot know which tokens it is asked for.

    Args:
        vocabulary_size: How many ids there are.
        mask_id: The id that stands for a hidden token.
        special_ids: Ids that are neither chosen nor put in another's place: padding,
            start, end and the like, whatever their numbers.
        max_predictions: The most tokens that are chosen in a row, `M`.
        rate: The share of tokens that is chosen, in (0, 1].
        mask_share: The share of these that is hidden.
        random_share: The share of these that is replaced.

    Call args:
        ids: Integers, `(..., T)`.
        seed: int32 `(2,)`. The same seed and ids give the same.

    Returns:
        What `fit` takes: `{"tokens": (..., T), "positions": (..., M)}` int32; the
        chosen tokens as they were, int32 `(..., M)`; and float32 weights `(..., M)`.
        Positions are in order; where fewer than `M` were chosen, position, token and
        weight are 0 at the end.

    Raises:
        ValueError: A share is out of its range, or there is no other token.

    Source:
        Devlin et al., 2019, arXiv:1810.04805, section 3.1.
    """

    vocabulary_size: int
    mask_id: int
    special_ids: tuple[int, ...]
    max_predictions: int
    rate: float = 0.15
    mask_share: float = 0.8
    random_share: float = 0.1

    def __post_init__(self):
        require(0 < self.rate <= 1, "`rate` must be in (0, 1].", rate=self.rate)
        both = self.mask_share + self.random_share
        require(
            min(self.mask_share, self.random_share) >= 0 and both <= 1 + 1e-9,
            "`mask_share` and `random_share` must be in [0, 1], and so must their sum.",
            mask_share=self.mask_share,
            random_share=self.random_share,
        )
        require(
            bool(self._ordinary()),
            "`special_ids` must leave other ids.",
            vocabulary_size=self.vocabulary_size,
        )

    def __call__(
        self, ids: tf.Tensor, seed: tf.Tensor
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor, tf.Tensor]:
        ids = tf.cast(ids, tf.int32)
        of_choice, of_change = tf.unstack(tf.random.split(seed, 2))
        is_chosen = self._chosen(ids, of_choice)  # (..., T)
        tokens = tf.where(is_chosen, self._changed(ids, of_change), ids)
        positions, weights = _positions(is_chosen, self.max_predictions)  # (..., M)
        labels = tf.gather(ids, positions, axis=-1, batch_dims=ids.shape.rank - 1)
        labels *= tf.cast(weights, tf.int32)
        return {"tokens": tokens, "positions": positions}, labels, weights

    def _chosen(self, ids: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        """Which tokens are asked for: those that draw the highest numbers."""
        special = tf.constant([*self.special_ids, self.mask_id])
        may = tf.reduce_all(ids[..., None] != special, axis=-1)
        count = tf.reduce_sum(tf.cast(may, tf.float32), axis=-1, keepdims=True)
        wanted = tf.minimum(tf.maximum(tf.round(self.rate * count), 1), count)
        wanted = tf.minimum(tf.cast(wanted, tf.int32), self.max_predictions)
        drawn = tf.where(may, tf.random.stateless_uniform(tf.shape(ids), seed), -1)
        ranks = tf.argsort(tf.argsort(drawn, direction="DESCENDING"))
        return ranks < wanted

    def _changed(self, ids: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        """What each token is where it is asked for: the mask, another, or itself."""
        ordinary = tf.constant(self._ordinary())
        of_kind, of_token = tf.unstack(tf.random.split(seed, 2))
        kind = tf.random.stateless_uniform(tf.shape(ids), of_kind)
        others = tf.random.stateless_uniform(
            tf.shape(ids), of_token, 0, len(ordinary), tf.int32
        )
        is_other = kind < self.mask_share + self.random_share
        replaced = tf.where(is_other, tf.gather(ordinary, others), ids)
        return tf.where(kind < self.mask_share, self.mask_id, replaced)

    def _ordinary(self) -> list[int]:
        special = {*self.special_ids, self.mask_id}
        return [n for n in range(self.vocabulary_size) if n not in special]


def _positions(is_chosen: tf.Tensor, count: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Where `is_chosen` `(..., T)` is true, in order and filled up, and weights."""
    length = tf.shape(is_chosen)[-1]
    places = tf.sort(tf.where(is_chosen, tf.range(length), length))[..., :count]
    missing = [[0, 0]] * (is_chosen.shape.rank - 1)
    missing += [[0, tf.maximum(count - length, 0)]]
    places = tf.pad(places, missing, constant_values=length)
    places = tf.ensure_shape(places, [*is_chosen.shape[:-1], count])
    is_there = places < length
    return tf.where(is_there, places, 0), tf.cast(is_there, tf.float32)
