import numpy as np
import pytest

from applications.errors import UserError
from applications.kernel_regression import export
from applications.kernel_regression.data import Points, source_of
from applications.kernel_regression.evaluation import predicted

ASKED = np.array([0.1, 0.7])


def test_other_answers_are_refused(make_model, monkeypatch, capsys, tmp_path):
    """The smoke run exports for real."""
    model = make_model("learned")
    x, y = (np.array(w)[:, 0] for w in model.get_weights()[:2])
    points = Points(x, y, ASKED, np.sin(ASKED), source_of("sine"))
    asked = []

    def alone(directory, batches, endpoints):
        asked.extend(batches)
        return {
            "predict": [{"y": predicted(model, np.array(b)) + off} for b in batches]
        }

    monkeypatch.setattr(export.exporting, "ask_alone", alone)
    off = 0.0
    export.check(tmp_path, model, points)
    assert asked == [[0.1], [0.7, 53.0, -53.0]]
    assert "equals this process on 4 numbers" in capsys.readouterr().out
    off = 0.01
    with pytest.raises(UserError, match=r"answers otherwise: by up to 1\.0e-02"):
        export.check(tmp_path, model, points)
