from typing import get_args

from applications.language_modeling import evaluation
from applications.language_modeling.presets import Objective


def test_every_objective_is_evaluated():
    assert set(evaluation.EVALUATIONS) == set(get_args(Objective))
