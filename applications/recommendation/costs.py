"""`python -m applications.recommendation.costs [items=1000,1000000] [key=value ...]`:
what a training step costs, by size of the catalogue and by loss.

Every cell is a model of the `compare` preset in a process of its own, on random
histories of a catalogue of that size: seconds of a step, the median; and by how much
resident memory rises, at its highest, above where it stood with the model, its
optimizer and TensorFlow loaded. `full` is the cross-entropy over all items, `sampled`
that over `train.negatives` of them. A process that the memory does not suffice for is a
dash. `losses=full,sampled` chooses, `key=value` changes settings as in `train`. Linux
only.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from applications import markdown
from applications.errors import UserError, require_known
from applications.pipeline import quiet, step_costs
from applications.pipeline.comparison import number
from applications.pipeline.config import override
from applications.recommendation.presets import PRESETS, Loss, RecommendationConfig

PRESET = "compare"
ITEMS = (1_000, 10_000, 100_000, 1_000_000)
LOSSES = get_args(Loss)

_WARM_UP = 1  # rows of the step that loads what there is to load


class Cost(NamedTuple):
    """Of a step at one size."""

    seconds: float
    megabytes: float
    parameters: int


class Asked(NamedTuple):
    """What the arguments say."""

    losses: list[str]
    items: list[int]
    settings: list[str]


def main(arguments: Sequence[str]) -> int:
    """Measure what is asked for and print the table."""
    return step_costs.main(str(__doc__), arguments, _print, _cell)


def parsed(arguments: Sequence[str]) -> Asked:
    """Read the arguments.

    Raises:
        UserError: A loss, a number of items or a setting is none.
    """
    (losses, items), settings = step_costs.parsed(
        arguments, {"losses": LOSSES, "items": ITEMS}
    )
    for loss in losses:
        require_known("loss", loss, LOSSES)
    least = override(PRESETS[PRESET], settings).data.max_length + 1  # of a row
    if not all(count.isdecimal() and int(count) >= least for count in items):
        raise UserError(
            f"`items` must be integers above `data.max_length`, separated by commas. "
            f"Received: {','.join(items)}."
        )
    return Asked(losses, [int(count) for count in items], settings)


def _print(arguments: Sequence[str]) -> None:
    asked = parsed(arguments)
    found: dict[tuple[str, int], Cost | None] = {}
    for count in asked.items:
        for loss in asked.losses:
            found[loss, count] = alone(loss, count, asked.settings)
            print(f"{loss} at {count}: {found[loss, count]}", file=sys.stderr)
    print("\n".join(table(asked, found)))


def table(asked: Asked, found: dict[tuple[str, int], Cost | None]) -> list[str]:
    """The lines of the Markdown table; a dash where a process did not survive."""
    heads = ["items", "parameters"]
    heads += [f"seconds a step, {loss}" for loss in asked.losses]
    heads += [f"MB, {loss}" for loss in asked.losses]
    rows = []
    for count in asked.items:
        costs = [found[loss, count] for loss in asked.losses]
        known = [cost.parameters for cost in costs if cost]
        rows.append(
            [
                f"{count:,}",
                f"{known[0]:,}" if known else "-",
                *(number(cost and cost.seconds, 3) for cost in costs),
                *(number(cost and cost.megabytes, 0) for cost in costs),
            ]
        )
    return markdown.table(heads, rows)


def alone(loss: str, count: int, settings: Sequence[str]) -> Cost | None:
    """Measure in a process of its own; `None` where it did not come to an end."""
    cost = step_costs.alone(
        "applications.recommendation.costs",
        f"{loss} at {count} items",
        [loss, str(count), *settings],
    )
    return cost and Cost(**cost)


def _cell(loss: str, count: str, *settings: str) -> Cost:
    Path("/proc/self/oom_score_adj").write_text("1000")  # be the first to die
    with quiet.startup():
        return measure(settled(loss, settings), int(count))


def settled(loss: str, settings: Sequence[str]) -> RecommendationConfig:
    """The settings of one cell."""
    return override(PRESETS[PRESET], [*settings, f"train.loss={loss}"])


def measure(
    config: RecommendationConfig, num_items: int, seconds: float = step_costs.SECONDS
) -> Cost:
    """Train a few steps on histories that mean nothing."""
    from applications.recommendation import networks

    model = step_costs.compiled(
        config.train, lambda: networks.build(config, num_items), networks.loss(config)
    )
    cost = step_costs.measured(
        model,
        *(
            _batch(config, num_items, rows)
            for rows in (_WARM_UP, config.data.batch_size)
        ),
        seconds=seconds,
    )
    return Cost(*cost, model.count_params())


def _batch(config: RecommendationConfig, num_items: int, rows: int) -> tuple[Any, Any]:
    """Rows as training makes them, `(B, W)` random items each."""
    import numpy as np
    import tensorflow as tf

    from applications.datasets.interactions import Catalogue
    from applications.recommendation.data import RecommendationData

    random = np.random.default_rng(0)
    width = config.data.max_length + (config.model.kind != "bert4rec")
    histories = [
        random.choice(num_items, width, replace=False).astype("int32") + 1
        for _ in range(rows)
    ]
    names = ("",) * (num_items + 1)
    data = RecommendationData(config, Catalogue(names, names))
    data.learned = histories
    return next(iter(data.train.epoch(tf.constant(0))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
