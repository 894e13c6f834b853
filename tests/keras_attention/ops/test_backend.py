"""The thin layer of backend-specific code."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.ops import _backend
from keras_attention.ops._backend import Spec
from tests.backend import (
    compiled,
    mask_of,
    tensor,
    tensorflow_only,
    to_numpy,
    value_and_gradients,
)


def running_sums(x, length):
    """Sums so far, and each row doubled, by a loop over rows."""

    def step(carry, index):
        (total,) = carry
        row = ops.take(x, index, axis=0)
        return (total + row,), (total + row, 2 * row)

    spec = Spec(tuple(x.shape[1:]), "float32")
    return _backend.scan(step, (ops.zeros_like(x[0]),), length, (spec, spec))


@pytest.mark.parametrize("length", [1, 5])
def test_scan_carries_and_stacks(length):
    x = tensor(length, 3)
    (total,), (sums, doubled) = running_sums(x, length)
    numbers = to_numpy(x)
    np.testing.assert_allclose(to_numpy(total), numbers.sum(0), rtol=1e-6)
    np.testing.assert_allclose(to_numpy(sums), numbers.cumsum(0), rtol=1e-6)
    np.testing.assert_allclose(to_numpy(doubled), 2 * numbers)


def test_scan_compiles():
    x = tensor(5, 3)
    found = compiled(lambda x: running_sums(x, 5)[1][0])(x)
    np.testing.assert_allclose(to_numpy(found), to_numpy(x).cumsum(0), rtol=1e-6)


@tensorflow_only
def test_scan_of_a_length_known_at_run_time():
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec((None, 3))])
    def sums(x):
        return running_sums(x, tf.shape(x)[0])[1][0]

    for length in (1, 4):
        x = tensor(length, 3)
        np.testing.assert_allclose(sums(x), to_numpy(x).cumsum(0), rtol=1e-6)


@tensorflow_only
def test_loops_run_one_after_the_other():
    """The second loop waits for what it is `after`: its index depends on that."""
    import tensorflow as tf

    @tf.function
    def two(x):
        first = _backend.scan(_double, (x,), 3, SPECS)[0]
        return _backend.scan(_double, (x,), 3, SPECS, after=first)[0]

    two = two.get_concrete_function(tf.constant(1.0))
    loops = [o.name for o in two.graph.get_operations() if "While" in o.type]
    waits = [o for o in two.graph.get_operations() if o.control_inputs]
    assert len(loops) == 2
    assert any(loops[0] == i.name for o in waits for i in o.control_inputs) or any(
        i.inputs and i.inputs[0].op.name == loops[0]
        for o in waits
        for i in o.control_inputs
    )


def test_fold_is_a_loop_over_rows():
    def run(rows):
        return _backend.fold(lambda x, row: ops.sin(x + row), rows[0], rows)

    def by_hand(rows):
        carry = rows[0]
        for index in range(4):
            carry = ops.sin(carry + rows[index])
        return carry

    value, (gradient,) = value_and_gradients(run, tensor(4, 3))
    expected, (gradient_by_hand,) = value_and_gradients(by_hand, tensor(4, 3))
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    np.testing.assert_allclose(gradient, gradient_by_hand, rtol=1e-5)


def _double(carry, index):
    return (carry[0] * 2,), (carry[0],)


SPECS = (Spec((), "float32"),)


@tensorflow_only
def test_as_written_is_not_translated():
    """AutoGraph would make the branch on a tensor one of the graph."""
    import tensorflow as tf

    def absolute(x):
        return x if x > 0 else -x

    assert float(tf.function(lambda x: absolute(x))(tf.constant(-2.0))) == 2
    with pytest.raises(TypeError, match=r"symbolic `tf\.Tensor`"):
        tf.function(lambda x: _backend.as_written(absolute)(x))(tf.constant(-2.0))


def test_matmul_transposed():
    a, b = tensor(2, 3, 5), tensor(2, 7, 5, seed=1)

    def plain(a, b):
        return ops.matmul(a, ops.swapaxes(b, -1, -2))

    expected = value_and_gradients(plain, a, b)
    found = value_and_gradients(_backend.matmul_transposed, a, b)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-5)
    for x, y in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5)


def test_vjp_equals_the_backends_gradient():
    def function(x, y, unused):
        return ops.sum(ops.sin(x) * y, axis=0)

    tensors = [tensor(4, 3, seed=i) for i in range(3)]
    value, pull_back = _backend.vjp(function, *tensors)
    expected, gradients = value_and_gradients(function, *tensors)
    np.testing.assert_allclose(to_numpy(value), expected, rtol=1e-6)
    found = pull_back(ops.cos(ops.convert_to_tensor(expected)))
    for x, exact in zip(found, gradients, strict=True):
        np.testing.assert_allclose(to_numpy(x), exact, rtol=1e-5, atol=1e-6)
    assert (to_numpy(found[2]) == 0).all()


@pytest.mark.parametrize("length", [50, 53, 64])
def test_matmul_transposed_of_one_head_in_bfloat16(length):
    """TensorFlow's own is wrong for some lengths on processors with AMX."""
    a, b = (
        ops.cast(tensor(1, 1, size, 5, seed=size), "bfloat16") for size in (16, length)
    )
    exact = to_numpy(a)[0, 0] @ to_numpy(b)[0, 0].T
    found, _ = value_and_gradients(_backend.matmul_transposed, a, b)
    assert found.shape == (1, 1, 16, length)
    np.testing.assert_allclose(found[0, 0], exact, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    ("start", "size"), [((1, 2), (2, 3)), ((0, 0), (4, 6)), ((0, 0), (4, 2))]
)
def test_add_to_slice(start, size):
    x, update = tensor(4, 6), tensor(*size, seed=1)
    expected = to_numpy(x).copy()
    rows, columns = (slice(a, a + n) for a, n in zip(start, size, strict=True))
    expected[rows, columns] += to_numpy(update)
    found = to_numpy(_backend.add_to_slice(x, start, update))
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("start", [0, 2])
@pytest.mark.parametrize("count", [1, 3])
def test_write_rows(start, count):
    whole, rows = tensor(2, 3, 5, 7), tensor(2, 3, count, 7, seed=1)
    expected = to_numpy(whole).copy()
    expected[:, :, start : start + count] = to_numpy(rows)
    write = compiled(_backend.write_rows)
    start = ops.convert_to_tensor(start, "int32")
    np.testing.assert_array_equal(to_numpy(write(whole, start, rows)), expected)


