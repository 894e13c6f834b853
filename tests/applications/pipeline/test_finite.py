import numpy as np
import pytest

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.pipeline.finite import require_finite
from applications.text_classification.presets import PRESETS


def test_nan_is_refused(root):
    run = runs.create(root, "text_classification", "smoke", PRESETS["smoke"])
    require_finite(run, np.ones((2, 3)), "texts")
    with pytest.raises(UserError, match="smoke-001 gives NaN for test texts"):
        require_finite(run, np.array([1, np.nan]), "texts")
