import pytest

from applications.datasets.columns import two_columns
from applications.errors import UserError


def test_white_space_around_columns_is_none_of_them():
    assert two_columns(b" a b \t c\r", "x, line 1", "a<TAB>b") == ("a b", "c")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"a", "x, line 1 must hold two columns, `a<TAB>b`; it has 1."),
        (b"a\tb\tc", "x, line 1 must hold two columns, `a<TAB>b`; it has 3."),
        (b"\xff\tb", "x, line 1 is not UTF-8: invalid start byte."),
    ],
)
def test_other_lines_are_refused(line, message):
    with pytest.raises(UserError) as error:
        two_columns(line, "x, line 1", "a<TAB>b")
    assert str(error.value) == message
