import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.keyword_spotting import export
from keras_attention import export as exporting


def test_a_recurrent_model_of_frames_answers_in_its_saved_model(
    make_data, make_classifier, tmp_path, monkeypatch
):
    """The fresh process is stood in for by this one, then by other answers."""
    data = make_data(frames=True)
    classifier = make_classifier(data, "temporal_attention")
    export.export(classifier, tmp_path / "saved")
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    shift = 0.0

    def ask(directory, batches, endpoints):
        assert endpoints == ["classify"]
        answers = []
        for batch in batches:
            given = {name: tf.constant(numbers) for name, numbers in batch.items()}
            one = loaded.signatures["classify"](**given)
            labels = [label.decode() for label in one["label"].numpy()]
            largest = (one["probability"].numpy() + shift).tolist()
            answers.append({"label": labels, "probability": largest})
        return {"classify": answers}

    monkeypatch.setattr(exporting, "ask_alone", ask)
    export.check(tmp_path / "saved", data, classifier)
    shift = 0.01
    with pytest.raises(UserError, match=r"differ by up to 1\.0e-02, 0 of"):
        export.check(tmp_path / "saved", data, classifier)
