"""The one way this project words an error: what was expected, what came."""

import importlib
from collections.abc import Collection
from types import ModuleType
from typing import Any


def require(condition: bool, expected: str, **received: Any) -> None:
    """Raise a `ValueError` unless `condition` holds.

    Args:
        condition: What must be true.
        expected: A sentence that says what was expected and, where it helps,
            what to do. It names arguments in backticks.
        **received: The offending values by argument name.

    Raises:
        ValueError: "`expected` Received: name=value, ...".
    """
    if not condition:
        values = ", ".join(f"{name}={value!r}" for name, value in received.items())
        raise ValueError(f"{expected} Received: {values}." if values else expected)


def one_of(name: str, value: Any, valid: Collection[Any]) -> Any:
    """Return `value` if it is one of `valid`, else raise naming all of them."""
    choices = ", ".join(repr(choice) for choice in sorted(valid, key=str))
    require(value in valid, f"`{name}` must be one of {choices}.", **{name: value})
    return value


def positive_integer(name: str, value: Any) -> int:
    """Return `value` if it is an integer above 0, else raise."""
    valid = isinstance(value, int) and not isinstance(value, bool) and value > 0
    require(valid, f"`{name}` must be a positive integer.", **{name: value})
    return value


def odd_integer(name: str, value: Any) -> int:
    """Return `value` if it is an odd integer above 0, else raise."""
    positive_integer(name, value)
    middle = f"`{name}` must be odd: as many on either side of the middle."
    require(value % 2 == 1, middle, **{name: value})
    return value


def fraction(name: str, value: Any) -> float:
    """Return `value` if it is a number in [0, 1), else raise."""
    valid = isinstance(value, (int, float)) and 0 <= value < 1
    require(valid, f"`{name}` must be a number in [0, 1).", **{name: value})
    return value


def import_extra(module: str, extra: str) -> ModuleType:
    """Return `module`, imported only now, since a package outside the core has it.

    Args:
        module: Its full name.
        extra: The extra of this package that installs it.

    Raises:
        ImportError: it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if str(error.name).partition(".")[0] != package:
            raise  # it is installed, and something that it needs is not
        raise ImportError(
            f"`{package}` is not installed. It comes with an extra: "
            f"pip install 'keras-attention[{extra}]'."
        ) from None
