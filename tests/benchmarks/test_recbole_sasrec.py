"""What is ours of the comparison with RecBole, which is not installed here."""

import importlib.util
import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from applications.errors import UserError
from applications.recommendation import compare
from benchmarks.recbole_sasrec import __main__ as command
from keras_attention import metrics

HISTORIES = [np.array([3, 1, 2, 5]), np.array([4, 2, 6]), np.array([1, 2])]


@pytest.fixture
def worker(monkeypatch):
    """The module of the other environment, with nothing behind its imports."""
    names = {
        "recbole": (),
        "recbole.config": ("Config",),
        "recbole.data": ("create_dataset", "data_preparation"),
        "recbole.data.interaction": ("Interaction",),
        "recbole.model": (),
        "recbole.model.sequential_recommender": ("SASRec",),
        "recbole.trainer": ("Trainer",),
        "recbole.utils": ("init_seed",),
        "torch": (),
    }
    for name, members in names.items():
        module = ModuleType(name)
        vars(module).update(dict.fromkeys(members))
        monkeypatch.setitem(sys.modules, name, module)
    path = command._HERE / "worker.py"
    spec = importlib.util.spec_from_file_location("recbole_worker", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_log_keeps_the_order(worker, tmp_path):
    """In the place of times, so that a sort of any kind changes nothing."""
    command.write_log(tmp_path, HISTORIES)
    path = tmp_path / "log" / "log.inter"
    lines = path.read_text().splitlines()
    assert lines[:3] == [
        "user_id:token\titem_id:token\ttimestamp:float",
        "0\t3\t0",
        "0\t1\t1",
    ]
    assert worker.read(path) == [items.tolist() for items in HISTORIES]


@pytest.mark.parametrize("place", [-1, -2])
def test_the_rule_for_seen_items_is_ours(worker, monkeypatch, place):
    """Ranks by RecBole's numbers of the items are those that we would give."""
    numbers = np.array([0, 4, 6, 1, 2, 5, 3])  # of items 0 to 6
    scores = np.random.default_rng(0).integers(0, 3, (2, 7)).astype("float32")
    asked = []

    def given(model, histories, max_length):
        asked.extend(histories)
        return scores.copy()

    monkeypatch.setattr(worker, "_scores", given)
    model = SimpleNamespace(eval=lambda: None)
    histories = [items.tolist() for items in HISTORIES]
    above, tied = worker.ranks(model, histories, numbers, place, 50)
    tested = HISTORIES[:2]  # with three items or more
    for one, items in zip(asked, tested, strict=True):
        assert one.tolist() == numbers[items[:place]].tolist()
    ours = scores[:, numbers]
    excluded = np.zeros(ours.shape, bool)
    excluded[:, 0] = True
    for row, items in zip(excluded, tested, strict=True):
        row[items[:place]] = True
    targets = [items[place] for items in tested]
    expected = metrics.ranks(ours, targets, excluded)
    np.testing.assert_array_equal([above, tied], expected)
    np.testing.assert_allclose(worker.gains(above, tied, 3), expected.gains(3))


def test_items_are_renumbered_by_their_names(worker):
    dataset = SimpleNamespace(
        iid_field="item_id", field2token_id={"item_id": {"[PAD]": 0, "2": 1, "1": 2}}
    )
    assert worker.numbering(dataset, 3).tolist() == [0, 2, 1, 0]


def test_what_is_written_stands_in_the_table(tmp_path, monkeypatch, capsys):
    path = tmp_path / "results" / "peer.json"
    made = {
        "seed": 0,
        "seconds": 60.0,
        "parameters": 1000,
        "above": [0, 4],
        "tied": [1, 1],
        "versions": {"recbole": "1.2.1", "torch": "2"},
    }
    numbers, config = command.parsed(["seeds=1", "data.max_length=20"])
    command.write(path, [5, 6], config, numbers, [made])
    monkeypatch.setattr(compare, "PEER", path)
    (found,) = compare.peer([5, 6], 20, 10)
    assert found.name == "SASRec of RecBole 1.2.1"
    assert found.hits.tolist() == [[1, 1]]
    assert found.gains[0] == pytest.approx([1, 1 / np.log2(6)])
    assert found.values == {"parameters": 1000, "seconds": 60}
    content = json.loads(path.read_text())
    assert content["data"]["max_length"] == 20
    assert content["protocol"]["peer"]["torch"] == "2"


def test_arguments():
    numbers, config = command.parsed(["seeds=2", "data.name=my.csv"])
    assert numbers == {"seeds": 2, "epochs": 300, "patience": 10}
    assert config.data.name == "my.csv"


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("seeds=0", "`seeds` must be an integer above 0. Received: 0."),
        ("model.kind=gru", "Expected seeds, epochs, patience or a setting of the data"),
        ("data.nam=x", "Unknown setting 'data.nam'. Did you mean 'data.name'?"),
    ],
)
def test_mistakes_are_one_line(argument, words):
    with pytest.raises(UserError) as error:
        command.parsed([argument])
    assert words in str(error.value)


def test_an_environment_that_cannot_be_made_is_one_line(tmp_path, monkeypatch):
    asked = []

    def run(arguments, check):
        asked.append(arguments)
        return SimpleNamespace(returncode=len(asked) - 1)

    monkeypatch.setattr(command.subprocess, "run", run)
    with pytest.raises(UserError, match=r"could not be made.*Python 3\.11 or older"):
        command.environment(tmp_path / "made")
    assert asked[0][1:3] == ["-m", "venv"]
    assert asked[1][-2:] == ["-r", str(command._HERE / "requirements.txt")]
