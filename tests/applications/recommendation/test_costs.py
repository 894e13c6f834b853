import pytest
import tensorflow as tf

from applications.errors import UserError
from applications.recommendation import costs
from applications.recommendation.costs import Asked, Cost

SMALL = [
    "model.hidden_dim=16",
    "model.num_layers=1",
    "data.max_length=6",
    "data.batch_size=4",
    "train.negatives=8",
]


@pytest.fixture
def eagerly(monkeypatch):
    """A function after which nothing is traced: that takes most of the time.

    Batches come from tf.data, which always traces, so they are made before.
    """

    def from_now_on(config, *sizes):
        made = {rows: costs._batch(config, 300, rows) for rows in sizes}
        monkeypatch.setattr(costs, "_batch", lambda config, items, rows: made[rows])
        tf.config.run_functions_eagerly(True)

    yield from_now_on
    tf.config.run_functions_eagerly(False)


def test_parsed():
    asked = costs.parsed(["items=300,1000", "losses=sampled", "model.dropout=0"])
    assert asked == Asked(["sampled"], [300, 1000], ["model.dropout=0"])
    assert costs.parsed([]) == Asked(["full", "sampled"], [*costs.ITEMS], [])


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("losses=ful", "Unknown loss 'ful'. Did you mean 'full'?"),
        ("items=8", "`items` must be integers above `data.max_length`"),
        ("items=50", "`items` must be integers above `data.max_length`"),
        ("items=1e6", "`items` must be integers above `data.max_length`"),
        ("model.heads=2", "Unknown setting 'model.heads'"),
    ],
)
def test_mistakes_are_one_line(argument, words):
    with pytest.raises(UserError) as error:
        costs.parsed([argument])
    assert words in str(error.value)


@pytest.mark.parametrize("loss", costs.LOSSES)
def test_measured_in_this_process(eagerly, loss):
    config = costs.settled(loss, SMALL)
    eagerly(config, costs._WARM_UP, config.data.batch_size)
    cost = costs.measure(config, 300, seconds=0.01)
    assert 0 < cost.seconds < 60
    assert cost.megabytes >= 0
    assert cost.parameters > 301 * 16


def test_batches_are_those_of_training():
    inputs, labels = costs._batch(costs.settled("sampled", SMALL), 300, 4)
    assert inputs["items"].shape == labels.shape == (4, 6)
    assert inputs["negatives"].shape == (4, 8)
    inputs, _ = costs._batch(costs.settled("full", SMALL), 300, 4)
    assert set(inputs) == {"items"}


def test_the_table_has_a_dash_for_what_did_not_survive():
    asked = Asked(["full", "sampled"], [1000, 1_000_000], [])
    found = {
        ("full", 1000): Cost(0.25, 200.0, 64_000),
        ("sampled", 1000): Cost(0.125, 100.0, 64_000),
        ("full", 1_000_000): None,
        ("sampled", 1_000_000): Cost(1.5, 900.0, 64_000_000),
    }
    head, _, small, large = costs.table(asked, found)
    assert head == (
        "| items | parameters | seconds a step, full | seconds a step, sampled "
        "| MB, full | MB, sampled |"
    )
    assert small == "| 1,000 | 64,000 | 0.250 | 0.125 | 200 | 100 |"
    assert large == "| 1,000,000 | 64,000,000 | - | 1.500 | - | 900 |"
