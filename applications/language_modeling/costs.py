"""`python -m applications.language_modeling.costs [lengths=256,1024,4096]
[attentions=full,linear] [key=value ...]`: what a training step costs, by attention and
length.

Every cell is a model of the `compare` preset in a process of its own, on rows of that
length, 4,096 tokens in a step: tokens per second, the median of the steps; and by how
much resident memory rises, at its highest, above where it stood with the model, its
optimizer and TensorFlow loaded. `key=value` changes settings as in `train`. Linux only.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from applications import markdown
from applications.errors import UserError, require_known
from applications.language_modeling.presets import PRESETS, DecodeConfig, LanguageConfig
from applications.pipeline import quiet, step_costs
from applications.pipeline.comparison import number
from applications.pipeline.config import override

PRESET = "compare"
LENGTHS = (256, 1024, 4096)
TOKENS = 4096  # of a step

# What a training would be given to have it.
ATTENTIONS: dict[str, tuple[str, ...]] = {
    "full": (),
    "local": ("model.pattern=local", "model.window=128"),
    "strided": ("model.pattern=strided", "model.window=64"),
    "fixed": ("model.pattern=fixed", "model.window=64"),
    "block": ("model.pattern=block", "model.window=128"),
    "block_summary": ("model.attention=block_summary", "model.window=64"),
    "linear": ("model.attention=linear",),
    "performer": ("model.attention=performer",),
    "relative_position": ("model.attention=relative_position",),
    "talking_heads": ("model.attention=talking_heads",),
}

_WARM_UP = 32  # tokens of the step that loads what there is to load


class Cost(NamedTuple):
    """Of one attention at one length."""

    tokens_per_second: float
    megabytes: float


class Asked(NamedTuple):
    """What the arguments say."""

    attentions: list[str]
    lengths: list[int]
    settings: list[str]


def main(arguments: Sequence[str]) -> int:
    """Measure what is asked for and print the table."""
    return step_costs.main(str(__doc__), arguments, _print, _cell)


def parsed(arguments: Sequence[str]) -> Asked:
    """Read the arguments.

    Raises:
        UserError: An attention, a length or a setting is none.
    """
    (names, lengths), settings = step_costs.parsed(
        arguments, {"attentions": list(ATTENTIONS), "lengths": LENGTHS}
    )
    for name in names:
        require_known("attention", name, ATTENTIONS)
    if not all(length.isdigit() and int(length) >= _WARM_UP for length in lengths):
        raise UserError(
            f"`lengths` must be integers of {_WARM_UP} or more, separated by commas. "
            f"Received: {','.join(lengths)}."
        )
    override(PRESETS[PRESET], settings)
    return Asked(names, [int(length) for length in lengths], settings)


def _print(arguments: Sequence[str]) -> None:
    asked = parsed(arguments)
    found: dict[tuple[str, int], Cost | None] = {}
    for length in asked.lengths:
        for name in asked.attentions:
            found[name, length] = alone(name, length, asked.settings)
            print(f"{name} at {length}: {found[name, length]}", file=sys.stderr)
    print("\n".join(table(asked, found)))


def table(asked: Asked, found: dict[tuple[str, int], Cost | None]) -> list[str]:
    """The lines of the Markdown table; a dash where a process did not survive."""
    heads = ["attention"]
    heads += [f"tokens/s at {length}" for length in asked.lengths]
    heads += [f"MB at {length}" for length in asked.lengths]
    rows = []
    for name in asked.attentions:
        costs = [found[name, length] for length in asked.lengths]
        speeds = [cost and cost.tokens_per_second for cost in costs]
        sizes = [cost and cost.megabytes for cost in costs]
        rows.append([name, *(number(x, 0) for x in [*speeds, *sizes])])
    return markdown.table(heads, rows)


def alone(name: str, length: int, settings: Sequence[str]) -> Cost | None:
    """Measure in a process of its own; `None` where it did not come to an end."""
    cost = step_costs.alone(
        "applications.language_modeling.costs",
        f"{name} at length {length}",
        [name, str(length), *settings],
    )
    return cost and Cost(**cost)


def _cell(name: str, length: str, *settings: str) -> Cost:
    with quiet.startup():
        return measure(settled(name, int(length), settings))


def settled(name: str, length: int, settings: Sequence[str]) -> LanguageConfig:
    """The settings of one cell."""
    config = override(PRESETS[PRESET], [*settings, *ATTENTIONS[name]])
    rows = max(1, TOKENS // length)
    return replace(
        config,
        data=replace(config.data, length=length, rows_per_batch=rows),
        decode=DecodeConfig(max_length=1),  # nothing is written
    )


def measure(config: LanguageConfig, seconds: float = step_costs.SECONDS) -> Cost:
    """Train a few steps on tokens that mean nothing."""
    import numpy as np

    from applications.language_modeling import networks
    from keras_attention import losses

    data = config.data
    model = step_costs.compiled(
        config.train,
        lambda: networks.build(config, data.vocabulary_size),
        losses.MaskedCrossentropy(),
    )
    small = np.ones((1, _WARM_UP + 1), "int32")
    shape = (data.rows_per_batch, data.length + 1)
    rows = np.random.default_rng(0).integers(4, data.vocabulary_size, shape, "int32")
    cost = step_costs.measured(
        model, *((ids[:, :-1], ids[:, 1:]) for ids in (small, rows)), seconds=seconds
    )
    tokens = data.rows_per_batch * data.length
    return Cost(tokens / cost.seconds, cost.megabytes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
