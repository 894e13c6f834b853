"""The loss of connectionist temporal classification, frame by frame."""

from typing import Any

from keras import ops

from keras_attention.ops import _backend

Tensor = Any

# In place of minus infinity, whose differences are no numbers.
_NEVER = -1e30


def ctc_recurrence(
    labels: Tensor, frames: Tensor, label_lengths: Tensor, blank: int
) -> Tensor:
    """Minus the log-probability of labels, summed over all their alignments.

    A path is a label with blanks around and between. Frame by frame it is known how
    probable all ways to each of its places are: staying, from the place before, and
    past a blank between two that are not alike. Time `O(B S U)`.

    For TensorFlow, whose own takes `O(B S U^2)`: eight times as long for a sentence.
    It also has moves that no alignment has cost some 707, so that less probable labels
    get a wrong value and next to no gradient.

    Args:
        labels: (B, U) int32, the blank behind a label's end; each fits its frames.
        frames: (B, S, V) float32 log-probabilities; padding is surely the blank, which
            leaves a label that has ended where it is.
        label_lengths: (B,) int32.
        blank: Class of the blank.

    Returns:
        (B,) float32.

    Source:
        Graves et al. 2006, "Connectionist temporal classification", equations 6 to 8.
    """
    path = _path(labels, blank)  # (B, P), P = 2 U + 1
    said = ops.take_along_axis(frames, path[:, None], axis=2)  # (B, S, P)
    alike = ops.equal(path, _moved(path, 2, blank))  # so are blanks
    passes = ops.where(alike, _NEVER, 0.0)

    def step(ways: Tensor, said: Tensor) -> Tensor:
        comes = _moved(ways, 1, _NEVER)
        skips = _moved(ways, 2, _NEVER) + passes
        most = ops.maximum(ops.maximum(ways, comes), skips)
        most = ops.stop_gradient(most)
        total = sum(ops.exp(x - most) for x in (ways, comes, skips))
        return said + most + ops.log(total)

    said = ops.transpose(said, (1, 0, 2))
    places = ops.arange(ops.shape(path)[1], dtype="int32")
    begun = ops.where(places == 0, 0.0, ops.full_like(said[0], _NEVER))
    ways = _backend.fold(step, begun, said)
    end = 2 * label_lengths[:, None]  # the last blank, behind the last token
    ends = ops.logical_or(places == end, places == end - 1)
    return -ops.logsumexp(ops.where(ends, ways, _NEVER), axis=1)


def _path(labels: Tensor, blank: int) -> Tensor:
    """Labels with blanks around and between, `(B, 2 U + 1)`."""
    rows, size = ops.shape(labels)
    pairs = ops.stack([ops.full_like(labels, blank), labels], axis=-1)
    pairs = ops.reshape(pairs, (rows, 2 * size))
    return ops.pad(pairs, [[0, 0], [0, 1]], constant_values=blank)


def _moved(x: Tensor, places: int, first: float) -> Tensor:
    """`x` `(B, P)` so many places later, `first` at the beginning."""
    size = ops.shape(x)[1]
    return ops.pad(x, [[0, 0], [places, 0]], constant_values=first)[:, :size]
