"""Points of a function: known ones, those asked for, and where they come from.

No point that is asked for is among the known ones, and in training a known point does
not see itself. Points are drawn, or held out, by the seed of the run.

    name         known                         asked for
    sine         50, sin(x) + 0.2 noise, x     a grid of 200, sin(x) without noise
                 uniform in [-5, 5]
    damped_sine  150 of 200, sin(x)            the other 50
                 exp(-0.1 x^2) + 0.1 noise,
                 x uniform in [-3, 3]
    nile         80 of 100 years, 1871-1970    the other 20, held out at random
    sunspots     247 of 309 years, 1700-2008   the other 62, held out at random
    a CSV file   1 - data.test_share           the others, held out at random

Rows of a CSV file that have the same x are on one side. Held out at random means among
known years: these are tests of filling gaps, not of forecasting. Yearly flow of
the Nile at Aswan (10^8 m^3; Cobb 1978) and the yearly number of sunspots (NOAA) come
with the package statsmodels, which says that both are in the public domain.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from applications.datasets import csv_files
from applications.errors import UserError, unknown
from applications.kernel_regression.presets import DataConfig
from keras_attention.errors import import_extra

EXTRA = "kernel-regression"

_LARGEST = float(np.finfo("float32").max)
_DRAWN_AT_RANDOM = "none needed, drawn at random"


class Columns(NamedTuple):
    """What the header of a CSV file calls x and y."""

    x: str = "x"
    y: str = "y"


class Source(NamedTuple):
    """What is known of a set beside its points.

    Attributes:
        licence: Of the points.
        bandwidth: Of a kernel, where one is named with them.
        curve: The function that they come from, where it is known.
    """

    licence: str
    bandwidth: float | None = None
    curve: Callable[[np.ndarray], np.ndarray] | None = None


def damped_sine(x: np.ndarray) -> np.ndarray:
    """`sin(x) exp(-0.1 x^2)`."""
    return np.sin(x) * np.exp(-0.1 * x**2)


# The damped sine comes without a bandwidth: it has that of the other example.
_SOURCES = {
    "sine": Source(_DRAWN_AT_RANDOM, 0.5, np.sin),
    "damped_sine": Source(_DRAWN_AT_RANDOM, 0.5, damped_sine),
    "nile": Source("public domain"),
    "sunspots": Source("public domain"),
}


def source_of(name: str) -> Source:
    """What is known of a set; a file is the user's own."""
    return _SOURCES.get(name, Source("the user's own"))


@dataclass(frozen=True)
class Points:
    """Points that are known, and those that are asked for.

    Attributes:
        x: Of the known points, `(S,)`.
        y: Of the known points, `(S,)`.
        test_x: Of those asked for, `(n,)`.
        test_y: Of those asked for, `(n,)`.
        source: Of the set.
    """

    x: np.ndarray
    y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray
    source: Source

    def bandwidth_or(self, chosen: float | None) -> float:
        """The one that is chosen, that of the source, or the rule of thumb.

        That is Scott's for densities, 1.06 standard deviations of x by the fifth root
        of their number: a width that comes without looking at y (Scott 1992).
        """
        rule = 1.06 * float(self.x.std(ddof=1)) * len(self.x) ** -0.2
        return chosen or self.source.bandwidth or rule


def points_of(config: DataConfig, seed: int) -> Points:
    """Draw or read the points.

    Raises:
        UserError: There is no such set, or a file that cannot be read or split.
    """
    draw = np.random.default_rng(seed)
    if config.name.endswith(".csv"):
        columns = Columns(config.x_column, config.y_column)
        x, y = read(Path(config.name).expanduser(), columns)
    elif config.name in _COLUMNS:
        x, y = _series(config.name)
    elif config.name in _DRAWN:
        return _DRAWN[config.name](draw)
    else:
        raise unknown("points", config.name, [*_SOURCES, "a path ending in .csv"])
    return held_out(x, y, config.test_share, draw, source_of(config.name))


def held_out(
    x: np.ndarray,
    y: np.ndarray,
    share: float,
    draw: np.random.Generator,
    source: Source,
) -> Points:
    """Hold out a share of the places, with all points at them.

    Raises:
        UserError: Fewer than 2 places would be known, or none asked for.
    """
    places = draw.permutation(np.unique(x))
    count = round(share * len(places))
    if count < 1 or len(places) - count < 2:
        raise UserError(
            f"{len(places)} different x cannot be split with data.test_share={share}: "
            "expected at least 2 known and 1 held out."
        )
    asked = np.isin(x, places[:count])
    return Points(x[~asked], y[~asked], x[asked], y[asked], source)


def read(path: Path, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of numbers of a CSV file with a header.

    Raises:
        UserError: As `csv_files.rows`; or there is no row, or a cell that is not a
            finite number; names the line.
    """
    found = [
        [number(row[name], where) for name in columns]
        for where, row in csv_files.rows(path, columns)
    ]
    if not found:
        raise UserError(f"{path} has no row below its header.")
    x, y = np.array(found).T
    return _rounded(x), y


def number(text: str, where: str) -> float:
    """A finite number of float32.

    Raises:
        UserError: The text is none; `where` begins the line.
    """
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not abs(value) <= _LARGEST:
        raise UserError(f"{where}: expected a finite number. Received: {text!r}.")
    return value


# -------------------------------------------------------------------------- where from


def _sine(draw: np.random.Generator) -> Points:
    x = _rounded(draw.uniform(-5, 5, 50))
    y = np.sin(x) + 0.2 * draw.normal(size=len(x))
    grid = np.linspace(-5, 5, 200)
    return Points(x, y, grid, np.sin(grid), source_of("sine"))


def _damped_sine(draw: np.random.Generator) -> Points:
    x = _rounded(draw.uniform(-3, 3, 200))
    y = damped_sine(x) + 0.1 * draw.normal(size=len(x))
    return Points(x[:150], y[:150], x[150:], y[150:], source_of("damped_sine"))


def _series(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A series of statsmodels: its years and values."""
    try:
        module = import_extra(f"statsmodels.datasets.{name}", EXTRA)
    except ImportError as error:
        raise UserError(str(error)) from error
    table = module.load_pandas().data
    x, y = (table[column].to_numpy(float) for column in _COLUMNS[name])
    return x, y


def _rounded(x: np.ndarray) -> np.ndarray:
    """As float32, in which the model tells points apart."""
    return x.astype("float32").astype(float)


_DRAWN = {"sine": _sine, "damped_sine": _damped_sine}
_COLUMNS = {"nile": ("year", "volume"), "sunspots": ("YEAR", "SUNACTIVITY")}
