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

B, T, D, F, N = 3, 5, 12, 14, 3
LENGTHS = (5, 2, 1)
MASK = np.arange(T) < np.array(LENGTHS)[:, None]
VARIANTS = {
    "pre_norm": {},
    "post_norm": {"normalize_first": False},
    "grouped": {"attention_options": {"num_key_value_heads": 1}},
    "cosine": {"attention_options": {"score": "cosine"}},
    "blockwise": {"attention_options": {"flash_attention": True}},
}


def make(**options):
    return blocks.TransformerEncoder(
        **{"intermediate_dim": F, "num_heads": N, **options}
    )


@pytest.fixture(params=VARIANTS)
def block(request):
    return make(**VARIANTS[request.param])


@pytest.mark.parametrize("normalize_first", [True, False])
def test_is_attention_then_feed_forward(normalize_first):
    block = make(normalize_first=normalize_first)
    x = tensor(B, T, D)
    found = to_numpy(block(x))
    attend, dense = block.self_attention, block.feed_forward
    norm, dense_norm = block.self_attention_norm, block.feed_forward_norm
    if normalize_first:
        x = x + attend(norm(x), norm(x))
        x = x + dense(dense_norm(x))
    else:
        x = norm(x + attend(x, x))
        x = dense_norm(x + dense(x))
    np.testing.assert_allclose(found, to_numpy(x), atol=1e-5)


def test_parameters():
    block = make()
    block(tensor(B, T, D))
    weights = 4 * D * D + 2 * D * F
    biases = 4 * D + F + D
    norms = 4 * D
    assert block.count_params() == weights + biases + norms


@pytest.mark.parametrize("given", ["argument", "hidden"])
def test_a_padded_row_is_as_alone(block, given):
    x = tensor(B, T, D)
    y = block(x, mask=MASK) if given == "argument" else block(with_mask(x, MASK))
    for row, length in enumerate(LENGTHS):
        alone = to_numpy(block(x[row : row + 1, :length]))[0]
        np.testing.assert_allclose(to_numpy(y)[row, :length], alone, atol=1e-5)


def test_nan_in_padding_stays_there(block):
    x = tensor(B, T, D)
    block(x)
    check_stays_in_padding(block, lambda x: block(x, mask=MASK), [x], [MASK])


@pytest.mark.parametrize("by", ["use_causal_mask", "attention_mask"])
def test_c14_causal_looks_back_only(block, by):
    causal = np.tril(np.ones((T, T), bool))
    flags = {"use_causal_mask": True} if by == "use_causal_mask" else {by: causal}
    x = to_numpy(tensor(B, T, D)).copy()
    before = to_numpy(block(ops.convert_to_tensor(x), **flags))
    x[:, -1] += 1.0
    after = to_numpy(block(ops.convert_to_tensor(x), **flags))
    np.testing.assert_array_equal(after[:, :-1], before[:, :-1])
    assert np.abs(after[:, -1] - before[:, -1]).max() > 1e-3


@pytest.mark.parametrize("mask_type", ["bool", "int32"])
def test_c14_true_means_may_attend(mask_type):
    block = make()
    keep = np.tril(np.ones((4, 4), mask_type))
    _, scores = block(
        ops.zeros((1, 4, D)), attention_mask=keep, return_attention_scores=True
    )
    expected = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    for head in to_numpy(scores)[0]:
        np.testing.assert_allclose(head, expected, atol=1e-6)


def test_attention_bias_reaches_the_logits():
    block = make()
    bias = np.zeros((T, T), "float32")
    bias[:, 2] = 50.0  # as good as only position 2
    _, scores = block(
        tensor(B, T, D), attention_bias=bias, return_attention_scores=True
    )
    np.testing.assert_allclose(to_numpy(scores)[..., 2], 1.0, atol=1e-6)


def test_scores_change_nothing(block):
    x = tensor(B, T, D)
    plain = to_numpy(block(x, mask=MASK))
    output, scores = block(x, mask=MASK, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(output), plain, atol=1e-6)
    sums = to_numpy(scores).sum(-1)
    expected = np.broadcast_to(MASK[:, None], sums.shape)
    np.testing.assert_allclose(sums, expected, atol=1e-6)


