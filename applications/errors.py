"""Errors that a user can put right, and how an unknown name is worded."""

import difflib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class UserError(Exception):
    """What the command line prints as one line, without a traceback.

    The message says what was expected, what came and what to do. Every other
    exception is a fault of the program and keeps its traceback.
    """


class CannotWriteError(UserError):
    """The file system refused a write; what was saved before is intact."""


def require(condition: bool, expected: str, **received: Any) -> None:
    """Raise a `ValueError` unless `condition` holds; for the checks of a config.

    The words are those of `keras_attention.errors.require`, which configs do without:
    importing it brings Keras, and `--help` answers at once.
    """
    if not condition:
        values = ", ".join(f"{name}={value!r}" for name, value in received.items())
        raise ValueError(f"{expected} Received: {values}.")


def require_positive(config: Any, *names: str) -> None:
    """Refuse settings of a config that are neither `None` nor above 0."""
    for name in names:
        value = getattr(config, name)
        positive = value is None or value > 0
        require(positive, f"`{name}` must be above 0.", **{name: value})


def require_not_negative(config: Any, *names: str) -> None:
    """Refuse settings of a config that are below 0."""
    for name in names:
        value = getattr(config, name)
        require(value >= 0, f"`{name}` must not be negative.", **{name: value})


def require_fraction(config: Any, *names: str) -> None:
    """Refuse settings of a config that are neither `None` nor in [0, 1)."""
    for name in names:
        value = getattr(config, name)
        below_one = value is None or 0 <= value < 1
        require(below_one, f"`{name}` must be in [0, 1).", **{name: value})


def require_heads(config: Any) -> None:
    """Refuse a config whose `num_heads` does not divide its `hidden_dim`."""
    require(
        config.hidden_dim % config.num_heads == 0,
        "`num_heads` must divide `hidden_dim`.",
        num_heads=config.num_heads,
        hidden_dim=config.hidden_dim,
    )


@contextmanager
def told_to_users() -> Iterator[None]:
    """Make a `UserError` of what the library refuses, inside the block.

    For a call whose arguments are a user's settings, such as a patch that does not
    divide the image.
    """
    try:
        yield
    except ValueError as error:
        raise UserError(str(error)) from error


def require_known(kind: str, name: str, valid: Collection[str]) -> None:
    """Refuse a `name` that is none of the `valid` ones, in the words of `unknown`."""
    if name not in valid:
        raise unknown(kind, name, valid)


def unknown(kind: str, name: str, valid: Iterable[str]) -> UserError:
    """Return the error for a `name` that is none of the `valid` ones.

    Args:
        kind: What the name stands for: `"preset"`, `"setting"`.
        name: What came.
        valid: Every name that would have been right.

    Examples:
    >>> print(unknown("preset", "smal", ["small", "paper"]))
    Unknown preset 'smal'. Did you mean 'small'? Valid: small, paper.
    """
    names = list(valid)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return UserError(
        f"Unknown {kind} {name!r}.{hint} Valid: {', '.join(names) or 'none yet'}."
    )
