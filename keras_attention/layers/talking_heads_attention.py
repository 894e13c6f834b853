"""Multi-head attention whose heads talk."""

import keras
from keras import ops

from keras_attention.errors import require
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.ops.talking_heads import attend_talking_heads


@keras.saving.register_keras_serializable(package="keras_attention")
class TalkingHeadsAttention(MultiHeadAttention):
    """Multi-head attention with heads mixed before and after the softmax.

    `concat_n(sum_m A_nm softmax(sum_l P_ml L_l) V_n) W_o` with `L_n = Q_n K_n^T /
    sqrt(H)`. For many heads of a small `key_dim`, which alone see little. Both matrices
    start as the identity, so that an untrained layer is a `MultiHeadAttention`. Every
    logit needs those of all heads: there is the dense path alone, time
    `O(B T S (N H + N^2))`, memory `O(B N T S)`; multiply-adds those of
    `MultiHeadAttention` plus `2 B T S N^2`, and `2 N^2` parameters more.

    Shapes:
        As in `MultiHeadAttention`.

    Args:
        num_heads: Number of attention heads, N.
        key_dim: Size of each head for query and key, H.
        **kwargs: As in `MultiHeadAttention`; `flash_attention` may not be `True`.

    Call args:
        As in `MultiHeadAttention`. `attention_bias` is added to the mixed logits.

    Returns:
        As `MultiHeadAttention`. The scores are those after the softmax and before the
        second mix, after which rows sum to anything.

    Raises:
        ValueError: for `flash_attention=True`, and as `MultiHeadAttention`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.TalkingHeadsAttention(num_heads=2, key_dim=3)
        >>> x = np.ones((1, 5, 4), "float32")
        >>> y, scores = layer(x, x, return_attention_scores=True)
        >>> tuple(y.shape), tuple(scores.shape)
        ((1, 5, 4), (1, 2, 5, 5))

    Source:
        Shazeer et al. 2020, arXiv:2003.02436, section 3, with as many heads of logits
        and of values as there are of scores.
    """

    def __init__(self, num_heads: int, key_dim: int, **kwargs):
        super().__init__(num_heads, key_dim, **kwargs)
        require(
            not self.flash_attention,
            "Talking heads mix the logits of all heads, so they must be held: "
            "`flash_attention` must be None or False.",
            flash_attention=self.flash_attention,
        )

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.logits_mix, self.scores_mix = (
            self.add_weight(
                shape=(self.num_heads, self.num_heads),
                initializer="identity",
                name=name,
            )
            for name in ("logits_mix", "scores_mix")
        )

    def attend_projected(
        self,
        query,
        key,
        value,
        mask=None,
        bias=None,
        training=None,
        return_attention_scores=False,
        query_offset=None,
    ):
        output, attention_scores = attend_talking_heads(
            query,
            key,
            value,
            ops.convert_to_tensor(self.logits_mix),
            ops.convert_to_tensor(self.scores_mix),
            mask=mask,
            bias=bias,
            query_offset=query_offset,
            **self.attend_options(training),
        )
        return output, attention_scores if return_attention_scores else None

    def multiply_adds(self, query_shape, key_shape, value_shape):
        plain = super().multiply_adds(query_shape, key_shape, value_shape)
        batch, length, heads, _ = query_shape
        return plain + 2 * batch * heads * heads * length * key_shape[1]

    def held_numbers(self, query_shape, key_shape, value_shape):
        # The logits of all heads, beside the scores of all heads.
        return 2 * super().held_numbers(query_shape, key_shape, value_shape)
