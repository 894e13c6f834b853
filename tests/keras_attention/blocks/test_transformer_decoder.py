import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import blocks, layers, masks
from tests.backend import (
    compiled,
    mask_of,
    tensor,
    to_numpy,
    with_mask,
)
from tests.contract import check_stays_in_padding

B, T, S, D, DM, F, N = 3, 5, 7, 12, 10, 14, 3
LENGTHS, MEMORY_LENGTHS = (5, 2, 1), (3, 7, 1)
MASK = np.arange(T) < np.array(LENGTHS)[:, None]
MEMORY_MASK = np.arange(S) < np.array(MEMORY_LENGTHS)[:, None]
MASKS = {"inputs_mask": MASK, "memory_mask": MEMORY_MASK}
VARIANTS = {
    "pre_norm": {},
    "post_norm": {"normalize_first": False},
    "grouped": {"attention_options": {"num_key_value_heads": 1}},
    "cosine": {"attention_options": {"score": "cosine"}},
    "blockwise": {"attention_options": {"flash_attention": True}},
}


def make(**options):
    return blocks.TransformerDecoder(
        **{"intermediate_dim": F, "num_heads": N, **options}
    )


@pytest.fixture(params=VARIANTS)
def block(request):
    return built(**VARIANTS[request.param])


def built(**options):
    block = make(**options)
    block(*inputs())
    return block


def inputs():
    return tensor(B, T, D), tensor(B, S, DM)


@pytest.mark.parametrize("normalize_first", [True, False])
def test_is_self_attention_cross_attention_feed_forward(normalize_first):
    block = make(normalize_first=normalize_first)
    x, memory = inputs()
    found = to_numpy(block(x, memory))
    sub_blocks = (
        (
            block.self_attention_norm,
            lambda y: block.self_attention(y, y, use_causal_mask=True),
        ),
        (block.cross_attention_norm, lambda y: block.cross_attention(y, memory)),
        (block.feed_forward_norm, block.feed_forward),
    )
    for norm, sub_block in sub_blocks:
        x = x + sub_block(norm(x)) if normalize_first else norm(x + sub_block(x))
    np.testing.assert_allclose(found, to_numpy(x), atol=1e-5)


@pytest.mark.parametrize("given", ["argument", "hidden"])
def test_a_padded_row_is_as_alone(block, given):
    x, memory = inputs()
    if given == "argument":
        y = block(x, memory, **MASKS)
    else:
        y = block(with_mask(x, MASK), with_mask(memory, MEMORY_MASK))
    x, memory = inputs()
    for row, (length, seen) in enumerate(zip(LENGTHS, MEMORY_LENGTHS, strict=True)):
        alone = block(x[row : row + 1, :length], memory[row : row + 1, :seen])
        np.testing.assert_allclose(
            to_numpy(y)[row, :length], to_numpy(alone)[0], atol=1e-5
        )


def test_nan_in_padding_stays_there(block):
    def call(x, memory):
        return block(x, memory, **MASKS)

    check_stays_in_padding(block, call, inputs(), [MASK, MEMORY_MASK])


def test_c14_causal_looks_back_only(block):
    x, memory = inputs()
    before = to_numpy(block(x, memory))
    changed = to_numpy(x).copy()
    changed[:, -1] += 1.0
    after = to_numpy(block(ops.convert_to_tensor(changed), memory))
    np.testing.assert_array_equal(after[:, :-1], before[:, :-1])
    assert np.abs(after[:, -1] - before[:, -1]).max() > 1e-3


def test_c14_rows_of_equal_queries_and_keys():
    block = built()
    _, scores, _ = block(
        ops.zeros((1, 4, D)), ops.zeros((1, 2, DM)), return_attention_scores=True
    )
    expected = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    for head in to_numpy(scores)[0]:
        np.testing.assert_allclose(head, expected, atol=1e-6)


def test_every_position_sees_all_of_the_memory():
    block = built()
    x, memory = inputs()
    before = to_numpy(block(x, memory))
    for position in (0, S - 1):
        changed = to_numpy(memory).copy()
        changed[:, position] += 1.0
        after = to_numpy(block(x, ops.convert_to_tensor(changed)))
        assert (np.abs(after - before).max(axis=-1) > 1e-5).all()


