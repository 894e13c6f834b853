"""Typed configuration: frozen dataclasses, dotted overrides, a JSON round trip.

A config is a frozen keyword-only dataclass whose fields are groups; a group is a frozen
keyword-only dataclass whose fields are settings. A setting is annotated with its type
and one line that says what it means and in which unit:

    @dataclass(frozen=True, kw_only=True)
    class DataConfig:
        batch_size: Annotated[int, "examples in one training step"] = 32

    @dataclass(frozen=True, kw_only=True)
    class MyConfig(Config):
        data: DataConfig = field(default_factory=DataConfig)

Types: `int`, `float`, `bool`, `str`, `Literal`, `tuple` of those, `X | None`. A group
checks its own values in `__post_init__` and raises `ValueError`.
"""

import dataclasses
import json
import math
import types
from collections.abc import Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from applications.errors import UserError, unknown

ConfigT = TypeVar("ConfigT")

_PLAIN = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "text",
}


@dataclasses.dataclass(frozen=True)
class Setting:
    """One leaf of a config: `train.epochs`, its type, its value and its meaning."""

    key: str
    kind: Any
    value: Any
    help: str


def settings(config: Any) -> dict[str, Setting]:
    """Return every setting of `config` by its dotted key, in order of definition.

    Raises:
        TypeError: A setting has no line that says what it means.
    """
    found = {}
    for group in dataclasses.fields(config):
        values = getattr(config, group.name)
        for name, (kind, text) in _fields(type(values)).items():
            key = f"{group.name}.{name}"
            found[key] = Setting(key, kind, getattr(values, name), text)
    return found


def override(config: ConfigT, assignments: Sequence[str]) -> ConfigT:
    """Return `config` with `"group.name=value"` assignments applied.

    Args:
        config: A config.
        assignments: Such as `["train.epochs=3", "train.patience=none"]`. Booleans are
            `true` and `false`, nothing is `none`, tuples are separated by commas. A
            later assignment wins.

    Raises:
        UserError: A key is unknown, a value does not have the setting's type, or a
            group refuses its values.
    """
    known = settings(config)
    changes: dict[str, dict[str, Any]] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise UserError(
                "Expected a setting as key=value, for example train.epochs=3. "
                f"Received: {assignment!r}."
            )
        if key not in known:
            raise _unknown_setting(key, list(known))
        group, _, name = key.partition(".")
        value = _checked(key, known[key].kind, parse, text)
        changes.setdefault(group, {})[name] = value
    return _replace(config, changes)


def to_dict(config: Any) -> dict[str, dict[str, Any]]:
    """Return `config` as plain JSON values: tuples become lists."""
    plain: dict[str, dict[str, Any]] = json.loads(
        json.dumps(dataclasses.asdict(config))
    )
    return plain


def from_dict(cls: type[ConfigT], values: dict[str, dict[str, Any]]) -> ConfigT:
    """Return the config of class `cls` that `to_dict` gave `values` for.

    A setting that is missing takes its default, so that a config written before the
    setting existed still loads.

    Raises:
        UserError: A key is unknown or a value does not have the setting's type.
    """
    config = cls()
    known = settings(config)
    changes: dict[str, dict[str, Any]] = {}
    for group, members in values.items():
        changes[group] = {}
        for name, value in members.items():
            key = f"{group}.{name}"
            if key not in known:
                raise _unknown_setting(key, list(known))
            changes[group][name] = _checked(key, known[key].kind, convert, value)
    return _replace(config, changes)


def help_table(config: Any) -> str:
    """Return a line per setting: its key, its value in `config`, meaning and type."""
    rows = [
        (f"{setting.key}={format_value(setting.value)}", setting)
        for setting in settings(config).values()
    ]
    width = max((len(left) for left, _ in rows), default=0)
    return "\n".join(
        f"  {left:<{width}}  {setting.help} ({describe(setting.kind)})"
        for left, setting in rows
    )


