"""Position encodings as pure functions."""

from typing import Any

from keras import ops

Tensor = Any


def sinusoidal_encoding(
    length: Any, width: int, start: Any = 0, max_wavelength: float = 10_000.0
) -> Tensor:
    """Sine and cosine waves of geometrically growing wavelength.

    `PE[p, 2i] = sin(p / w^(2i / D))`, `PE[p, 2i + 1] = cos(p / w^(2i / D))` with
    `w = max_wavelength`. Angles are always computed in float32: in half precision
    neighbouring positions share a code from 2,049 (float16) or 257 (bfloat16) on.

    Args:
        length: Number of positions; an integer or a scalar tensor.
        width: Feature size `D`; may be odd, the last feature is then a sine.
        start: Position of the first row.
        max_wavelength: Longest wavelength, in positions, divided by 2 pi.

    Returns:
        `(length, width)`, float32.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, section 3.5.
    """
    positions = ops.cast(ops.arange(length) + start, "float32")
    pairs = (width + 1) // 2
    exponents = ops.arange(pairs, dtype="float32") * (2.0 / width)
    angles = positions[:, None] * ops.power(max_wavelength, -exponents)
    waves = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
    return ops.reshape(waves, (-1, 2 * pairs))[:, :width]