@pytest.mark.parametrize("rows", [(1, 1), (1, 3), (2, 1)], ids=str)
@pytest.mark.parametrize("contracted", [(7,), (5, 7)], ids=str)
def test_project(rows, contracted):
    inputs, kernel = tensor(*rows, *contracted), tensor(*contracted, 3, seed=1)
    axes = len(contracted)
    expected = np.tensordot(to_numpy(inputs), to_numpy(kernel), axes=axes)
    project = compiled(lambda *given: _backend.project(*given, axes))
    got = to_numpy(project(inputs, kernel))
    np.testing.assert_allclose(got, expected, atol=1e-5)  # order of the sums


def test_read_gives_the_value_of_a_variable():
    value = _backend.read(keras.Variable(np.arange(3.0)))
    assert not isinstance(value, keras.Variable)
    assert to_numpy(value).tolist() == [0, 1, 2]


def test_set_mask_attaches_and_returns():
    x = tensor(2, 3)
    assert _backend.set_mask(x, ops.ones((2, 3), "bool")) is x
    assert mask_of(x).all()


def test_is_static():
    assert _backend.is_static(1, 2)
    assert not _backend.is_static(1, ops.convert_to_tensor(2))


# ------------------------------------------------------------------------------ dropout


def keep(seed=(1, 2), index=0, shape=(50, 80), rate=0.3):
    seed = ops.convert_to_tensor(np.array(seed, "uint32"))
    return to_numpy(_backend.keep_mask(seed, index, shape, rate))


def test_keep_mask_is_fixed_by_seed_and_index():
    np.testing.assert_array_equal(keep(), keep())
    for other in (keep(seed=(1, 3)), keep(seed=(2, 2)), keep(index=1)):
        # Independent masks agree in 0.7^2 + 0.3^2 = 0.58 of 4,000 entries.
        assert (keep() == other).mean() == pytest.approx(0.58, abs=0.04)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.9])
def test_keep_mask_drops_its_share(rate):
    assert keep(rate=rate).mean() == pytest.approx(1 - rate, abs=0.03)


def test_keep_mask_takes_large_seeds():
    """A seed generator gives any uint32."""
    found = keep(seed=(2**32 - 1, 2**31 + 5), index=2**20)
    assert found.mean() == pytest.approx(0.7, abs=0.03)


def test_keep_mask_takes_what_a_seed_generator_gives():
    generator = keras.random.SeedGenerator(3)
    first = _backend.keep_mask(generator.next(), 0, (50, 80), 0.5)
    second = _backend.keep_mask(generator.next(), 0, (50, 80), 0.5)
    assert (to_numpy(first) == to_numpy(second)).mean() == pytest.approx(0.5, abs=0.05)
