import pytest

from applications.errors import UserError, require, told_to_users, unknown


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


def test_what_the_library_refuses_is_told_to_users():
    with pytest.raises(UserError, match="patch") as error, told_to_users():
        raise ValueError("The patch does not divide the image.")
    assert isinstance(error.value.__cause__, ValueError)
    with pytest.raises(KeyError), told_to_users():  # a fault of the program stays one
        raise KeyError