def parse(text: str, kind: Any) -> Any:
    """Read `text` as a value of type `kind`; the inverse of `format_value`.

    Raises:
        ValueError: `text` is no such value.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {format_value(choice): choice for choice in arguments}[text]
    if origin in (Union, types.UnionType):
        return None if text == "none" else parse(text, _inner(kind))
    if origin is tuple:
        parts = text.split(",") if text else []
        return tuple(map(parse, parts, _element_kinds(arguments, len(parts))))
    if kind is bool:
        return {"true": True, "false": False}[text.lower()]
    return convert(float(text) if kind is float else kind(text), kind)


def convert(value: Any, kind: Any) -> Any:
    """Return the JSON `value` as type `kind`: lists become tuples, 1 becomes 1.0.

    Raises:
        ValueError: `value` is no such value.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return arguments[arguments.index(value)]
    if origin in (Union, types.UnionType):
        return None if value is None else convert(value, _inner(kind))
    if origin is tuple:
        kinds = _element_kinds(arguments, len(value))
        return tuple(map(convert, value, kinds))
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        raise ValueError(value)
    return value


def format_value(value: Any) -> str:
    """Return `value` as one would write it on the command line."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(format_value, value))
    return str(value)


def describe(kind: Any) -> str:
    """Return what a value of type `kind` is, for help and errors.

    Examples:
    >>> describe(int | None), describe(Literal["adam", "sgd"])
    ('an integer or none', 'one of adam, sgd')
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return f"one of {', '.join(map(format_value, arguments))}"
    if origin in (Union, types.UnionType):
        return f"{describe(_inner(kind))} or none"
    if origin is tuple:
        elements = [describe(a) for a in arguments if a is not Ellipsis]
        if Ellipsis in arguments:
            return f"values separated by commas, each {elements[0]}"
        return f"{len(elements)} values separated by commas: {', '.join(elements)}"
    return _PLAIN[kind]


def _fields(cls: type) -> dict[str, tuple[Any, str]]:
    """Type and meaning of every field of a group."""
    hints = get_type_hints(cls, include_extras=True)
    found = {}
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        if get_origin(hint) is not Annotated:
            raise TypeError(
                f"{cls.__name__}.{field.name} must be Annotated[type, 'its meaning "
                f"and unit']. Received: {hint}."
            )
        kind, text, *_ = get_args(hint)
        found[field.name] = (kind, text)
    return found


def _inner(kind: Any) -> Any:
    """`X` of `X | None`."""
    (inner,) = [a for a in get_args(kind) if a is not types.NoneType]
    return inner


def _element_kinds(arguments: tuple[Any, ...], length: int) -> list[Any]:
    """The type of each of `length` elements of a `tuple[arguments]`."""
    if Ellipsis in arguments:
        return [arguments[0]] * length
    if len(arguments) != length:
        raise ValueError(length)
    return list(arguments)


def _checked(key: str, kind: Any, read: Any, value: Any) -> Any:
    """`read(value, kind)`, or one line that says what `key` must be."""
    try:
        return read(value, kind)
    except (KeyError, TypeError, ValueError):
        raise UserError(
            f"`{key}` must be {describe(kind)}. Received: {key}={value}."
        ) from None


def _unknown_setting(key: str, known: list[str]) -> UserError:
    """Name the settings of the key's group, or all where there is no such group."""
    group = key.partition(".")[0]
    same = [name for name in known if name.startswith(f"{group}.")]
    return unknown("setting", key, same or known)


def _replace(config: ConfigT, changes: dict[str, dict[str, Any]]) -> ConfigT:
    """Apply changes by group; what a group refuses becomes a `UserError`."""
    groups = {}
    for group, values in changes.items():
        try:
            groups[group] = dataclasses.replace(getattr(config, group), **values)
        except ValueError as error:
            raise UserError(f"In `{group}`: {error}") from None
    try:
        return dataclasses.replace(config, **groups)  # type: ignore[type-var]
    except ValueError as error:
        raise UserError(str(error)) from None
