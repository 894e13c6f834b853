"""`python -m applications.language_modeling.compare RUN RUN ...`: evaluated causal runs
side by side.

Prints a Markdown table of bits per byte of the test text, with the 95 % bootstrap
interval over its documents of each difference to the first run, and the n-grams that
the first run was held against. Tokens may differ from run to run: bytes do not.
"""

import sys
from collections.abc import Sequence

from applications import markdown
from applications.errors import UserError
from applications.language_modeling.presets import LanguageConfig
from applications.pipeline import cli, comparison, quiet
from applications.pipeline import run as runs
from applications.pipeline.comparison import evaluated, interval, number

_DIGITS = 3


def main(names: Sequence[str]) -> int:
    """Compare runs by name; the first is the one the others are held against."""
    return cli.on_runs(str(__doc__), names, _print)


def _print(names: Sequence[str]) -> None:
    found = comparison.named("language_modeling", names)
    with quiet.startup():
        print("\n".join(table(found)))


def table(found: Sequence[runs.Run]) -> list[str]:
    """The lines of the Markdown table.

    Raises:
        UserError: A run is not evaluated, not causal, or was tested on another text.
    """
    from applications.language_modeling.causal_evaluation import kept

    measured = [evaluated(run) for run in found]
    for run, values in zip(found, measured, strict=True):
        if "bits_per_byte" not in values:
            raise UserError(f"{run.name} has no bits per byte: it is not causal.")
    bits = [kept(run) for run in found]
    comparison.require_same(found, [one.bytes.tolist() for one in bits], "texts")
    first = bits[0]
    rows = []
    for run, values, one in zip(found, measured, bits, strict=True):
        gap = "-" if run is found[0] else _gap(one.model, first)
        rows.append([*_cells(run, values), gap])
    heads = ["attention", "tokens", "parameters", "training minutes"]
    heads += ["perplexity per token", "bits per byte"]
    heads += [f"bits per byte, difference to {found[0].name}"]
    return markdown.table(heads, [*rows, *_baselines(first, measured[0])])


def _gap(others, first) -> str:
    """Others minus the first run."""
    from applications.language_modeling.causal_evaluation import difference

    return interval(difference(first._replace(model=others), first.model), _DIGITS)


def _cells(run: runs.Run, values: dict) -> list[str]:
    config = run.config(LanguageConfig)
    train = run.results()["train"]["metrics"]
    return [
        named(config),
        config.data.tokens,
        f"{values['parameters']:,}",
        number(train["seconds"] / 60),
        number(values["perplexity_per_token"], 2),
        number(values["bits_per_byte"], _DIGITS),
    ]


def _baselines(first, values: dict) -> list[list[str]]:
    """A row for each kind of n-gram."""
    rows = []
    found = values.get("baselines", {}).items()
    for (name, scores), bits in zip(found, (first.ngrams, first.words), strict=False):
        rows.append(
            [
                name.replace("_", " "),
                *["-"] * 3,
                number(scores.get("perplexity_per_token"), 2),
                number(scores["bits_per_byte"], _DIGITS),
                _gap(bits, first),
            ]
        )
    return rows


def named(config: LanguageConfig) -> str:
    """What a model looks at, in words.

    Examples:
    >>> from applications.language_modeling.presets import PRESETS
    >>> named(PRESETS["compare"])
    'multi_head'
    """
    model = config.model
    if model.pattern == "full":
        return model.attention
    return f"{model.attention}, {model.pattern} {model.window}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
