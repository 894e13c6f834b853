import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.speech_recognition import export
from keras_attention import export as exporting


def test_answers_of_another_process_are_compared(make_data, tmp_path, monkeypatch):
    """Both processes are stood in for; the smoke run has them."""
    data = make_data(test_limit=3)
    shift, added = 0.0, ""

    def answers(search):
        def answer(files):
            sizes = tf.strings.length(files)
            texts = tf.strings.join([search, tf.strings.as_string(sizes)], " ")
            return {"text": texts, "log_probability": -tf.cast(sizes, tf.float32)}

        return answer

    endpoints = {name: answers(name) for name in export.ENDPOINTS}

    def ask(directory, batches, names):
        assert (directory, names) == (tmp_path, ["greedy", "beam"])
        found = {name: [] for name in names}
        for name in names:
            for batch in batches:
                here = endpoints[name](tf.constant(batch))
                texts = [text.decode() + added for text in here["text"].numpy()]
                chances = (here["log_probability"].numpy() + shift).tolist()
                found[name].append({"text": texts, "log_probability": chances})
        return found

    monkeypatch.setattr(exporting, "ask_alone", ask)
    found = export.check(tmp_path, data, endpoints)
    assert found == {"largest_difference": {"greedy": 0, "beam": 0}}
    shift = 0.5
    with pytest.raises(UserError, match=r"0 of 12 texts, .* up to 5\.0e-01"):
        export.check(tmp_path, data, endpoints)
    shift, added = 0.0, "x"
    with pytest.raises(UserError, match="12 of 12 texts"):
        export.check(tmp_path, data, endpoints)
