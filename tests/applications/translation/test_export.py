import numpy as np
import pytest

from applications.translation import export
from keras_attention import export as saved_model
from keras_attention import models
from tests.applications.translation.conftest import SENTENCE

C41 = ["", "hello", "   "]


@pytest.mark.slow
def test_c41_the_saved_model_answers_blank_texts(smoke_run):
    directory = smoke_run.path("saved_model", "1")
    batches = [C41, ["hello"], [""], ["", ""]]
    found = saved_model.ask_alone(directory, batches, ["greedy", "beam"])
    for answers in found.values():
        texts = [answer["translation"] for answer in answers]
        assert [texts[0][0], texts[0][2]] == ["", ""]
        assert texts[0][1:2] == texts[1]
        assert texts[2:] == [[""], ["", ""]]
        numbers = [x for answer in answers for x in answer["log_probability"]]
        assert np.isfinite(numbers).all()


@pytest.mark.slow
def test_signatures_of_the_saved_model(smoke_run):
    import tensorflow as tf
    import tensorflow_text  # noqa: F401 (the SavedModel needs its operations)

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    signatures = loaded.signatures
    assert set(signatures) == {"serving_default", "greedy", "beam", "attention"}
    text = tf.constant([SENTENCE, "", "Save all files."])
    default, greedy = signatures["serving_default"](text), signatures["greedy"](text)
    assert set(greedy) == {"translation", "log_probability"}
    np.testing.assert_array_equal(default["translation"], greedy["translation"])
    answer = signatures["attention"](text)
    np.testing.assert_array_equal(answer["translation"], greedy["translation"])
    scores, source = answer["attention_scores"], answer["source_pieces"]
    target = answer["target_pieces"]
    assert scores.shape == (3, 2, target.shape[1], source.shape[1])
    real = source.numpy() != b"<pad>"
    assert (
        scores.numpy()[~np.broadcast_to(real[:, None, None], scores.shape)] == 0
    ).all()
    written = target.numpy() != b"<pad>"
    sums = np.broadcast_to(written[:, None], scores.shape[:3])
    np.testing.assert_allclose(scores.numpy().sum(-1), sums, atol=1e-5)
    spelled = b"".join(source.numpy()[0][real[0]]).decode()
    assert spelled == "▁" + SENTENCE.replace(" ", "▁") + "</s>"


@pytest.mark.slow
def test_a_model_without_attention_has_no_such_endpoint(translator, config, tmp_path):
    import tensorflow as tf

    size = translator.tokenizer.vocabulary_size
    translator.model = models.RecurrentSeq2Seq(size, 8, "none")
    export.export(translator, tmp_path / "saved")
    signatures = tf.saved_model.load(str(tmp_path / "saved")).signatures
    assert set(signatures) == {"serving_default", "greedy", "beam"}
