"""From token ids to what a language model predicts from, at once or step by step."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_attention import layers
from keras_attention.blocks import TokenAndPositionEmbedding, TransformerEncoder
from keras_attention.errors import one_of, positive_integer, require
from keras_attention.layers._position_bias import PositionBias
from keras_attention.models._text_decoders import final_norm
from keras_attention.ops import _backend

Tensor = Any

ADDED = ("learned", "sinusoidal", "none")  # positions that the embedding adds
POSITIONS = (*ADDED, "rotary", "alibi", "relative")


class TokenReader:
    """Embedding, blocks and last norm, with one way of telling positions.

    Layers at work, and no layer itself: the model tracks them. Blocks that can go step
    by step do so; with others, each step reads all tokens so far again.

    Shapes:
        B batch, T length, D size, P length of a prompt, N heads.

    Args:
        embedding: Of tokens, tied to the output.
        blocks: In their order.
        norm: What comes after them, see `final_norm`.
        bias: Of positions, for all blocks, or `None`.
        is_causal: Whether a token sees itself and those before it only.
    """

    def __init__(
        self,
        embedding: TokenAndPositionEmbedding,
        blocks: Sequence[TransformerEncoder],
        norm: keras.layers.Layer,
        bias: PositionBias | None,
        is_causal: bool,
    ):
        self.embedding, self.blocks, self.norm = embedding, tuple(blocks), norm
        self.bias, self.is_causal = bias, is_causal

    def read(self, tokens: Tensor) -> Tensor:
        """`(B, T, D)` of tokens `(B, T)`; carries their padding mask."""
        x = self.embedding(tokens)
        flags = {"use_causal_mask": self.is_causal}
        if self.bias is not None:
            flags["attention_bias"] = self.bias(x)
        for block in self.blocks:
            x = block(x, **flags)
        return self.norm(x)

    # ------------------------------------------------------------------- step by step

    @property
    def can_step(self) -> bool:
        """Whether no token need be read twice."""
        return all(block.can_step for block in self.blocks)

    def start(self, prompt: Tensor, max_length: int, position: Tensor) -> dict:
        """State after the tokens of a prompt `(B, P)` before `position`."""
        batch_size, width = _backend.sizes(prompt)
        self._require_room(width, max_length)
        if not self.can_step:
            padded = ops.pad(prompt, [[0, 0], [0, max_length]])
            return {"tokens": padded, "position": position}
        length = width + max_length
        read = ops.arange(width, dtype="int32") < position
        caches = [block.empty_cache(batch_size, length) for block in self.blocks]
        mask = ops.broadcast_to(read, (batch_size, width))
        # What the caches hold from `position` on is written anew before it is seen.
        _, caches = self._stepped(prompt, caches, 0, mask)
        return {"caches": caches, "position": position}

    def advance(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """What predicts the token after `tokens` `(B,)`, `(B, D)`; the next state."""
        position = state["position"]
        if "tokens" in state:
            here = ops.arange(ops.shape(state["tokens"])[1], dtype="int32") == position
            known = ops.where(here, tokens[:, None], state["tokens"])
            hidden = ops.take(self.read(known), position, axis=1)
            return hidden, {"tokens": known, "position": position + 1}
        x, caches = self._stepped(tokens[:, None], state["caches"], position)
        return self.norm(x)[:, 0], {"caches": caches, "position": position + 1}

    def _stepped(
        self, tokens: Tensor, caches: list, position: Any, mask: Tensor | None = None
    ) -> tuple[Tensor, list]:
        """The next tokens through all blocks, and the caches after them."""
        x = self.embedding(tokens, start_index=position)
        mask = _backend.get_mask(x) if mask is None else mask
        bias, after = None, []
        if self.bias is not None:
            length = _backend.sizes(caches[0][0])[2]
            bias = self.bias.bias(_backend.sizes(tokens)[1], length, position)
            bias = ops.cast(bias, self.embedding.compute_dtype)
        for block, cache in zip(self.blocks, caches, strict=True):
            x, cache = block.step(x, cache, position, mask, bias)
            after.append(cache)
        return x, after

    def _require_room(self, width: Any, max_length: int) -> None:
        if self.embedding.positions != "learned":
            return
        longest = self.embedding.max_sequence_length
        words = (
            "Learned positions end at `max_sequence_length`, within which the prompt "
            "and `max_length` tokens must lie."
        )
        received = {
            "prompt": width,
            "max_length": max_length,
            "max_sequence_length": longest,
        }
        fits = width + max_length <= longest
        if _backend.is_static(width):
            require(fits, words, **received)
        else:
            _backend.require_at_run_time([fits], words, **received)


def token_reader(
    is_causal: bool, tokens: dict, block: dict, num_layers: int
) -> TokenReader:
    """The reader of a model.

    Args:
        is_causal: As in `TokenReader`.
        tokens: Arguments of the embedding; `positions` is one of `POSITIONS`.
        block: Arguments of each block.
        num_layers: Number of blocks.

    Raises:
        ValueError: for positions that are unknown, or that the attention cannot take.
    """
    positive_integer("num_layers", num_layers)
    positions = one_of("positions", tokens["positions"], POSITIONS)
    added = positions if positions in ADDED else "none"
    dtype = block["dtype"]
    embedding = TokenAndPositionEmbedding(
        **{**tokens, "positions": added},
        dropout=block["dropout"],
        dtype=dtype,
        name="embedding",
    )
    block = _turned(block) if positions == "rotary" else block
    blocks = [TransformerEncoder(**block, name=f"block_{i}") for i in range(num_layers)]
    norm = final_norm(block["normalize_first"], dtype, "norm")
    bias = _bias(positions, block["num_heads"], is_causal, dtype)
    return TokenReader(embedding, blocks, norm, bias, is_causal)


def _turned(block: dict) -> dict:
    """The arguments of a block that turns queries and keys by their positions."""
    options = block["attention_options"] or {}
    kind = layers.registry()[one_of("attention", block["attention"], layers.registry())]
    require(
        issubclass(kind, layers.MultiHeadAttention),
        '`positions="rotary"` turns queries and keys before they are compared, which '
        "`attention` never does one by one; take learned or sinusoidal positions.",
        attention=block["attention"],
    )
    require(
        "rotary" not in options,
        '`attention_options` takes no `rotary` beside `positions="rotary"`; for '
        'arguments of its own take `positions="none"`.',
        rotary=options.get("rotary"),
    )
    return {**block, "attention_options": {**options, "rotary": True}}


def _bias(
    positions: str, num_heads: int, is_causal: bool, dtype: Any
) -> PositionBias | None:
    if positions == "alibi":
        return layers.AlibiBias(num_heads, dtype=dtype, name="position_bias")
    if positions == "relative":
        return layers.RelativePositionBias(
            num_heads, bidirectional=not is_causal, dtype=dtype, name="position_bias"
        )
    return None
