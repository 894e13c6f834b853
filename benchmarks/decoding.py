"""Decoding: a source of 16 tokens to as many new tokens as the case is long.

`ours` is `TransformerSeq2Seq` with its caches, `uncached` the same model read anew for
every token, `keras_hub` a BART of the same sizes with its own `generate`. XLA compiles
all three (on a CPU Keras leaves that off unless asked). Weights are random and nothing
ends before the last token.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.cases import (
    DECODING_LAYERS,
    SOURCE_LENGTH,
    START,
    VOCABULARY,
    Case,
)

Step = Callable[[], Any]


def step(contender: str, case: Case) -> Step:
    """One batch decoded by `contender`."""
    return _CONTENDERS[contender](case)


def _source(case: Case) -> Any:
    import tensorflow as tf

    shape = (case.shape[0], SOURCE_LENGTH)
    return tf.random.uniform(shape, START + 1, VOCABULARY, "int32", seed=1)


def _model(case: Case) -> Any:
    from keras_attention import models

    _, _, heads, size = case.shape
    return models.TransformerSeq2Seq(
        vocabulary_size=VOCABULARY,
        num_layers=DECODING_LAYERS,
        num_heads=heads,
        hidden_dim=heads * size,
        intermediate_dim=4 * heads * size,
    )


def _ours(case: Case) -> Step:
    import tensorflow as tf

    from keras_attention.decoding import BeamSearch, GreedySearch

    model, source = _model(case), _source(case)
    tokens = {"max_length": case.length, "start_token": START}
    tokens["end_token"] = VOCABULARY  # which the model does not have
    greedy = case.num_beams == 1
    search = (
        GreedySearch(**tokens)
        if greedy
        else BeamSearch(num_beams=case.num_beams, **tokens)
    )

    @tf.function(autograph=False, jit_compile=True)
    def decode(source):
        state = model.initial_state(source, case.length)
        return search.search(model.step, state, batch_size=case.shape[0]).tokens

    return lambda: decode(source).numpy()


def _uncached(case: Case) -> Step:
    import tensorflow as tf

    model, source = _model(case), _source(case)

    @tf.function(autograph=False, jit_compile=True)
    def decode(source):
        def advance(position, target):
            logits = model({"source": source, "target": target[:, :-1]})
            token = tf.argmax(logits[:, position], axis=-1, output_type="int32")
            here = tf.range(case.length + 1) == position + 1
            return position + 1, tf.where(here, token[:, None], target)

        target = tf.fill((case.shape[0], case.length + 1), START)
        return tf.while_loop(
            lambda position, _: position < case.length, advance, (0, target)
        )[1]

    return lambda: decode(source).numpy()


def _keras_hub(case: Case) -> Step:
    import keras_hub
    import numpy as np

    _, length, heads, size = case.shape
    backbone = keras_hub.models.BartBackbone(
        vocabulary_size=VOCABULARY,
        num_layers=DECODING_LAYERS,
        num_heads=heads,
        hidden_dim=heads * size,
        intermediate_dim=4 * heads * size,
        max_sequence_length=length + SOURCE_LENGTH,
    )
    model = keras_hub.models.BartSeq2SeqLM(backbone, preprocessor=None)
    beam = keras_hub.samplers.BeamSampler(num_beams=case.num_beams)
    sampler = "greedy" if case.num_beams == 1 else beam
    model.compile(sampler=sampler, jit_compile=True)
    source = _source(case).numpy()
    target = np.zeros((len(source), length + 1), "int32")
    target[:, 0] = START
    inputs = {
        "encoder_token_ids": source,
        "encoder_padding_mask": np.ones_like(source, bool),
        "decoder_token_ids": target,
        "decoder_padding_mask": np.arange(length + 1) < np.ones((len(source), 1)),
    }
    return lambda: model.generate(inputs, stop_token_ids=None)


_CONTENDERS = {"ours": _ours, "uncached": _uncached, "keras_hub": _keras_hub}
