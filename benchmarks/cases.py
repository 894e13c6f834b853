"""What is compared, and how much better we mean to be.

A case is one computation at one shape. Its targets carry the numbers of the rows of
the project's table of performance targets, which `--rows` picks.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

# No path may be slower than Keras's own by more than 5 %, whatever else is aimed at.
NOT_SLOWER = 0.95

CORE, ADDITIVE, MULTI_HEAD = "core", "additive", "multi-head"
MECHANISM = "mechanism"
TRANSFORMER = "transformer"
TRANSFORMER_LAYERS = 3  # of the encoder and of the decoder
DECODING = "decoding"
DECODING_LAYERS, VOCABULARY, SOURCE_LENGTH, START = 3, 8192, 16, 1


@dataclass(frozen=True)
class Target:
    """A number to reach.

    Attributes:
        row: Row of the table of targets; 0 stands for what holds at every shape.
        quantity: `"seconds"` (median of the rounds), `"cpu"` (the same in seconds of
            all cores together), `"growth"` (of resident memory, MB) or `"first_call"`
            (seconds, tracing included).
        limit: With a peer, its quantity divided by ours is at least this; without one,
            our quantity is at most this.
        peer: Contender we are compared with.
    """

    row: int
    quantity: str
    limit: float
    peer: str | None = None


@dataclass(frozen=True)
class Case:
    """One computation at one shape.

    Attributes:
        name: Unique name.
        computes: `CORE` (the op on projected heads), `ADDITIVE` (Bahdanau's layer on
            `(B, L, H)`), `MULTI_HEAD` (the layer on `(B, L, N * H)`), `MECHANISM`
            (any layer of `benchmarks.mechanisms` on that) or `TRANSFORMER` (a training
            step of an encoder and decoder on that, with dropout and Adam), or
            `DECODING` (L new tokens for each row, by a model of size `N * H`).
        shape: `(B, L, N, H)`: batch, length, heads, head size.
        training: Forward and backward pass instead of the forward pass alone.
        causal: Whether query `i` sees keys up to `i` only.
        window: Size of a local window on top, for us alone; peers have none.
        dtype: Of inputs and upstream gradient.
        targets: What to reach; their peers are the contenders beside ours.
        num_beams: For decoding; 1 is greedy.
        bounded: Whether the matrix products alone are a contender too, which says how
            much of a target is left to anything else.
    """

    name: str
    computes: str
    shape: tuple[int, int, int, int]
    training: bool = True
    causal: bool = True
    window: int | None = None
    dtype: str = "float32"
    targets: tuple[Target, ...] = ()
    num_beams: int = 1
    bounded: bool = False

    @property
    def length(self) -> int:
        return self.shape[1]

    @property
    def tokens(self) -> int:
        """That a step writes, if it decodes."""
        return self.shape[0] * self.length if self.computes == DECODING else 0

    @property
    def contenders(self) -> list[str]:
        """Ours, then the peers in the order of the targets."""
        peers = (target.peer for target in self.targets if target.peer)
        return ["ours", *dict.fromkeys(peers), *(["products"] if self.bounded else [])]

    def at_length(self, length: int) -> "Case":
        """The same computation at another length."""
        batch, _, heads, size = self.shape
        return replace(self, shape=(batch, length, heads, size))


CASES = (
    *(
        Case(
            f"{computes}-{length}-{name}",
            computes,
            (8, length, 8, 64),
            causal=name == "causal",
            targets=(Target(0, "seconds", NOT_SLOWER, "keras"),),
        )
        for computes in (CORE, MULTI_HEAD)
        for length in (128, 1024)
        for name in ("causal", "unmasked")
    ),
    Case(
        "core-512-forward",
        CORE,
        (8, 512, 8, 64),
        training=False,
        bounded=True,
        targets=(
            Target(1, "seconds", 1.4, "keras"),
            Target(2, "seconds", 0.95, "torch"),
        ),
    ),
    Case(
        "core-512-training",
        CORE,
        (8, 512, 8, 64),
        bounded=True,
        targets=(
            Target(1, "seconds", 1.4, "keras"),
            Target(2, "seconds", 1.15, "torch"),
        ),
    ),
    Case(
        "core-512-bfloat16-forward",
        CORE,
        (8, 512, 8, 64),
        training=False,
        dtype="bfloat16",
        bounded=True,
        targets=(
            Target(3, "seconds", NOT_SLOWER, "keras"),
            Target(3, "seconds", 1.5, "torch"),
        ),
    ),
    Case(
        "core-512-bfloat16-training",
        CORE,
        (8, 512, 8, 64),
        dtype="bfloat16",
        bounded=True,
        targets=(
            Target(3, "seconds", NOT_SLOWER, "keras"),
            Target(3, "seconds", 1.5, "torch"),
        ),
    ),
    Case(
        "core-2048-forward",
        CORE,
        (1, 2048, 8, 64),
        training=False,
        targets=(Target(4, "seconds", NOT_SLOWER, "keras"),),
    ),
    Case(
        "core-2048-training",
        CORE,
        (1, 2048, 8, 64),
        bounded=True,
        targets=(
            Target(4, "seconds", 1.35, "keras"),
            Target(4, "seconds", 0.85, "torch"),
        ),
    ),
    Case(
        "core-8192-training",
        CORE,
        (1, 8192, 8, 64),
        bounded=True,
        targets=(
            Target(5, "seconds", 2.0, "keras"),
            Target(5, "growth", 10, "keras"),
            Target(6, "seconds", 0.6, "torch"),
            Target(8, "first_call", 5.0),
        ),
    ),
    Case(
        "core-16384-training",
        CORE,
        (1, 16384, 4, 64),
        targets=(
            Target(6, "seconds", 0.4, "torch"),
            Target(7, "growth", 500),
        ),
    ),
    Case(
        "core-16384-local-training",
        CORE,
        (1, 16384, 4, 64),
        window=256,
        bounded=True,
        targets=(Target(9, "seconds", 8.0, "torch"),),
    ),
    Case(
        "additive-128-training",
        ADDITIVE,
        (8, 128, 1, 64),
        causal=False,
        targets=(Target(0, "seconds", NOT_SLOWER, "keras"),),
    ),
    Case(
        "additive-1024-forward",
        ADDITIVE,
        (2, 1024, 1, 64),
        training=False,
        causal=False,
        targets=(Target(10, "seconds", NOT_SLOWER, "keras"),),
    ),
    Case(
        "additive-1024-training",
        ADDITIVE,
        (2, 1024, 1, 64),
        causal=False,
        targets=(
            Target(10, "growth", 10, "keras"),
            Target(10, "seconds", 1.0, "keras"),
        ),
    ),
    Case(
        "multi-head-512-forward",
        MULTI_HEAD,
        (8, 512, 8, 64),
        training=False,
        targets=(Target(15, "seconds", NOT_SLOWER, "keras"),),
    ),
    Case(
        "multi-head-512-training",
        MULTI_HEAD,
        (8, 512, 8, 64),
        targets=(
            Target(15, "seconds", 1.0, "keras"),
            Target(15, "seconds", 1.2, "torch"),
        ),
    ),
    Case(
        "transformer-training",
        TRANSFORMER,
        (32, 64, 8, 32),
        targets=(Target(14, "seconds", 1.2, "torch"),),
    ),
    Case(
        "transformer-bfloat16-training",
        TRANSFORMER,
        (32, 64, 8, 32),
        dtype="bfloat16",
        targets=(Target(14, "seconds", 1.15, "torch"),),
    ),
    Case(
        "decoding-greedy-1",
        DECODING,
        (1, 64, 4, 64),
        training=False,
        targets=(
            Target(11, "cpu", 1.25, "keras_hub"),
            Target(12, "cpu", 1.4, "torch"),
            Target(13, "seconds", 5, "uncached"),
        ),
    ),
    Case(
        "decoding-greedy-32",
        DECODING,
        (32, 64, 4, 64),
        training=False,
        targets=(
            Target(11, "cpu", 1.6, "keras_hub"),
            Target(12, "cpu", 1.15, "torch"),
        ),
    ),
    Case(
        "decoding-beam-4",
        DECODING,
        (8, 64, 4, 64),
        training=False,
        num_beams=4,
        targets=(
            Target(11, "cpu", 1.6, "keras_hub"),
            Target(12, "cpu", 1.2, "torch"),
        ),
    ),
)

# Their length is replaced; the contenders are those of `benchmarks.mechanisms`.
BY_LENGTH = Case("by-length", MECHANISM, (1, 0, 4, 64))
OPS_BY_LENGTH = Case("ops-by-length", CORE, (1, 0, 4, 64))

ROWS = sorted({target.row for case in CASES for target in case.targets})


def named(name: str) -> Case:
    """The case of that name."""
    return {case.name: case for case in (*CASES, BY_LENGTH, OPS_BY_LENGTH)}[name]


def with_rows(rows: Collection[int]) -> list[Case]:
    """The cases that stand for one of `rows` of the table of targets."""
    return [
        case for case in CASES if any(target.row in rows for target in case.targets)
    ]
