import keras
import numpy as np
import pytest

from keras_attention import export
from keras_attention.export import saved_model
from tests.backend import BACKEND, tensorflow_only


@pytest.mark.skipif(BACKEND == "tensorflow", reason="what other backends are told")
def test_other_backends_are_sent_to_tensorflow(tmp_path):
    with pytest.raises(ValueError, match="written under TensorFlow"):
        export.write(tmp_path / "saved", {})
    assert not (tmp_path / "saved").exists()


@tensorflow_only
def test_the_backend_is_checked_first(tmp_path, monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(ValueError, match=r"load the .*backend='jax'"):
        export.write(tmp_path / "saved", {})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A toy that counts characters: `2 * length`, and shouts."""
    if BACKEND != "tensorflow":
        pytest.skip("a SavedModel is written under TensorFlow")
    import tensorflow as tf

    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.set_weights([np.array([[2.0]], "float32")])

    def measure(text):
        length = tf.cast(tf.strings.length(text, unit="UTF8_CHAR"), tf.float32)
        return {
            "twice": model(length[:, None])[:, 0],
            "text": text,
            "matrix": tf.zeros((2, 2)),
        }

    def shout(text):
        return {"text": tf.strings.upper(text)}

    signature = [tf.TensorSpec([None], tf.string, name="text")]
    count = tf.TensorSpec([], tf.int32, name="count")

    def ends(numbers, lengths):
        return {"last": tf.gather(numbers, lengths - 1, batch_dims=1)}

    named = [
        tf.TensorSpec([None, None], tf.float32, name="numbers"),
        tf.TensorSpec([None], tf.int32, name="lengths"),
    ]

    @tf.function(input_signature=[*signature, count])
    def number(text, count):
        return {"text": tf.strings.join([text, tf.strings.as_string(count)])}

    number.get_concrete_function()
    directory = tmp_path_factory.mktemp("export") / "saved"
    endpoints = {
        "measure": (measure, signature),
        "shout": (shout, signature),
        "number": (number, None),
        "ends": (ends, named),
    }
    export.write(directory, endpoints, track=[model])
    return directory


def test_the_first_endpoint_is_the_default(saved):
    import tensorflow as tf

    signatures = tf.saved_model.load(str(saved)).signatures
    assert set(signatures) == {
        "measure",
        "shout",
        "number",
        "ends",
        "serving_default",
    }
    answer = signatures["serving_default"](text=tf.constant(["Käse"]))
    assert set(answer) == {"twice", "text", "matrix"}
    assert answer["twice"].numpy().tolist() == [8.0]


@pytest.mark.slow
def test_answers_alone(saved):
    batches = [["Käse", ""], ["a", "bb", "ccc"]]
    endpoints = ["measure", "shout", "number"]
    answers = export.ask_alone(saved, batches, endpoints, {"count": 7})
    assert list(answers) == endpoints
    assert answers["number"][0] == {"text": ["Käse7", "7"]}
    first, second = answers["measure"]
    assert first == {"twice": [8.0, 0.0], "text": ["Käse", ""]}
    assert second == {"twice": [2.0, 4.0, 6.0], "text": ["a", "bb", "ccc"]}
    assert answers["shout"][1] == {"text": ["A", "BB", "CCC"]}


@pytest.mark.slow
def test_answers_arrays_by_name(saved):
    numbers = np.array([[1.5, 0.1], [3.25, 9.0]], "float32")
    batch = {"numbers": numbers, "lengths": np.array([2, 1], "int32")}
    (answer,) = export.ask_alone(saved, [batch], ["ends"])["ends"]
    np.testing.assert_array_equal(answer["last"], numbers[[0, 1], [1, 0]])


@pytest.mark.slow
def test_answers_rows_where_they_are_asked_for(saved):
    """Texts too, by name and in rows; what an endpoint does not take is left out."""
    batch = {"text": np.array(["a", "Käse"], object), "numbers": np.ones(3)}
    (answer,) = export.ask_alone(saved, [batch], ["measure"], ranks=(1, 2))["measure"]
    assert answer["matrix"] == [[0.0, 0.0], [0.0, 0.0]]
    assert answer["text"] == ["a", "Käse"]


@pytest.mark.slow
def test_answers_bytes_that_are_no_text(saved):
    (answer,) = export.ask_alone(saved, [["é".encode(), b"\x00a"]], ["measure"])[
        "measure"
    ]
    assert answer["twice"] == [2.0, 4.0]


@pytest.mark.slow
def test_a_process_that_fails_says_why(saved):
    with pytest.raises(RuntimeError, match=r"does not answer alone:\n(.|\n)*whisper"):
        export.ask_alone(saved, [["a"]], ["whisper"])


@pytest.mark.slow
def test_the_process_has_no_access_to_this_package(saved, monkeypatch):
    script = saved_model._ASK + "\nimport keras_attention"
    monkeypatch.setattr(saved_model, "_ASK", script)
    with pytest.raises(RuntimeError, match="keras_attention"):
        export.ask_alone(saved, [], ["measure"])
