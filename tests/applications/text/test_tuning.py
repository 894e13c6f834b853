import pytest

from applications.translation import tune


@pytest.mark.parametrize(
    ("names", "complaint"),
    [([], "Name one trained run"), (["none-001"], "none-001")],
)
def test_mistakes_are_one_line(names, complaint, root, capsys):
    assert tune.main(names) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert complaint in error
    assert len(error.splitlines()) == 1
