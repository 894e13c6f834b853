"""Language models by the settings of a run."""

import inspect
from typing import Any

import keras

from applications.errors import UserError, require_known, told_to_users
from applications.language_modeling.presets import LanguageConfig, ModelConfig
from keras_attention import layers, masks, models

PATTERNS = {
    "local": masks.Local,
    "strided": masks.Strided,
    "fixed": masks.Fixed,
    "block": masks.Block,
}


def build(config: LanguageConfig, vocabulary_size: int) -> keras.Model:
    """The model of an objective: `CausalLM`, `MaskedLM` or `TransformerSeq2Seq`.

    Raises:
        UserError: The objective, the pattern or the positions do not go with the
            attention, or there is none of that name.
    """
    require_attention(config)
    sizes, length = config.model, config.data.length
    objective = config.train.objective
    arguments = {
        "vocabulary_size": vocabulary_size,
        "num_layers": sizes.num_layers,
        "num_heads": sizes.num_heads,
        "hidden_dim": sizes.hidden_dim,
        "intermediate_dim": sizes.intermediate_dim,
        "dropout": sizes.dropout,
        "attention_dropout": sizes.attention_dropout,
        "attention": sizes.attention,
    }
    if config.train.is_seq2seq:
        if sizes.pattern != "full":
            raise UserError(
                "An encoder-decoder reads all of its source: model.pattern must be "
                f"full. Received: model.pattern={sizes.pattern}."
            )
        return models.TransformerSeq2Seq(**arguments)
    kind = models.CausalLM if objective == "causal" else models.MaskedLM
    with told_to_users():
        return kind(
            **arguments,
            positions=sizes.positions,
            max_sequence_length=length if sizes.positions == "learned" else None,
            attention_options=attention_options(sizes, length),
        )


def require_attention(config: LanguageConfig) -> None:
    """Refuse an attention that the objective cannot use.

    Raises:
        UserError: There is none of that name, or it cannot hide the future.
    """
    known = attentions(config.train.objective)
    require_known("model.attention", config.model.attention, known)


def attentions(objective: str) -> list[str]:
    """The names that `model.attention` may have."""
    if objective == "causal":
        return sorted(layers.causal_multi_head())
    if objective == "masked":
        return sorted({*layers.causal_multi_head(), *layers.multi_head(), "linformer"})
    return sorted(layers.multi_head())


def attention_options(sizes: ModelConfig, length: int) -> dict[str, Any] | None:
    """What the layer is made with beside heads and their size.

    Raises:
        UserError: It takes no pattern.
    """
    if sizes.attention == "block_summary":
        options = {"block_size": sizes.window}
    elif sizes.attention == "linformer":
        options = {"max_sequence_length": length, "projected_length": sizes.window}
    else:
        options = {}
    if sizes.pattern != "full":
        layer = layers.registry()[sizes.attention]
        if "mask" not in inspect.signature(layer).parameters:
            raise UserError(
                f"model.attention={sizes.attention} takes no pattern: model.pattern "
                f"must be full. Received: model.pattern={sizes.pattern}."
            )
        options["mask"] = PATTERNS[sizes.pattern](sizes.window)
    return options or None
