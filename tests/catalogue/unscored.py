"""Layers linear in the length, which have no scores."""

from typing import Any

from keras_attention import layers
from tests.catalogue.multi_head import output_bias
from tests.catalogue.single_head import FREE_SIZE
from tests.rows import (
    OF_PAIRS,
    B,
    D,
    H,
    N,
    Row,
    T,
    V,
    base_options,
)

UNSCORED_OFF = {
    **dict.fromkeys(
        (
            "asking_for_scores_changes_nothing",
            "asking_for_scores_leaves_the_losses",
            "scores_can_be_asked_for_later",
            "score_rows_sum_to_one_or_zero",
        ),
        "never compares a query with a single key: refuses to give scores",
    ),
    **dict.fromkeys(
        OF_PAIRS,
        "has no logits of pairs: refuses `attention_mask` and `attention_bias`",
    ),
    "causal_is_aligned_to_the_end": "refuses the `attention_mask` to compare with: "
    "tested by hand against the quadratic form",
    "implementations_agree": "never holds scores, so there is one path",
}
NOT_CAUSAL = {
    "no_path_sees_the_future": "each projected key holds the future: refuses causal"
}


def unscored_row(name: str, layer: type, off: dict[str, str], **sizes: Any) -> Row:
    """A row of a multi-head layer without scores, configured by `sizes` too."""

    def make(**options):
        return layer(**{"num_heads": N, "key_dim": H, **sizes, **options})

    def configured():
        shared = base_options()
        del shared["mask"], shared["flash_attention"]
        return make(
            value_dim=V,
            use_bias=False,
            output_shape=(29, 37),
            kernel_initializer="he_normal",
            bias_initializer="ones",
            kernel_regularizer="l2",
            bias_regularizer="l1",
            kernel_constraint="non_neg",
            bias_constraint="max_norm",
            **shared,
        )

    return Row(
        name,
        name,
        make,
        FREE_SIZE,
        (B, T, D),
        None,
        configured=configured,
        empty_output=output_bias,
        off={**UNSCORED_OFF, **off},
    )


UNSCORED = [
    unscored_row("linear", layers.LinearAttention, {}),
    unscored_row(
        "performer",
        layers.PerformerAttention,
        {},
        num_features=41,
        orthogonal=False,
    ),
    unscored_row(
        "linformer",
        layers.LinformerAttention,
        NOT_CAUSAL,
        max_sequence_length=41,
        projected_length=37,
        share_projection=True,
    ),
]
