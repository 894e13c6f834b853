import json
from typing import get_args

import numpy as np
import pytest

from applications.pipeline import run as runs
from applications.pipeline.config import override
from applications.recommendation import compare, scores
from applications.recommendation.presets import PRESETS, Kind
from applications.recommendation.ranking import Ranking
from keras_attention.metrics import Ranks

pytest.importorskip("scipy")

TARGETS = np.arange(100)


def ranks(hits):
    """The first users have the first rank, the others none of the first ten."""
    return Ranks(np.where(hits > TARGETS, 0, 20), np.ones(100, int))


@pytest.fixture
def evaluated(root):
    """Makes runs of the preset as if they had been trained."""

    def make(kind, seed, hits):
        config = override(
            PRESETS["compare"], [f"model.kind={kind}", f"train.seed={seed}"]
        )
        run = runs.create(root, "recommendation", "compare", config)
        run.record("train", {"seconds": 60.0 + seed}, {})
        entry = {
            "sampled_100_negatives": {
                "ndcg_10": {"value": 0.5 + 0.1 * seed},
                "hit_rate_10": {"value": 0.8},
            },
            "coverage_10": 0.25,
            "popularity_bias_10": 0.125,
        }
        beside = {"popularity": entry, "item_knn": entry}
        values = {**entry, "baselines": beside, "parameters": 1234}
        run.record("evaluate", values, {})
        found = {
            name: Ranking(ranks(count), ranks(count), np.zeros((100, 10), int))
            for name, count in (("model", hits), ("popularity", 5), ("item_knn", 8))
        }
        scores.keep(run, config, found, targets=TARGETS)

    return make


@pytest.fixture
def peer(tmp_path, monkeypatch):
    """Where RecBole's results are."""
    path = tmp_path / "peer.json"
    monkeypatch.setattr(compare, "PEER", path)
    return path


def recbole(targets, max_length=50):
    one = {"above": [0] * 12 + [30] * 88, "tied": [1] * 100}
    made = [{**one, "parameters": 99, "seconds": 100 + seed} for seed in (0, 1)]
    data = {"max_length": max_length}
    content = {"version": "1.2.1", "targets": targets, "data": data, "seeds": made}
    return json.dumps(content)


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_every_kind_of_the_model_is_there():
    assert set(compare.KINDS) == set(get_args(Kind))


def test_runs_that_are_there_make_the_table(evaluated, peer, capsys):
    peer.write_text(recbole(TARGETS.tolist()))
    for kind in compare.KINDS:
        for seed in range(3):
            evaluated(kind, seed, {"sasrec": 15 + seed}.get(kind, 10))
    assert compare.main([]) == 0
    head, _, popularity, knn, other, gru, *_, last = (
        capsys.readouterr().out.splitlines()
    )
    assert cells(head)[:3] == ["model", "NDCG@10, all items", "HR@10, all items"]
    assert "NDCG@10, all items, difference to SASRec of RecBole 1.2.1" in head
    assert "NDCG@10, 100 sampled" in head
    assert cells(popularity)[:4] == ["popularity", "0.0500", "0.0500", "-"]
    assert cells(knn)[:3] == ["item-kNN", "0.0800", "0.0800"]
    assert cells(other)[0] == "SASRec of RecBole 1.2.1"
    assert cells(other)[1] == "0.1200 [0.1200, 0.1200]"
    assert cells(other)[5:] == ["-", "-", "-", "-", "-", "99", "100"]
    assert cells(gru)[0] == "gru"
    assert cells(gru)[4] == "-"
    assert cells(gru)[5].startswith("-0.0200 [-0.")
    assert cells(gru)[6:] == ["0.6000", "0.8000", "0.25", "+0.12", "1,234", "61"]
    # Mean 16, standard error 1 / sqrt(3), t(0.975, 2) = 4.3027.
    assert cells(last)[:2] == ["sasrec", "0.1600 [0.1352, 0.1848]"]
    assert cells(last)[3].startswith("+0.1100 [+0.")
    assert cells(last)[4].startswith("+0.0600 [+0.")
    assert cells(last)[5].startswith("+0.0400 [+0.")


@pytest.mark.parametrize(
    "content", [None, recbole([1, 2]), recbole(TARGETS.tolist(), max_length=200)]
)
def test_without_a_peer_of_this_log_its_row_is_missing(peer, content, capsys):
    if content:
        peer.write_text(content)
    assert compare.peer(TARGETS.tolist(), 50, 10) == []
    assert ("is of another log or data" in capsys.readouterr().err) == bool(content)


def test_runs_of_other_users_are_refused(evaluated, peer, root, capsys):
    for seed in range(3):
        for kind in compare.KINDS:
            evaluated(kind, seed, 10)
    last = runs.all_of(root, "recommendation")[-1]
    with np.load(last.path(scores.RANKS)) as arrays:
        changed = {**arrays, "targets": TARGETS[::-1]}
    np.savez(last.path(scores.RANKS), **changed)
    assert compare.main([]) == 2
    assert "evaluated on other users" in capsys.readouterr().err
