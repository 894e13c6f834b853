"""KerasHub's language models as models that the searches here can decode.

They bring their own caches, so each adapter is a state and a step. KerasHub is not
imported: any task model with the same methods will do.
"""

from typing import Any

from keras import ops

Tensor = Any


class KerasHubCausalLM:
    """A `keras_hub.models.CausalLM` to decode from: GPT-2, Llama, Mistral, Qwen 3, ...

    One whose cache starts from more than token ids, such as Gemma 3, is not covered.

    Args:
        model: The task model. Its preprocessor and sampler take no part.

    Examples:
    ```python
    lm = KerasHubCausalLM(keras_hub.models.CausalLM.from_preset("gpt2_base_en"))
    search = SamplingSearch(max_length=64, start_token=..., end_token=..., top_p=0.9)
    state = lm.initial_state(prompt, search.max_length)
    found = search.search(lm.step, state, prompt=prompt, prompt_read=state["position"])
    ```
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def initial_state(
        self, prompt: Tensor, max_length: int, position: int | Tensor | None = None
    ) -> dict:
        """State after the tokens of a prompt before `position`, read in one go.

        Args:
            prompt: `(B, P)` token ids.
            max_length: Tokens the cache has room for after the prompt.
            position: Of the token that the search reads first, by default the last one.
                Where prompts of several lengths are padded at their end it is that of
                the shortest one's last token. The search takes it as
                `prompt_read=state["position"]`.
        """
        if position is None:
            position = ops.shape(prompt)[1] - 1
        # What the cache holds from `position` on is written anew before it is read.
        padded = ops.pad(ops.cast(prompt, "int32"), [[0, 0], [0, max_length]])
        _, cache = self.model._build_cache(padded)
        return {"cache": cache, "position": ops.cast(position, "int32")}

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        logits, _, cache = self.model.call_with_cache(
            tokens[:, None], state["cache"], state["position"]
        )
        return logits[:, 0], {"cache": cache, "position": state["position"] + 1}


class KerasHubSeq2SeqLM:
    """A `keras_hub.models.Seq2SeqLM` to decode from: BART or T5.

    Args:
        model: The task model. Its preprocessor and sampler take no part.

    Examples:
    ```python
    lm = KerasHubSeq2SeqLM(keras_hub.models.Seq2SeqLM.from_preset("bart_base_en"))
    search = BeamSearch(max_length=64, start_token=2, end_token=2, pad_token=1)
    state = lm.initial_state(source, search.max_length, source_mask)
    found = search.search(lm.step, state, batch_size=len(source))
    ```
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def initial_state(
        self, source: Tensor, max_length: int, source_mask: Tensor | None = None
    ) -> dict:
        """State before the first step.

        Args:
            source: `(B, S)` token ids.
            max_length: Steps the cache has room for.
            source_mask: `(B, S)`, True = a real token; by default all are.
        """
        source = ops.cast(source, "int32")
        if source_mask is None:
            source_mask = ops.ones_like(source)
        first = ops.zeros((ops.shape(source)[0], max_length), dtype="int32")
        _, memory, self_cache, cross_cache = self.model._build_cache(
            source, source_mask, first
        )
        return {
            "position": ops.zeros((), dtype="int32"),
            "memory": memory,
            "memory_mask": ops.cast(source_mask, "bool"),
            "self": self_cache,
            "cross": cross_cache,
        }

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        logits, _, self_cache, _ = self.model.call_decoder_with_cache(
            encoder_hidden_states=state["memory"],
            encoder_padding_mask=state["memory_mask"],
            decoder_token_ids=tokens[:, None],
            self_attention_cache=state["self"],
            self_attention_cache_update_index=state["position"],
            cross_attention_cache=state["cross"],
            cross_attention_cache_update_index=None,
        )
        after = {"self": self_cache, "position": state["position"] + 1}
        return logits[:, 0], {**state, **after}