def test_scores_leave_the_losses():
    block, x = make(activity_regularizer="l2"), tensor(B, T, D)
    block(x)
    (expected,) = [to_numpy(loss) for loss in block.losses]
    block(x, return_attention_scores=True)
    found = [to_numpy(loss) for loss in block.losses]
    np.testing.assert_allclose(found, [expected], rtol=1e-5)


@keras.saving.register_keras_serializable(package="tests")
class Wrapper(keras.layers.Layer):
    """What users write: a block made in the constructor, called in `call`."""

    def __init__(self, forward_mask):
        super().__init__()
        self.block = make()
        self.forward_mask = forward_mask
        self.supports_masking = True

    def call(self, inputs, mask=None):
        return (
            self.block(inputs, mask=mask) if self.forward_mask else self.block(inputs)
        )


@pytest.mark.parametrize("forward_mask", [True, False])
def test_c17_the_first_call_sees_the_mask_too(forward_mask):
    embedding = keras.layers.Embedding(9, D, mask_zero=True)
    wrapper = Wrapper(forward_mask)
    ids = np.array([[3, 4, 0, 0]])
    first, *others = [to_numpy(wrapper(embedding(ids)))[:, :2] for _ in range(3)]
    alone = to_numpy(wrapper(embedding(ids[:, :2])))
    np.testing.assert_allclose(first, alone, atol=1e-6)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_c15_two_branches_see_the_mask():
    embedding = keras.layers.Embedding(9, D, mask_zero=True)
    first, second, pool = make(), make(), layers.MaskedMeanPooling()
    inputs = keras.Input((None,), dtype="int32")
    x = embedding(inputs)
    model = keras.Model(inputs, [first(x), second(x), pool(x)])
    padded = [to_numpy(y) for y in model(np.array([[3, 4, 0, 0]]))]
    alone = [to_numpy(y) for y in model(np.array([[3, 4]]))]
    for i in (0, 1):
        np.testing.assert_allclose(padded[i][:, :2], alone[i], atol=1e-6)
    np.testing.assert_allclose(padded[2], alone[2], atol=1e-6)


def test_carries_the_mask():
    block = make()
    x = with_mask(tensor(B, T, D), MASK)
    np.testing.assert_array_equal(mask_of(block(x)), MASK)
    np.testing.assert_array_equal(mask_of(x), MASK)


@pytest.mark.parametrize("hidden", [None, ~MASK], ids=["no_other", "another"])
def test_carries_an_explicit_mask(hidden):
    block, x, mask = make(), tensor(B, T, D), ops.convert_to_tensor(MASK)
    x = x if hidden is None else with_mask(x, hidden)
    flags = {"return_attention_scores": True}
    for y in (block(x, mask=mask), block(x, mask), block(x, mask, **flags)[0]):
        np.testing.assert_array_equal(mask_of(y), MASK)


def test_carries_an_explicit_mask_in_a_functional_model():
    block, pool = make(), layers.MaskedMeanPooling()
    inputs = [keras.Input((T, D)), keras.Input((T,), dtype="bool")]
    given = [tensor(B, T, D), ops.convert_to_tensor(MASK)]
    found = keras.Model(inputs, pool(block(*inputs)))(given)
    expected = pool(block(tensor(B, T, D), mask=MASK), mask=MASK)
    np.testing.assert_allclose(to_numpy(found), to_numpy(expected), atol=1e-6)


@pytest.mark.parametrize("shape", [(None, None, D), (None, T, D), (B, T, D)])
def test_static_shapes(shape):
    block = make()
    output, scores = block(keras.Input(batch_shape=shape), return_attention_scores=True)
    assert output.shape == shape
    assert scores.shape == (shape[0], N, shape[1], shape[1])


def test_scores_can_be_asked_for_in_a_second_call():
    block = make()
    inputs = keras.Input((None, D))
    plain = block(inputs)
    output, scores = block(inputs, return_attention_scores=True)
    found = keras.Model(inputs, [plain, output, scores])(tensor(B, T, D))
    np.testing.assert_allclose(to_numpy(found[0]), to_numpy(found[1]), atol=1e-6)
    assert to_numpy(found[2]).shape == (B, N, T, T)


def test_compiled_is_as_eager(block):
    x = tensor(B, T, D)
    eager = to_numpy(block(x, mask=MASK))
    graph = compiled(lambda x, mask: block(x, mask=mask))(
        x, ops.convert_to_tensor(MASK)
    )
    # A compiler adds in another order; outputs are of size 3.
    np.testing.assert_allclose(to_numpy(graph), eager, atol=1e-5)


