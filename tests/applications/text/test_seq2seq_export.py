import pytest

from applications.errors import UserError
from applications.text import seq2seq_export as export
from keras_attention import export as saved_model
from keras_attention import models


@pytest.mark.parametrize(
    ("attention", "more"), [("additive", ["attention"]), ("none", [])]
)
def test_only_a_model_with_attention_has_an_endpoint_for_it(
    writer, tmp_path, monkeypatch, attention, more
):
    written = {}

    def write(directory, endpoints, track):
        assert track == [writer.model, writer.tokenizer.layer]
        written.update(endpoints)

    monkeypatch.setattr(saved_model, "write", write)
    size = writer.tokenizer.vocabulary_size
    writer.model = models.RecurrentSeq2Seq(size, 8, attention)
    export.export(writer, tmp_path, "text")
    assert list(written) == ["greedy", "beam", *more]


def test_a_difference_is_an_error_that_shows_it(writer, tmp_path, monkeypatch):
    def ask(directory, batches, endpoints):
        answers = [{"text": ["?"] * len(batch)} for batch in batches]
        return dict.fromkeys(endpoints, answers)

    monkeypatch.setattr(saved_model, "ask_alone", ask)
    with pytest.raises(UserError, match=r"answers 4 of 4 .* '\?' instead of ''"):
        export.check(tmp_path, ["Open."], writer, "text")


def test_the_check_asks_for_blank_and_single_texts(writer, tmp_path, monkeypatch):
    asked = {}

    def ask(directory, batches, endpoints):
        asked.update(dict.fromkeys(endpoints, batches))
        return {
            search: [{"text": writer(batch, search)} for batch in batches]
            for search in endpoints
        }

    monkeypatch.setattr(saved_model, "ask_alone", ask)
    texts = [f"Line {i}." for i in range(53)]
    export.check(tmp_path, texts, writer, "text")
    batches = [[""], ["", *texts[:2]], texts[:50], texts[50:]]
    assert asked == {"greedy": batches, "beam": batches}
