import pytest

from applications.speech_recognition import learning_curve
from tests.applications.speech_recognition.evaluated_runs import cells, evaluated


def made(root, *wrong):
    """Runs that are there already, from little data to all."""
    return [
        evaluated(root, count, [f"data.train_share={share}"], minutes=80 * share)
        for count, share in zip(wrong, learning_curve.SHARES, strict=True)
    ]


def test_runs_that_are_there_make_the_table(root, capsys):
    made(root, 16, 8, 4)
    assert learning_curve.main([]) == 0
    head, _, *rows, _, outlook, _, picture = capsys.readouterr().out.splitlines()
    assert head.endswith("| CER, difference to half as much, points |")
    found = [cells(row) for row in rows]
    assert [row[:3] for row in found] == [
        ["25 %", "1,200", "20.0"],
        ["50 %", "1,200", "40.0"],
        ["100 %", "1,200", "80.0"],
    ]
    assert [row[3].split()[0] for row in found] == ["80.0", "40.0", "20.0"]
    assert found[0][5] == "-"
    assert found[1][5].startswith("-40.0 [-")
    assert found[2][5].startswith("-20.0 [-")
    # Halved by every doubling, so once more.
    assert "minutes ** -1.00: with 160 minutes of speech it would be 10.0 %" in outlook
    assert picture.endswith("compare-003/figures/learning-curve.png")
    with open(picture, "rb") as file:
        assert len(file.read()) > 5_000


def test_without_errors_there_is_no_law(root):
    found = made(root, 2, 1, 0)
    assert learning_curve.outlook(found).startswith("No errors are left")
    assert learning_curve.fitted([1, 2], [0.5, 0.0]) is None


def test_a_law_is_the_nearest_to_its_points():
    law = learning_curve.fitted([1, 2, 4], [0.4, 0.2, 0.4])
    assert law.exponent == pytest.approx(0)
    assert law.at(100) == pytest.approx(0.4 * 0.5 ** (1 / 3))


def test_settings_must_be_known(root, capsys):
    assert learning_curve.main(["data.nme=x"]) == 2
    assert "data.nme" in capsys.readouterr().err