def test_reload(tmp_path):
    block = make()
    inputs = keras.Input((None, D))
    model = keras.Model(inputs, block(inputs, use_causal_mask=True))
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    x = tensor(B, T, D)
    np.testing.assert_array_equal(to_numpy(again(x)), to_numpy(model(x)))


def test_hidden_mask_holds_beside_other_tensors():
    """Keras fills `mask` only where the inputs are the single tensor of a call."""
    block = make()
    x = tensor(B, T, D)
    expected = to_numpy(block(x, mask=MASK))
    allowed = ops.ones((T, T), dtype="bool")
    hidden = with_mask(x, MASK)
    found = to_numpy(block(hidden, attention_mask=allowed))
    np.testing.assert_allclose(found[MASK], expected[MASK], atol=1e-6)


def test_symbolic_call_takes_what_a_call_takes_by_position():
    inputs = keras.Input((T, D))
    mask = keras.Input((T,), dtype="bool")
    assert tuple(make()(inputs, mask).shape) == (None, T, D)


# ------------------------------------------------------------------------ step by step

STEPPED = {
    **VARIANTS,
    "rotary": {"attention_options": {"rotary": True, "key_dim": 4}},
    "local": {"attention_options": {"mask": masks.Local(2)}},
    "linear": {"attention": "linear"},
    "performer": {"attention": "performer", "attention_options": {"num_features": 7}},
}


@pytest.mark.parametrize("chunks", [(1,) * T, (3, 2)], ids=["one_by_one", "two"])
@pytest.mark.parametrize("name", STEPPED)
def test_steps_are_as_the_causal_block(name, chunks):
    block, x = make(**STEPPED[name]), tensor(B, T, D)
    expected = to_numpy(block(x, use_causal_mask=True))
    assert block.can_step
    cache, position, found = block.empty_cache(B, T + 1), 0, []
    for length in chunks:
        now = x[:, position : position + length]
        y, cache = block.step(now, cache, position)
        found.append(to_numpy(y))
        position += length
    np.testing.assert_allclose(np.concatenate(found, axis=1), expected, atol=1e-5)


def test_a_bias_reaches_the_steps():
    block, x = make(), tensor(B, T, D)
    bias = tensor(1, N, T, T, seed=1)
    expected = to_numpy(block(x, use_causal_mask=True, attention_bias=bias))
    cache = block.empty_cache(B, T)
    for t in range(T):
        row = bias[:, :, t : t + 1]
        y, cache = block.step(x[:, t : t + 1], cache, t, attention_bias=row)
        np.testing.assert_allclose(to_numpy(y)[:, 0], expected[:, t], atol=1e-5)


@pytest.mark.parametrize("given", ["argument", "hidden"])
def test_padding_leaves_no_trace_in_linear_steps(given):
    block, x = make(attention="linear"), to_numpy(tensor(B, T, D)).copy()
    block(ops.convert_to_tensor(x))
    x[~MASK] = np.nan
    states = []
    for row, length in enumerate(LENGTHS):
        one, mask = ops.convert_to_tensor(x[row : row + 1]), MASK[row : row + 1]
        one = with_mask(one, mask) if given == "hidden" else one
        flags = {} if given == "hidden" else {"mask": ops.convert_to_tensor(mask)}
        _, (state,) = block.step(one, block.empty_cache(1, T), 0, **flags)
        short = ops.convert_to_tensor(x[row : row + 1, :length])
        _, (alone,) = block.step(short, block.empty_cache(1, T), 0)
        np.testing.assert_allclose(to_numpy(state), to_numpy(alone), atol=1e-5)
        states.append(to_numpy(state))
    assert np.isfinite(states).all()


def test_block_summaries_cannot_go_step_by_step():
    block = make(attention="block_summary", attention_options={"block_size": 2})
    with pytest.raises(ValueError, match="must be built"):
        block.empty_cache(B, T)
    block(tensor(B, T, D))
    assert not block.can_step
    with pytest.raises(ValueError, match="that keeps keys and values"):
        block.empty_cache(B, T)


def test_linear_steps_refuse_a_bias():
    block, x = make(attention="linear"), tensor(B, 1, D)
    block(x)
    with pytest.raises(ValueError, match="takes no `attention_bias`"):
        block.step(x, block.empty_cache(B, T), 0, attention_bias=tensor(1, N, 1, T))
