"""How the score of a hypothesis makes up for its length."""

from typing import Any

from keras import ops

from keras_attention.errors import one_of

KINDS = ("length", "gnmt")


def length_penalty(length: Any, alpha: float, kind: str = "length") -> Any:
    """What the log-probability of a hypothesis of `length` tokens is divided by.

    Every further token lowers a log-probability, so a plain comparison favours short
    hypotheses. A larger `alpha` favours longer ones: the log-probability is negative,
    and dividing it by more brings it closer to 0.

    | kind | penalty |
    |---|---|
    | `"length"` | `length ** alpha`; `alpha=1` compares means per token |
    | `"gnmt"` | `((5 + length) / 6) ** alpha` |

    Args:
        length: Number of generated tokens, the end token included and the prompt
            not; a number or a tensor. An empty hypothesis counts as one token.
        alpha: Exponent of at least 0; 0 compares plain log-probabilities.
        kind: `"length"` or `"gnmt"`.

    Returns:
        A float32 tensor of the shape of `length`, never falling with the length.

    Raises:
        ValueError: `kind` is none of the two.

    Examples:
    >>> from keras_attention.decoding import length_penalty
    >>> round(float(length_penalty(4, alpha=0.5)), 4)
    2.0
    >>> round(float(length_penalty(7, alpha=1.0, kind="gnmt")), 4)
    2.0

    Source: Wu et al. 2016, arXiv:1609.08144, equation 14 (`"gnmt"`).
    """
    one_of("kind", kind, KINDS)
    length = ops.maximum(ops.cast(length, "float32"), 1.0)
    base = length if kind == "length" else (5.0 + length) / 6.0
    return ops.power(base, alpha)
