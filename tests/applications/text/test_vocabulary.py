import unicodedata

import pytest
import sentencepiece

from applications.errors import UserError
from applications.text import vocabulary

# C45 of the collected failures of others.
SCRIPTS = {
    "Thai": "สวัสดี",
    "Hindi": "हिन्दी",
    "emoji family": "👨‍👩‍👧",
    "Arabic": "مرحبا",
    "Hangul in parts": "\u1112\u1161\u11ab",
}


@pytest.fixture(scope="module")
def processor(model):
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def test_the_same_texts_give_the_same_bytes(texts, model):
    assert vocabulary.train(texts, 600) == model
    assert vocabulary.train(iter(texts), 600) == model
    assert b"nfc.tsv" not in model


def test_special_ids(processor):
    assert processor.vocab_size() == 600
    assert processor.pad_id() == vocabulary.PADDING == 0
    assert processor.bos_id() == vocabulary.START == 1
    assert processor.eos_id() == vocabulary.END == 2
    assert processor.unk_id() == vocabulary.UNKNOWN == 3


def test_c45_composed_and_decomposed_are_one(processor):
    assert processor.encode("caf\u00e9") == processor.encode("cafe\u0301")


@pytest.mark.parametrize("script", SCRIPTS)
def test_c45_every_script_round_trips(processor, script):
    text = SCRIPTS[script]
    assert processor.decode(processor.encode(text)) == unicodedata.normalize(
        "NFC", text
    )


def test_the_training_texts_have_no_unknown(processor, texts):
    ids = processor.encode(texts)
    assert not any(vocabulary.UNKNOWN in row for row in ids)


def test_few_texts_give_a_smaller_vocabulary():
    model = vocabulary.train(["only these few words", "and no more"], 4000)
    size = sentencepiece.SentencePieceProcessor(model_proto=model).vocab_size()
    assert 260 < size < 400


def test_a_long_text_is_not_skipped():
    assert vocabulary.train(["x" * 10_000], 400)


@pytest.mark.parametrize("texts", [[], ["", "  "]])
def test_no_text_is_refused(texts):
    with pytest.raises(UserError, match="at least one text"):
        vocabulary.train(texts, 400)


def test_the_refused_size_is_the_smallest_that_fails():
    texts = ["cafe\u0301 au lait"]  # 9 characters in NFC, the space among them
    vocabulary.train(texts, 260 + 9)
    with pytest.raises(UserError, match="at least 269 pieces") as error:
        vocabulary.train(texts, 260 + 8)
    assert "\n" not in str(error.value)


def test_symbols_and_controls_are_pieces_of_their_own(texts):
    model = vocabulary.train(texts, 620, symbols=["\n", "[GAP]"], controls=["<0>"])
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    spelled = processor.encode("a [GAP]\nb <0>", out_type=str)
    assert {"[GAP]", "\n"} < set(spelled)
    assert "<0>" not in spelled
    assert processor.piece_to_id("<0>") > vocabulary.UNKNOWN
    assert processor.decode(processor.encode("a [GAP]")) == "a [GAP]"


def test_symbols_and_controls_need_room():
    texts = ["au lait"]  # 6 characters, the space among them
    with pytest.raises(UserError, match="at least 268 pieces"):
        vocabulary.train(texts, 267, symbols=["\n"], controls=["<0>"])