def cached(block, x, memory, chunks, **flags):
    """Outputs of `x` decoded in chunks of these lengths, with both caches."""
    cross = block.cross_attention_cache(memory, ops.convert_to_tensor(MEMORY_MASK))
    cache = block.empty_cache(B, sum(chunks) + 2)  # with room to spare
    outputs, position = [], 0
    for length in chunks:
        *found, cache = block(
            x[:, position : position + length],
            None,
            memory_mask=MEMORY_MASK,
            self_attention_cache=cache,
            self_attention_cache_update_index=position,
            cross_attention_cache=cross,
            **flags,
        )
        outputs.append([to_numpy(each) for each in found])
        position += length
    return outputs


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param((1,) * T, id="step by step"),
        pytest.param((3, 1, 1), id="prefill"),
        pytest.param((2, 3), id="two chunks"),
        pytest.param((T,), id="all at once"),
    ],
)
def test_cached_is_as_uncached(block, chunks):
    x, memory = inputs()
    whole = to_numpy(block(x, memory, memory_mask=MEMORY_MASK))
    outputs = cached(block, x, memory, chunks)
    found = np.concatenate([output for (output,) in outputs], axis=1)
    np.testing.assert_allclose(found, whole, atol=1e-5)


def test_options_of_positions_hold_for_self_attention():
    options = {"rotary": True, "mask": masks.Local(2), "key_dim": 4}
    block = built(attention_options=options)
    assert block.self_attention.rotary is not None
    assert block.cross_attention.rotary is block.cross_attention.mask is None
    x, memory = inputs()
    whole = to_numpy(block(x, memory, memory_mask=MEMORY_MASK))
    outputs = cached(block, x, memory, (1,) * T)
    found = np.concatenate([output for (output,) in outputs], axis=1)
    np.testing.assert_allclose(found, whole, atol=1e-5)


def test_cached_scores_are_as_uncached(block):
    x, memory = inputs()
    flags = {"return_attention_scores": True}
    _, own, across = block(x, memory, memory_mask=MEMORY_MASK, **flags)
    steps = cached(block, x, memory, (1,) * T, **flags)
    found_own = np.concatenate([step[1] for step in steps], axis=2)
    found_across = np.concatenate([step[2] for step in steps], axis=2)
    np.testing.assert_allclose(found_own[..., :T], to_numpy(own), atol=1e-5)
    assert (found_own[..., T:] == 0).all()
    np.testing.assert_allclose(found_across, to_numpy(across), atol=1e-5)


def test_a_self_attention_cache_alone():
    """The memory may stay as it is; only the writer's past is cached."""
    block = built()
    x, memory = inputs()
    whole = to_numpy(block(x, memory))
    cache = block.empty_cache(B, T)
    for t in range(T):
        y, cache = block(
            x[:, t : t + 1],
            memory,
            self_attention_cache=cache,
            self_attention_cache_update_index=t,
        )
        np.testing.assert_allclose(to_numpy(y)[:, 0], whole[:, t], atol=1e-5)


def test_nan_in_padding_of_the_memory_does_not_reach_its_cache():
    block = built()
    _, memory = inputs()
    memory = to_numpy(memory).copy()
    memory[~MEMORY_MASK] = np.nan
    cache = block.cross_attention_cache(
        ops.convert_to_tensor(memory), ops.convert_to_tensor(MEMORY_MASK)
    )
    assert all(np.isfinite(to_numpy(x)).all() for x in cache)


def test_scores_change_nothing(block):
    plain = to_numpy(block(*inputs(), **MASKS))
    output, own, across = block(*inputs(), **MASKS, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(output), plain, atol=1e-6)
    for scores in (own, across):
        sums = to_numpy(scores).sum(-1)
        expected = np.broadcast_to(MASK[:, None], sums.shape)
        np.testing.assert_allclose(sums, expected, atol=1e-6)
    hidden = np.broadcast_to(MEMORY_MASK[:, None, None], to_numpy(across).shape)
    assert (to_numpy(across)[~hidden] == 0).all()


def test_scores_leave_the_losses():
    block = built(activity_regularizer="l2")
    (expected,) = [to_numpy(loss) for loss in block.losses]
    block(*inputs(), return_attention_scores=True)
    found = [to_numpy(loss) for loss in block.losses]
    np.testing.assert_allclose(found, [expected], rtol=1e-5)


