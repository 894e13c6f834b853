"""What all two-input attention layers share: the contract, once.

A layer overrides how it projects (`project_query`, `project_key`, `project_value`), how
it compares (`score`) and what it makes of the result (`combine`); masks, padding,
scores, shapes and dropout are handled here.
"""

import inspect
from typing import Any

import keras
from keras import ops

from keras_attention.errors import fraction, one_of
from keras_attention.ops import _backend, attend, masks, scores
from keras_attention.ops.cost import attend_held, attend_multiply_adds

Tensor = Any


class ScoresOnRequest:
    """Before `keras.layers.Layer` among the bases: asking for scores changes no more.

    Building a model, Keras 3.15 takes the number of outputs of every call of a layer
    from `layer.output`, the first call's, and refuses a later call that returns more;
    here `output` is that of the call that returned most. Keras regularizes all that a
    call returns; here the output alone, so that scores add nothing to the loss.

    Args:
        activity_regularizer: Regularizer of the output.
        **kwargs: Those of `keras.layers.Layer`.
    """

    def __init__(self, *, activity_regularizer: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.output_regularizer = keras.regularizers.get(activity_regularizer)

    def __call__(self, *args, **kwargs):
        result = super().__call__(*args, **kwargs)
        output = keras.tree.flatten(result)[0]
        if self.output_regularizer is not None and ops.is_tensor(output):
            loss = self.output_regularizer(output)
            batch_size = ops.cast(ops.shape(output)[0], loss.dtype)
            self.add_loss(ops.divide_no_nan(loss, batch_size))
        return result

    def get_config(self):
        regularizer = keras.regularizers.serialize(self.output_regularizer)
        return {**super().get_config(), "activity_regularizer": regularizer}

    @property
    def output(self):
        first = super().output
        most = max((node.output_tensors for node in self._inbound_nodes), key=len)
        return first if len(keras.tree.flatten(first)) == len(most) else most


class BaseAttention(ScoresOnRequest, keras.layers.Layer):
    """Base of the two-input attention layers.

    Args:
        dropout: Share of attention scores dropped in training, in [0, 1).
        mask: A mask of positions, such as `masks.Local(128)`, and-ed with all others.
        flash_attention: `None` chooses the path by shape, `True` takes the path that
            never holds `T x S` scores, `False` the dense one. Results agree.
        seed: Seed of the dropout.
    """

    score: str | scores.Score = "scaled_dot"

    def __init__(
        self,
        *,
        dropout: float = 0.0,
        mask: masks.Mask | None = None,
        flash_attention: bool | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.dropout = fraction("dropout", dropout)
        self.mask = masks.position_mask(mask)
        self.flash_attention = one_of(
            "flash_attention", flash_attention, _IMPLEMENTATIONS
        )
        self.seed = seed
        self.score_variables: list = []
        self.sinks: Any = None
        if dropout:
            self.seed_generator = keras.random.SeedGenerator(seed)

    # ------------------------------------------------------- what a variant overrides

    def build(self, query_shape, value_shape, key_shape=None):
        """Create the weights; here there are none."""

    def project_query(self, query: Tensor) -> Tensor:
        """`(B, T, D)` to `(B, T, N, H)`."""
        return query[:, :, None, :]

    def project_key(self, key: Tensor) -> Tensor:
        """`(B, S, D)` to `(B, S, N, H)`."""
        return key[:, :, None, :]

    def project_value(self, value: Tensor) -> Tensor:
        """`(B, S, D)` to `(B, S, N, V)`."""
        return value[:, :, None, :]

    def score_weights(self) -> tuple[Tensor, ...]:
        """Weights the score takes after query and key."""
        return scores.values(self.score, self.score_variables)

    def combine(self, output: Tensor, query: Tensor) -> Tensor:
        """Attention output `(B, T, N, V)` to the layer's output."""
        del query
        return output[:, :, 0, :]

    def shape_scores(self, attention_scores: Tensor) -> Tensor:
        """Scores `(B, N, T, S)` to what the layer returns."""
        return attention_scores[:, 0]

    # ----------------------------------------------------------------------- the call

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
        attention_bias=None,
    ):
        key, value_mask = key_and_its_mask(key, value, key_mask, value_mask)
        query, key, value = zero_hidden(query, key, value, query_mask, value_mask)
        mask = self.combined_mask(
            query_mask, value_mask, attention_mask, use_causal_mask
        )
        output, attention_scores = self.attend_projected(
            self.project_query(query),
            self.project_key(key),
            self.project_value(value),
            mask=mask,
            bias=attention_bias,
            training=training,
            return_attention_scores=return_attention_scores,
        )
        output = carry_mask(self.combine(output, query), query_mask)
        return (output, attention_scores) if return_attention_scores else output

    def combined_mask(self, query_mask, value_mask, attention_mask, use_causal_mask):
        """All masks that hold for one call, and-ed."""
        padding = None
        if query_mask is not None or value_mask is not None:
            padding = masks.Padding(value_mask, query_mask)
        causal = masks.Causal() if use_causal_mask else None
        dense = masks.as_mask(attention_mask, "attention_mask")
        return masks.combine(causal, self.mask, padding, dense)

    def attend_projected(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: masks.Mask | None = None,
        bias: Tensor | None = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
        query_offset: Any = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Attention over projected tensors `(B, L, N, H)`; output and scores."""
        result = attend(
            query,
            key,
            value,
            mask=mask,
            bias=bias,
            query_offset=query_offset,
            implementation=self.implementation,
            return_attention_scores=return_attention_scores,
            **self.attend_options(training),
        )
        if not return_attention_scores:
            return result, None
        return result[0], self.shape_scores(result[1])

    @property
    def implementation(self) -> str | None:
        """The path that `flash_attention` names to `ops.attend`."""
        return _IMPLEMENTATIONS[self.flash_attention]

    def attend_options(self, training: bool | None) -> dict[str, Any]:
        """What every kind of `attend` takes of a layer: score, dropout, sinks."""
        dropout = self.dropout if training else 0.0
        return {
            "score": self.score,
            "score_weights": self.score_weights(),
            "dropout": dropout,
            "seed": self.seed_generator.next() if dropout else None,
            "sink": self.sinks,
        }

    def multiply_adds(self, query_shape, key_shape, value_shape) -> int | None:
        """What `attend_projected` multiplies on the dense path, for `costs.report`.

        Shapes are those of its arguments; products of projections are theirs. A variant
        that overrides `attend_projected` says its own, or counts as not counted.
        """
        return attend_multiply_adds(query_shape, key_shape, value_shape, self.score)

    def held_numbers(self, query_shape, key_shape, value_shape) -> int:
        """Numbers `attend_projected` holds on the dense path beside its output."""
        del value_shape
        return attend_held(query_shape, key_shape, self.score)

    # ------------------------------------------------------------- shapes and configs

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return (*query_shape[:-1], value_shape[-1])

    def compute_scores_shape(self, query_shape, value_shape):
        return (query_shape[0], query_shape[1], value_shape[1])

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        shapes = given["query"].shape, given["value"].shape
        shape = self.compute_output_shape(*shapes)
        output = keras.KerasTensor(shape, dtype=self.compute_dtype)
        output = carry_mask(output, given["query_mask"])
        if not given["return_attention_scores"]:
            return output
        shape = self.compute_scores_shape(*shapes)
        return output, keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "mask": masks.serialize(self.mask),
            "flash_attention": self.flash_attention,
            "seed": self.seed,
        }

    def add_score_weights(self, query_size: int, key_size: int) -> None:
        """Create the weights of a built-in score as `self.score_variables`."""
        self.score_variables = [
            self.add_weight(
                shape=weight.shape,
                initializer=weight.initializer(),
                name=f"score_{name}",
            )
            for name, weight in scores.weights(self.score, query_size, key_size).items()
        ]


_IMPLEMENTATIONS = {None: None, True: "flash", False: "dense"}


def call_arguments(layer: keras.layers.Layer, *args: Any, **kwargs: Any) -> dict:
    """The arguments of a call by name, defaults filled in.

    Keras hands `compute_output_spec` what `call` got, by position where it was given by
    position; this keeps the two from drifting apart.
    """
    bound = inspect.signature(layer.call).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def key_and_its_mask(key, value, key_mask, value_mask):
    """The key and the mask that holds for keys and values together."""
    key = value if key is None else key
    if key_mask is None:
        return key, value_mask
    if value_mask is None:
        return key, key_mask
    return key, ops.logical_and(
        masks.as_boolean("key_mask", key_mask),
        masks.as_boolean("value_mask", value_mask),
    )


def zero_hidden(query, key, value, query_mask, value_mask):
    """Inputs with 0 where a mask hides them: `0 * NaN` would still be NaN."""
    same_key = key is value
    query = zero_rows(query, query_mask)
    value = zero_rows(value, value_mask)
    return query, value if same_key else zero_rows(key, value_mask), value


def zero_rows(x, mask, name="mask"):
    """`x` with 0 in the rows that a mask, called `name` in errors, hides."""
    if mask is None:
        return x
    mask = ops.expand_dims(masks.as_boolean(name, mask), -1)
    return ops.where(mask, x, ops.zeros_like(x))


def carry_mask(output, query_mask):
    """`output` with the query's mask as its hidden mask."""
    if query_mask is None:
        return output
    return _backend.set_mask(output, query_mask)
