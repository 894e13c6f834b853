"""Linear attention: sums over keys come first, so no query ever meets a single key.

With features `f(q), f(k) >= 0` in place of the softmax's exponential

    y_i = sum_j f(q_i).f(k_j) v_j / sum_j f(q_i).f(k_j) = f(q_i).Z / f(q_i).z

where `Z = sum_j f(k_j) v_j^T` and `z = sum_j f(k_j)` are the same for every query, or
under a causal mask run along with it. A column of ones beside the values makes `z` the
last column of `Z`: numerator and denominator are one product.

Everything is summed in at least float32, whatever the inputs are.
"""

from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.ops import _backend
from keras_attention.ops._backend import Size, Spec, sizes
from keras_attention.ops.masks import as_boolean
from keras_attention.ops.softmax import at_least_float32

Tensor = Any

CHUNK = 128  # positions that meet in one triangle of products


# ------------------------------------------------------------------------- features


def elu_features(x: Tensor) -> Tensor:
    """`elu(x) + 1`: `x + 1` above 0 and `exp(x)` below, in at least float32.

    Katharopoulos et al. 2020, arXiv:2006.16236, equation 7.
    """
    x = at_least_float32(x)
    # Not `elu(x) + 1`, which is 0 from x = -17 on: `exp(x) - 1` rounds to -1 there.
    return ops.where(x > 0, x + 1, ops.exp(ops.minimum(x, 0)))


def log_random_features(x: Tensor, directions: Tensor) -> Tensor:
    """`w . x - |x|^2 / 2` for `x` over `H^(1/4)`, in at least float32.

    For normal `w` the mean of `exp` of it for a query times that for a key is the
    softmax's `exp(q . k / sqrt(H))` (Choromanski et al. 2021, arXiv:2009.14794, lemma
    1). Whoever takes `exp` first subtracts a maximum, which cancels in attention.

    Args:
        x: Queries or keys `(..., H)`.
        directions: `(H, F)`, such as `random_directions` gives.

    Returns:
        `(..., F)`.
    """
    x = at_least_float32(x) * x.shape[-1] ** -0.25
    half_square = ops.sum(ops.square(x), axis=-1, keepdims=True) / 2
    return ops.matmul(x, ops.cast(directions, x.dtype)) - half_square


