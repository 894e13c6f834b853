import sys

import numpy as np
import pytest

from applications.errors import UserError
from applications.kernel_regression.data import (
    Columns,
    held_out,
    points_of,
    read,
    source_of,
)
from applications.kernel_regression.presets import DataConfig

OWN = source_of("mine.csv")


def test_the_two_examples_are_as_described():
    sine = points_of(DataConfig(name="sine"), 0)
    assert (len(sine.x), len(sine.test_x)) == (50, 200)
    assert sine.bandwidth_or(None) == 0.5
    np.testing.assert_allclose(sine.test_y, np.sin(sine.test_x))
    assert np.std(sine.y - np.sin(sine.x)) == pytest.approx(0.2, rel=0.3)
    damped = points_of(DataConfig(name="damped_sine"), 0)
    assert (len(damped.x), len(damped.test_x)) == (150, 50)
    noise = damped.y - damped.source.curve(damped.x)
    assert np.std(noise) == pytest.approx(0.1, rel=0.2)
    assert np.abs(damped.x).max() <= 3


@pytest.mark.parametrize("name", ["sine", "damped_sine", "nile", "sunspots"])
def test_a_seed_draws_the_points_and_no_point_is_on_two_sides(name):
    if name in ("nile", "sunspots"):
        pytest.importorskip("statsmodels")
    first, again, other = (points_of(DataConfig(name=name), s) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.x, again.x)
    assert not np.array_equal(first.x, other.x)
    assert not set(first.x) & set(first.test_x)


def test_the_nile_is_a_hundred_years():
    pytest.importorskip("statsmodels")
    found = points_of(DataConfig(name="nile"), 0)
    assert (len(found.x), len(found.test_x)) == (80, 20)
    years = np.concatenate([found.x, found.test_x])
    np.testing.assert_array_equal(np.sort(years), np.arange(1871, 1971))
    assert np.concatenate([found.y, found.test_y]).sum() == 91935
    # No bandwidth comes with it: the rule of thumb.
    rule = 1.06 * found.x.std(ddof=1) * 80**-0.2
    assert found.bandwidth_or(None) == pytest.approx(rule)
    assert found.bandwidth_or(2.0) == 2.0


def test_the_sunspots_are_three_centuries():
    pytest.importorskip("statsmodels")
    found = points_of(DataConfig(name="sunspots"), 0)
    assert (len(found.x), len(found.test_x)) == (247, 62)
    years = np.concatenate([found.x, found.test_x])
    np.testing.assert_array_equal(np.sort(years), np.arange(1700, 2009))


def test_without_its_package_the_nile_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.datasets.nile", None)
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    with pytest.raises(UserError, match=r"pip install 'keras-attention\[kernel-reg"):
        points_of(DataConfig(name="nile"), 0)


def test_rows_of_one_place_stay_together(own_file):
    x, y = read(own_file, Columns("hour", "load"))
    points = held_out(x, y, 0.3, np.random.default_rng(0), OWN)
    assert len(points.x) == 14
    assert not set(points.x) & set(points.test_x)
    assert sorted([*points.y, *points.test_y]) == list(range(20))


@pytest.mark.parametrize(("count", "share"), [(1, 0.5), (2, 0.5), (5, 0.01), (5, 0.9)])
def test_too_few_places_are_refused(count, share):
    x = np.arange(float(count))
    with pytest.raises(UserError, match=f"{count} different x cannot be split"):
        held_out(x, x, share, np.random.default_rng(0), OWN)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty: expected a header such as x,y"),
        (b"x,z\n1,2\n", r"no column 'y'; its header names x, z\..* data\.y_column="),
        (b"x,y\n", "has no row below its header"),
        (b"x,y\n1,2\n3,four\n", "line 3: expected a finite number. Received: 'four'"),
        (b"x,y\n1,\n", "line 2: expected a finite number. Received: ''"),
        (b"x,y\n1\n", "line 2 has not as many cells as the header has columns"),
        (b"x,y\n1,nan\n", "line 2: expected a finite number"),
        (b"x,y\n1e50,2\n", "line 2: expected a finite number"),
        (b"x,y\n\xff,2\n", "is not UTF-8"),
        pytest.param(
            b"x,y\n1,2\n" + b"1" * 200_000 + b",2\n", "after line 2: field", id="long"
        ),
    ],
)
def test_broken_files_are_one_line(tmp_path, content, words):
    path = tmp_path / "points.csv"
    path.write_bytes(content)
    with pytest.raises(UserError, match=words):
        read(path, Columns())
