import json
from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applications.errors import UserError, require
from applications.pipeline.config import (
    describe,
    format_value,
    from_dict,
    help_table,
    override,
    parse,
    settings,
    to_dict,
)


@dataclass(frozen=True, kw_only=True)
class Group:
    count: Annotated[int, "things"] = 3
    rate: Annotated[float, "per second"] = 0.5
    on: Annotated[bool, "whether"] = False
    name: Annotated[str, "of it"] = "a=b"
    limit: Annotated[int | None, "things at most"] = None
    sizes: Annotated[tuple[int, ...], "in pixels"] = (2, 3)
    pair: Annotated[tuple[int, float], "a and b"] = (1, 2.0)
    kind: Annotated[Literal["red", "blue"], "colour"] = "red"

    def __post_init__(self):
        require(self.count > 0, "`count` must be above 0.", count=self.count)


@dataclass(frozen=True, kw_only=True)
class Other:
    depth: Annotated[int, "layers"] = 1


@dataclass(frozen=True, kw_only=True)
class Both:
    group: Group = field(default_factory=Group)
    other: Other = field(default_factory=Other)

    def __post_init__(self):
        small = self.other.depth <= self.group.count
        require(small, "`depth` is above `count`.", depth=self.other.depth)


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("group.count=7", 7),
        ("group.rate=1e-3", 0.001),
        ("group.rate=2", 2.0),
        ("group.on=true", True),
        ("group.on=False", False),
        ("group.name=x=y z", "x=y z"),
        ("group.name=", ""),
        ("group.limit=5", 5),
        ("group.limit=none", None),
        ("group.sizes=5,7,11", (5, 7, 11)),
        ("group.sizes=13", (13,)),
        ("group.sizes=", ()),
        ("group.pair=4,0.25", (4, 0.25)),
        ("group.kind=blue", "blue"),
    ],
)
def test_override(assignment, value):
    config = override(Both(), [assignment])
    changed = settings(config)[assignment.partition("=")[0]].value
    assert changed == value
    assert type(changed) is type(value)


def test_override_leaves_the_rest_and_the_last_wins():
    config = override(Both(), ["group.count=5", "other.depth=4", "group.count=7"])
    assert config == Both(group=Group(count=7), other=Other(depth=4))
    assert override(Both(), []) == Both()


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("group.count=2.5", "an integer"),
        ("group.count=", "an integer"),
        ("group.rate=fast", "a number"),
        ("group.rate=nan", "a number"),
        ("group.rate=inf", "a number"),
        ("group.on=1", "true or false"),
        ("group.limit=no", "an integer or none"),
        ("group.sizes=1,,2", "values separated by commas, each an integer"),
        ("group.pair=1", "2 values separated by commas: an integer, a number"),
        ("group.kind=green", "one of red, blue"),
    ],
)
def test_a_mistyped_value_is_refused(assignment, expected):
    with pytest.raises(UserError) as raised:
        override(Both(), [assignment])
    key = assignment.partition("=")[0]
    assert str(raised.value) == f"`{key}` must be {expected}. Received: {assignment}."


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("group.cuont", ["Did you mean 'group.count'?", "group.kind"]),
        ("groop.count", ["Did you mean 'group.count'?", "other.depth"]),
        ("count", ["Valid: group.count", "other.depth"]),
        ("group", ["Valid: group.count"]),
        ("group.count.x", ["Valid: group.count"]),
    ],
)
def test_an_unknown_key_names_the_valid_ones(key, words):
    with pytest.raises(UserError, match="Unknown setting") as raised:
        override(Both(), [f"{key}=1"])
    for word in words:
        assert word in str(raised.value)


def test_an_unknown_key_of_a_group_names_only_that_group():
    with pytest.raises(UserError) as raised:
        override(Both(), ["group.cuont=1"])
    assert "other.depth" not in str(raised.value)


def test_without_an_equals_sign():
    with pytest.raises(UserError, match=r"key=value.*Received: 'group\.count'"):
        override(Both(), ["group.count"])


def test_what_a_group_or_the_config_refuses_is_a_user_error():
    with pytest.raises(UserError, match=r"In `group`: `count` must be above 0\."):
        override(Both(), ["group.count=-1"])
    with pytest.raises(UserError, match="`depth` is above `count`"):
        override(Both(), ["other.depth=9"])


def test_json_round_trip_keeps_tuples():
    config = override(Both(), ["group.sizes=5,7", "group.limit=2", "group.rate=3"])
    plain = json.loads(json.dumps(to_dict(config)))
    assert plain["group"]["sizes"] == [5, 7]
    assert from_dict(Both, plain) == config


def test_from_dict_gives_a_missing_setting_its_default():
    assert from_dict(Both, {"group": {"count": 9}}) == Both(group=Group(count=9))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"group": {"cuont": 1}}, "Did you mean 'group.count'"),
        ({"grop": {"count": 1}}, "Unknown setting"),
        ({"group": {"count": "3"}}, "must be an integer"),
        ({"group": {"count": True}}, "must be an integer"),
        ({"group": {"count": 3.0}}, "must be an integer"),
        ({"group": {"sizes": 3}}, "separated by commas"),
        ({"group": {"kind": "green"}}, "one of red, blue"),
        ({"group": {"on": 1}}, "true or false"),
    ],
)
def test_from_dict_refuses_what_it_does_not_know(values, message):
    with pytest.raises(UserError, match=message):
        from_dict(Both, values)


@given(
    st.one_of(
        st.tuples(st.just(int), st.integers()),
        st.tuples(st.just(bool), st.booleans()),
        st.tuples(st.just(float), st.floats(allow_nan=False, allow_infinity=False)),
        st.tuples(st.just(str), st.text()),
        st.tuples(st.just(int | None), st.none() | st.integers()),
        st.tuples(
            st.just(tuple[int, ...]), st.lists(st.integers(), max_size=4).map(tuple)
        ),
    )
)
def test_parse_is_the_inverse_of_format_value(case):
    kind, value = case
    assert parse(format_value(value), kind) == value


def test_help_table_has_a_line_per_setting():
    lines = help_table(Both()).splitlines()
    assert len(lines) == len(settings(Both())) == 9
    assert lines[0].split() == ["group.count=3", "things", "(an", "integer)"]
    assert "group.limit=none " in help_table(Both())


def test_describe_literals_of_numbers():
    assert describe(Literal[1, 2]) == "one of 1, 2"
    assert parse("2", Literal[1, 2]) == 2


def test_a_setting_without_meaning_is_refused():
    @dataclass(frozen=True, kw_only=True)
    class Bare:
        count: int = 1

    @dataclass(frozen=True, kw_only=True)
    class Holder:
        bare: Bare = field(default_factory=Bare)

    with pytest.raises(TypeError, match=r"Bare\.count must be Annotated"):
        settings(Holder())