def random_directions(
    size: int, count: int, orthogonal: bool = True, seed: int | None = None
) -> np.ndarray:
    """Random directions `(size, count)`, each normally distributed.

    With `orthogonal` each `size` of them are orthogonal, which leaves means as they are
    and makes errors smaller (Choromanski et al. 2021, section 2.4).
    """
    generator = np.random.default_rng(seed)
    normal = generator.normal(size=(-(-count // size), size, size))
    if orthogonal:
        basis, upper = np.linalg.qr(generator.normal(size=normal.shape))
        # With these signs every rotation is as likely as any other.
        basis *= np.sign(np.einsum("bii->bi", upper))[:, None, :]
        normal = basis * np.linalg.norm(normal, axis=1, keepdims=True)
    return np.concatenate(list(normal), axis=1)[:, :count]


# ------------------------------------------------------------------------ attention


def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    query_mask: Tensor | None = None,
    use_causal_mask: bool = False,
) -> Tensor:
    """Attention with the weights `q . k / sum_j q . k_j` of non-negative features.

    Time `O(B N (T + S) F V)`. Beside inputs and output it holds `F V` sums a head; the
    causal form goes through the sequence in chunks and holds the products of one chunk
    with itself, in the backward pass too.

    Shapes:
        B batch, T query length, S key length, N heads, F features, V value size.

    Args:
        query: `(B, T, N, F)`, features of the queries.
        key: `(B, S, N, F)`, features of the keys.
        value: `(B, S, N, V)`.
        mask: `(B, S)` bool or int, True = a real key.
        query_mask: `(B, T)` bool or int; a padded query has nothing to attend.
        use_causal_mask: Query `i` sees keys up to `i + (S - T)`.

    Returns:
        `(B, T, N, V)` in the dtype of `value`. A row with nothing to attend, or whose
        weights are all 0, is 0.

    Raises:
        ValueError: for a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.ops.linear import elu_features, linear_attention
        >>> x = np.ones((2, 5, 3, 4), "float32")
        >>> y = linear_attention(elu_features(x), elu_features(x), x)
        >>> tuple(y.shape)
        (2, 5, 3, 4)

    Source:
        Katharopoulos et al. 2020, arXiv:2006.16236, equations 5 and 9.
    """
    query = _visible(query, query_mask, "query_mask")
    key = _visible(key, mask, "mask")
    counted = _with_ones(value)
    if use_causal_mask:
        sums = _causal_sums(query, key, counted)
    else:
        sums = _read(query, _key_value_sums(key, counted))
    return ops.cast(_divided(sums), value.dtype)


def linear_state(
    batch_size: Size, num_heads: int, features: int, value_dim: int, dtype: str
) -> Tensor:
    """The sums before the first key: zeros `(B, N, F, V + 1)`."""
    return ops.zeros((batch_size, num_heads, features, value_dim + 1), dtype)


def linear_step(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    state: Tensor,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Causal linear attention of the next positions after those summed in `state`.

    Args:
        query: `(B, L, N, F)`, features of the new positions, often one.
        key: `(B, L, N, F)`.
        value: `(B, L, N, V)`.
        state: `(B, N, F, V + 1)`, from `linear_state` or the step before. It never
            grows.
        mask: `(B, L)` bool or int, True = a real key; others leave no trace.

    Returns:
        Output `(B, L, N, V)` and the next state.
    """
    query, key = at_least_float32(query), _visible(key, mask, "mask")
    counted = _with_ones(value)
    sums = _causal_sums(query, key, counted) + _read(query, state)
    return ops.cast(_divided(sums), value.dtype), state + _key_value_sums(key, counted)


def _visible(features: Tensor, mask: Tensor | None, name: str) -> Tensor:
    """Features in at least float32, 0 where the mask hides them."""
    features = at_least_float32(features)
    if mask is None:
        return features
    mask = as_boolean(name, mask)[:, :, None, None]
    return ops.where(mask, features, ops.zeros_like(features))


def _with_ones(value: Tensor) -> Tensor:
    """`(B, S, N, V)` to `(B, S, N, V + 1)`, the last column 1."""
    value = at_least_float32(value)
    return ops.concatenate([value, ops.ones_like(value[..., :1])], axis=-1)


def _key_value_sums(key: Tensor, value: Tensor) -> Tensor:
    """`sum_j k_j v_j^T`, `(B, N, F, V)`."""
    return ops.einsum("bsnf,bsnv->bnfv", key, value)


def _read(query: Tensor, sums: Tensor) -> Tensor:
    return ops.einsum("btnf,bnfv->btnv", query, sums)


def _divided(sums: Tensor) -> Tensor:
    """Weighted sums over the sums of their weights; 0 where those are 0."""
    weighted, total = sums[..., :-1], sums[..., -1:]
    return weighted / ops.where(total > 0, total, ops.ones_like(total))


def linear_multiply_adds(
    query_length: int,
    key_length: int,
    features: int,
    value_size: int,
    use_causal_mask: bool = False,
) -> int:
    """Multiply-adds of `linear_attention` for one head of one sequence.

    `(T + S) F (V + 1)`. The causal form takes `max(T, S)` positions in chunks of `C`,
    the last one filled up: `C (F + V + 1) + 2 F (V + 1)` for each of them.
    """
    counted = value_size + 1
    if not use_causal_mask:
        return (query_length + key_length) * features * counted
    length = max(query_length, key_length)
    chunk = min(length, CHUNK)
    positions = -(-length // chunk) * chunk
    return positions * (chunk * (features + counted) + 2 * features * counted)


# ------------------------------------------------------------------------ in chunks


def _causal_sums(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """`sum_{j <= i + S - T} q_i.k_j v_j`, `(B, T, N, V)`."""
    query_length, key_length = sizes(query)[1], sizes(key)[1]
    length = _larger(query_length, key_length)
    fits = _backend.is_static(length) and length <= CHUNK
    chunk = length if fits else CHUNK

    def cut(x):
        # Zeros in front: both end at the same position.
        front = length - sizes(x)[1]
        x = ops.pad(x, ((0, 0), (front, -length % chunk), (0, 0), (0, 0)))
        _, _, heads, size = x.shape
        x = ops.reshape(x, (sizes(x)[0], -1, chunk, heads, size))
        return ops.transpose(x, (1, 0, 3, 2, 4))  # (chunks, B, N, C, size)

    sums = _causal_product(cut(query), cut(key), cut(value))
    sums = ops.transpose(sums, (1, 0, 3, 2, 4))
    _, _, _, heads, size = sums.shape
    sums = ops.reshape(sums, (sizes(query)[0], -1, heads, size))
    return sums[:, length - query_length : length]


def _larger(first: Size, second: Size) -> Size:
    if _backend.is_static(first, second):
        return max(first, second)
    return ops.maximum(first, second)


def _causal_product(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """`tril(Q K^T) V`, all `(chunks, B, N, C, size)`.

    It is linear in each argument, and its gradients are products of the same kind, so
    that the backward pass keeps nothing but the inputs:

        dQ = tril(G V^T) K,    dK = triu(V G^T) Q,    dV = triu(K Q^T) G

    where `triu` is `tril` of the reversed sequence.
    """

    @ops.custom_gradient
    def product(query, key, value):
        output = _scanned_product(*map(_backend.untaped, (query, key, value)))

        def gradient(*args, upstream=None):
            # TensorFlow and JAX pass the upstream gradient by position.
            upstream = args[0] if upstream is None else upstream
            return (
                _causal_product(upstream, value, key),
                _reversed_product(value, upstream, query),
                _reversed_product(key, query, upstream),
            )

        return output, gradient

    return product(query, key, value)


def _reversed_product(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """`triu(Q K^T) V`."""
    tensors = (ops.flip(x, axis=(0, 3)) for x in (query, key, value))
    return ops.flip(_causal_product(*tensors), axis=(0, 3))


def _scanned_product(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    chunks, batch, heads, chunk, features = sizes(query)
    value_size = value.shape[-1]
    triangle = ops.tril(ops.ones((chunk, chunk), query.dtype))

    def step(carry, index):
        (earlier,) = carry  # sums over the chunks before, (B, N, F, V)
        q, k, v = (ops.take(x, index, axis=0) for x in (query, key, value))
        products = ops.matmul(q, ops.swapaxes(k, -1, -2)) * triangle
        output = ops.matmul(products, v) + ops.matmul(q, earlier)
        return (earlier + ops.matmul(ops.swapaxes(k, -1, -2), v),), (output,)

    start = ops.zeros((batch, heads, features, value_size), query.dtype)
    shape = (*query.shape[1:4], value_size)
    dtype = keras.backend.standardize_dtype(query.dtype)
    _, (output,) = _backend.scan(step, (start,), chunks, (Spec(shape, dtype),))
    return output
