from dataclasses import replace

import pytest

from applications.text.seq2seq_config import (
    DecodeConfig,
    Seq2SeqDataConfig,
    Seq2SeqModelConfig,
    Seq2SeqTrainConfig,
)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Seq2SeqDataConfig(tokens_per_batch=0), "`tokens_per_batch` must be"),
        (lambda: Seq2SeqDataConfig(test_limit=0), "`test_limit` must be above 0"),
        (lambda: Seq2SeqModelConfig(num_layers=0), "`num_layers` must be above 0"),
        (lambda: Seq2SeqModelConfig(dropout=1.0), r"`dropout` must be in \[0, 1\)"),
        (lambda: Seq2SeqModelConfig(num_heads=3), "`num_heads` must divide"),
        (lambda: Seq2SeqTrainConfig(validation_sentences=0), "`validation_sentences`"),
        (lambda: DecodeConfig(num_beams=0), "`num_beams` must be above 0"),
        (lambda: DecodeConfig(length_penalty=-1.0), "must not be negative"),
    ],
)
def test_a_value_out_of_range_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_every_transformer_needs_heads_that_divide_and_others_an_even_size():
    odd = Seq2SeqModelConfig(kind="pointer_transformer", hidden_dim=33, num_heads=3)
    with pytest.raises(ValueError, match="`hidden_dim` must be even"):
        replace(odd, kind="pointer_generator")
    with pytest.raises(ValueError, match="`num_heads` must divide"):
        replace(odd, num_heads=2)


def test_no_limit_is_none():
    assert Seq2SeqDataConfig().train_limit is None
