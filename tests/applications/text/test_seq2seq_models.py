import pytest

from applications.errors import UserError
from applications.text.seq2seq_config import Seq2SeqModelConfig
from applications.text.seq2seq_models import recurrent, transformer

SIZES = {"hidden_dim": 8, "num_heads": 2, "num_layers": 1, "intermediate_dim": 12}


def test_sizes_are_those_of_the_settings():
    sizes = Seq2SeqModelConfig(**SIZES, dropout=0.3, attention_dropout=0.1)
    config = transformer(sizes, 13).get_config()
    assert config["vocabulary_size"] == 13
    assert {name: config[name] for name in SIZES} == SIZES
    assert (config["dropout"], config["attention_dropout"]) == (0.3, 0.1)
    config = recurrent(sizes, 13, "coverage", "luong").get_config()
    names = ("vocabulary_size", "hidden_dim", "dropout", "attention", "order")
    assert [config[name] for name in names] == [13, 8, 0.3, "coverage", "luong"]


def test_an_attention_that_is_no_multi_head_layer():
    with pytest.raises(UserError, match=r"Unknown model\.attention 'additive'"):
        transformer(Seq2SeqModelConfig(**SIZES, attention="additive"), 13)
