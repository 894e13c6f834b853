import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.language_modeling import costs
from applications.language_modeling.costs import Asked, Cost
from keras_attention.ops import attention, dispatch


@pytest.fixture
def eagerly():
    """Nothing is traced, which takes most of the time of a few small steps."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def test_every_attention_makes_a_model_of_the_preset():
    from applications.language_modeling import networks

    for name in costs.ATTENTIONS:
        config = costs.settled(name, 64, ["model.hidden_dim=16", "model.num_heads=2"])
        assert networks.build(config, 50).count_params() > 0


def test_a_step_has_the_same_tokens_at_every_length():
    for length in costs.LENGTHS:
        data = costs.settled("full", length, []).data
        assert data.length * data.rows_per_batch == costs.TOKENS


def test_parsed():
    asked = costs.parsed(
        ["lengths=64,128", "attentions=full,linear", "model.dropout=0"]
    )
    assert asked == Asked(["full", "linear"], [64, 128], ["model.dropout=0"])
    assert costs.parsed([]).attentions == list(costs.ATTENTIONS)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("attentions=ful", "Unknown attention 'ful'. Did you mean 'full'?"),
        ("lengths=8", "`lengths` must be integers of 32 or more"),
        ("model.heads=2", "Unknown setting 'model.heads'"),
    ],
)
def test_mistakes_are_one_line(argument, words):
    with pytest.raises(UserError) as error:
        costs.parsed([argument])
    assert words in str(error.value)


def test_measured_in_this_process(eagerly, monkeypatch):
    monkeypatch.setattr(costs, "TOKENS", 256)
    small = ["model.hidden_dim=16", "model.num_layers=1", "data.vocabulary_size=50"]
    cost = costs.measure(costs.settled("full", 128, small), seconds=0.01)
    assert cost.tokens_per_second > 0
    assert cost.megabytes >= 0


def test_attention_knows_the_length_that_is_measured(monkeypatch):
    """Of a length forgotten it would take the dense path, whatever its mask spares."""
    lengths = []

    def seen(problem, query, key, *others):
        lengths.append(key.shape[1])
        return dispatch.choose(problem, query, key, *others)

    monkeypatch.setattr(attention, "choose", seen)
    monkeypatch.setattr(costs, "TOKENS", 128)
    small = ["model.hidden_dim=8", "model.num_layers=1", "data.vocabulary_size=20"]
    costs.measure(costs.settled("full", 128, small), seconds=0.01)
    assert lengths[-1] == 128


def test_the_table_has_a_dash_for_what_did_not_survive():
    asked = Asked(["full", "linear"], [64, 128], [])
    found = {
        ("full", 64): Cost(1000.0, 20.0),
        ("full", 128): None,
        ("linear", 64): Cost(900.0, 10.0),
        ("linear", 128): Cost(901.0, 11.0),
    }
    head, _, full, linear = costs.table(asked, found)
    assert head == (
        "| attention | tokens/s at 64 | tokens/s at 128 | MB at 64 | MB at 128 |"
    )
    assert full == "| full | 1000 | - | 20 | - |"
    assert linear == "| linear | 900 | 901 | 10 | 11 |"
