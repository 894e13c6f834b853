import re
from types import SimpleNamespace

import pytest

from applications.errors import (
    UserError,
    require,
    require_fraction,
    require_heads,
    require_known,
    require_not_negative,
    require_positive,
    told_to_users,
    unknown,
)


def test_unknown_names_what_is_close_and_all_that_is_valid():
    error = unknown("preset", "papr", ["small", "paper"])
    assert isinstance(error, UserError)
    assert str(error) == (
        "Unknown preset 'papr'. Did you mean 'paper'? Valid: small, paper."
    )


def test_unknown_without_anything_close_or_valid():
    assert str(unknown("run", "x", [])) == "Unknown run 'x'. Valid: none yet."


def test_require():
    require(True, "never said", epochs=1)
    with pytest.raises(ValueError, match=r"above 0\. Received: epochs=-1\."):
        require(False, "`epochs` must be above 0.", epochs=-1)


@pytest.mark.parametrize(
    ("check", "right", "wrong", "words"),
    [
        (require_positive, (1, 0.5, None), (0, -1), "`x` must be above 0."),
        (require_not_negative, (0, 2), (-1,), "`x` must not be negative."),
        (require_fraction, (0, 0.9, None), (-0.1, 1), "`x` must be in [0, 1)."),
    ],
)
def test_settings_of_a_config(check, right, wrong, words):
    for value in right:
        check(SimpleNamespace(x=value, y=0.5), "x", "y")
    for value in wrong:
        line = re.escape(f"{words} Received: x={value}.")
        with pytest.raises(ValueError, match=f"^{line}$"):
            check(SimpleNamespace(x=value, y=0.5), "y", "x")


def test_a_name_must_be_known():
    require_known("preset", "small", {"small": 1, "paper": 2})
    with pytest.raises(
        UserError, match=r"^Unknown preset 'smal'\. Did you mean 'small'"
    ):
        require_known("preset", "smal", ("small", "paper"))


def test_heads_divide_the_features():
    require_heads(SimpleNamespace(hidden_dim=12, num_heads=3))
    with pytest.raises(ValueError, match=r"divide.*num_heads=5, hidden_dim=12"):
        require_heads(SimpleNamespace(hidden_dim=12, num_heads=5))


def test_what_the_library_refuses_is_told_to_users():
    with pytest.raises(UserError, match="patch") as error, told_to_users():
        raise ValueError("The patch does not divide the image.")
    assert isinstance(error.value.__cause__, ValueError)
    with pytest.raises(KeyError), told_to_users():  # a fault of the program stays one
        raise KeyError
