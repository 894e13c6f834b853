import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.speech_recognition import export
from keras_attention import export as exporting


@pytest.mark.slow
def test_answers_of_another_process_are_compared(
    make_data, make_recognizer, tmp_path, monkeypatch
):
    """It is stood in for by this one, then by other answers."""
    data = make_data(objective="ctc", test_limit=3)
    recognizer = make_recognizer(data)
    endpoints = export.graphs(recognizer)
    export.export(endpoints, recognizer.model, tmp_path / "saved")
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    shift, added = 0.0, ""

    def ask(directory, batches, names):
        assert names == ["greedy", "beam"]
        found = {}
        for name in names:
            answers = [
                loaded.signatures[name](audio=tf.constant(batch)) for batch in batches
            ]
            found[name] = [
                {
                    "text": [x.decode() + added for x in one["text"].numpy()],
                    "log_probability": (
                        one["log_probability"].numpy() + shift
                    ).tolist(),
                }
                for one in answers
            ]
        return found

    monkeypatch.setattr(exporting, "ask_alone", ask)
    found = export.check(tmp_path / "saved", data, endpoints)
    assert max(found["largest_difference"].values()) < 1e-3
    shift = 0.1
    with pytest.raises(UserError, match=r"0 of 12 texts, .* up to 1\.0e-01"):
        export.check(tmp_path / "saved", data, endpoints)
    shift, added = 0.0, "x"
    with pytest.raises(UserError, match="12 of 12 texts"):
        export.check(tmp_path / "saved", data, endpoints)
