import numpy as np
import pytest

from applications.kernel_regression import compare
from applications.kernel_regression.compare import Result
from applications.kernel_regression.presets import PRESETS
from applications.pipeline import run as runs

pytest.importorskip("scipy")


BASELINES = {
    "mean": {"mse": 1.0},
    "cross_validated_kernel": {"mse": 0.1, "bandwidth": 0.375},
}


def made(kind, errors, **more):
    evaluated = [
        {"mse": e, "parameters": 1234, "baselines": BASELINES, **more} for e in errors
    ]
    return Result(kind, evaluated, [{"seconds": 2.0}, {"seconds": 4.0}])


def test_differences_are_paired_by_seed():
    fixed = made("fixed", [0.25, 0.35], bandwidth=0.5)
    learned = made("learned", [0.15, 0.25], bandwidth=0.25)
    attention = made("attention", [0.20, 0.20])
    lines = compare.table([fixed, learned, attention])
    assert lines[0].startswith(
        "| model | test MSE | difference to fixed | difference to cross-validated "
        "| difference to learned | bandwidth |"
    )
    mean, *kinds = lines[2:]
    # Seeds differ by 0.1, the kinds by 0.1 on each: no width. Student's t over two
    # seeds is 12.706 standard errors.
    same = "-0.100 [-0.100, -0.100]"
    wide = "[-0.735, +0.535]"
    assert mean.startswith("| mean of y | 1.00 [1.00, 1.00] | +0.70 [+0.06, +1.34] |")
    assert kinds == [
        "| fixed | 0.300 [-0.335, 0.935] | - | +0.200 [-0.435, +0.835] "
        "| +0.100 [+0.100, +0.100] | 0.5 | 1,234 | 3.0 |",
        "| cross-validated | 0.100 [0.100, 0.100] | -0.200 [-0.835, +0.435] | - "
        f"| -0.100 {wide} | 0.375 | - | - |",
        f"| learned | 0.200 [-0.435, 0.835] | {same} | +0.100 [-0.535, +0.735] | - "
        "| 0.25 | 1,234 | 3.0 |",
        f"| attention | 0.200 [0.200, 0.200] | -0.100 {wide} | +0.100 [+0.100, +0.100] "
        "| +0.000 [-0.635, +0.635] | - | 1,234 | 3.0 |",
    ]


def test_runs_are_read(root):
    run = runs.create(root, "kernel_regression", "small", PRESETS["small"])
    run.record("train", {"seconds": 3.0}, {})
    run.record("evaluate", {"mse": 0.5}, {})
    found = compare.result("fixed", [run])
    np.testing.assert_array_equal(found.errors, [0.5])
    assert found.trained == [{"seconds": 3.0}]


def test_one_seed_is_refused(root, capsys):
    assert compare.main(["seeds=1"]) == 2
    assert "`seeds` must be an integer of 2 or more" in capsys.readouterr().err