@pytest.mark.parametrize("hidden", [None, ~MASK], ids=["no_other", "another"])
def test_carries_an_explicit_mask(hidden):
    block, (x, memory) = built(), inputs()
    x = x if hidden is None else with_mask(x, hidden)
    for flags in ({}, {"return_attention_scores": True}):
        y = block(x, memory, inputs_mask=MASK, **flags)
        y = y[0] if flags else y
        np.testing.assert_array_equal(mask_of(y), MASK)


def test_carries_an_explicit_mask_in_a_functional_model():
    block, pool = built(), layers.MaskedMeanPooling()
    symbolic = [keras.Input((T, D)), keras.Input((S, DM))]
    symbolic.append(keras.Input((T,), dtype="bool"))
    model = keras.Model(symbolic, pool(block(*symbolic)))
    found = model([*inputs(), ops.convert_to_tensor(MASK)])
    expected = pool(block(*inputs(), inputs_mask=MASK), mask=MASK)
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), atol=1e-6)


def test_carries_the_mask_and_leaves_those_of_its_inputs():
    block = built()
    x, memory = inputs()
    with_mask(x, MASK), with_mask(memory, MEMORY_MASK)
    np.testing.assert_array_equal(mask_of(block(x, memory)), MASK)
    np.testing.assert_array_equal(mask_of(x), MASK)
    np.testing.assert_array_equal(mask_of(memory), MEMORY_MASK)


@pytest.mark.parametrize("sizes", [(None, None, None), (None, T, S), (B, T, S)])
def test_static_shapes(sizes):
    block = built()
    batch, length, seen = sizes
    x = keras.Input(batch_shape=(batch, length, D))
    memory = keras.Input(batch_shape=(batch, seen, DM))
    assert block(x, memory).shape == (batch, length, D)
    output, own, across = block(x, memory, return_attention_scores=True)
    assert output.shape == (batch, length, D)
    assert own.shape == (batch, N, length, length)
    assert across.shape == (batch, N, length, seen)


def spec_of(x):
    return keras.KerasTensor(x.shape)


def test_static_shapes_with_caches():
    block = built()
    caches = {
        "self_attention_cache": block.empty_cache(B, 9),
        "cross_attention_cache": block.cross_attention_cache(inputs()[1]),
    }
    arguments = {
        "memory": None,
        "self_attention_cache_update_index": 0,
        "return_attention_scores": True,
        **caches,
    }
    eager = block(tensor(B, 1, D), **arguments)
    specs = block.compute_output_spec(
        keras.KerasTensor((B, 1, D)),
        **{**arguments, **keras.tree.map_structure(spec_of, caches)},
    )
    pairs = zip(keras.tree.flatten(specs), keras.tree.flatten(eager), strict=True)
    assert all(spec.shape == to_numpy(x).shape for spec, x in pairs)


def test_scores_can_be_asked_for_in_a_second_call():
    block = built()
    x, memory = keras.Input((None, D)), keras.Input((None, DM))
    plain = block(x, memory)
    outputs = block(x, memory, return_attention_scores=True)
    found = keras.Model([x, memory], [plain, *outputs])(inputs())
    np.testing.assert_allclose(to_numpy(found[0]), to_numpy(found[1]), atol=1e-6)


def test_compiled_is_as_eager(block):
    x, memory = inputs()
    graph = compiled(lambda x, memory: block(x, memory))(x, memory)
    # A compiler adds in another order; outputs are of size 3.
    np.testing.assert_allclose(to_numpy(graph), to_numpy(block(x, memory)), atol=1e-5)


def test_reload(tmp_path):
    block = built()
    x, memory = keras.Input((None, D)), keras.Input((None, DM))
    model = keras.Model([x, memory], block(x, memory))
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    found, expected = again(inputs()), model(inputs())
    np.testing.assert_array_equal(to_numpy(found), to_numpy(expected))


def test_a_cache_needs_attention_that_keeps_keys_and_values():
    block = built(attention="linear")
    with pytest.raises(ValueError, match=r"keeps keys and values.*LinearAttention"):
        block.empty_cache(B, 3)
