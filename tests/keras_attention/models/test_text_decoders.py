"""Text decoders: a memory of any kind, read at once and step by step, by one interface.

What models do with them is tested with the models.
"""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import blocks
from keras_attention.models._text_decoders import (
    RecurrentTextDecoder,
    TransformerTextDecoder,
    final_norm,
)
from tests.backend import tensor, to_numpy
from tests.keras_attention.models.toys import TARGET, VOCABULARY

B, S, D, MEMORY, N = 3, 5, 8, 6, 2
MASK = np.arange(S) < np.array([5, 3, 1])[:, None]


def make(kind):
    if kind == "transformer":
        embedding = blocks.TokenAndPositionEmbedding(VOCABULARY, D)
        layers = [blocks.TransformerDecoder(16, N) for _ in range(2)]
        norm = final_norm(True, None, "norm")
        return TransformerTextDecoder(embedding, layers, norm)
    embedding = blocks.TokenAndPositionEmbedding(VOCABULARY, D, "none")
    decoder = blocks.RecurrentDecoder(D, kind)
    return RecurrentTextDecoder(embedding, decoder, keras.layers.Dropout(0.5))


def given():
    return tensor(B, S, MEMORY), tensor(B, MEMORY)


@pytest.mark.parametrize("kind", ["additive", "none", "transformer"])
@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "masked"])
def test_steps_are_as_the_whole(kind, mask):
    text, (memory, summary) = make(kind), given()
    looks = kind != "none"
    seen = text.read(TARGET, memory, summary, mask, return_attention_scores=looks)
    hidden, taught = seen if looks else (seen, None)
    expected = to_numpy(text.predict(hidden))
    mask = None if mask is None else ops.convert_to_tensor(mask)
    length = TARGET.shape[1]
    state = text.initial_state(memory, length + 1, looks, summary, mask)
    for t in range(length):
        found, state = text.step(ops.convert_to_tensor(TARGET[:, t]), state)
        real = TARGET[:, t] != 0
        np.testing.assert_allclose(to_numpy(found)[real], expected[real, t], atol=1e-5)
    if looks:
        kept, taught = to_numpy(state["attention_scores"]), to_numpy(taught)
        assert kept.shape == (B, N if kind == "transformer" else 1, length + 1, S)
        assert (kept[:, :, -1] == 0).all()  # no step has come so far
        real = TARGET != 0
        kept, taught = (np.moveaxis(x[:, :, :length], 1, 2) for x in (kept, taught))
        np.testing.assert_allclose(kept[real], taught[real], atol=1e-5)


@pytest.mark.parametrize("kind", ["additive", "none", "transformer"])
def test_a_masked_place_of_the_memory_is_not_read(kind):
    text, (memory, summary) = make(kind), given()
    before = to_numpy(text.read(TARGET, memory, summary, MASK))
    changed = ops.where(ops.convert_to_tensor(MASK)[..., None], memory, 9.0)
    after = to_numpy(text.read(TARGET, changed, summary, MASK))
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_without_attention_there_are_no_scored_heads():
    with pytest.raises(ValueError, match="without attention has no scores"):
        make("none").scored_heads()
    assert (make("additive").scored_heads(), make("transformer").scored_heads()) == (
        1,
        N,
    )


def test_the_last_norm_is_that_of_pre_norm():
    x = 3 + 2 * tensor(B, S, D)
    before, after = (final_norm(first, None, "norm")(x) for first in (True, False))
    np.testing.assert_allclose(to_numpy(before).mean(-1), 0, atol=1e-5)
    np.testing.assert_array_equal(to_numpy(after), to_numpy(x))
