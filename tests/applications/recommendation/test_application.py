"""The whole application, as a user meets it."""

import os

import numpy as np
import pytest

from applications.pipeline import run as runs
from applications.pipeline.config import override
from applications.recommendation import compare, scores
from applications.recommendation.application import Recommendation
from tests.applications.command_line import assert_holds, history
from tests.applications.recommendation.conftest import (
    CATALOGUE,
    ITEMS,
    SMOKE,
    recommend,
)

NUMBERS = {
    "users",
    "items",
    "full_ranking",
    "sampled_100_negatives",
    "coverage_10",
    "popularity_percentile_10",
    "popularity_percentile_taken",
    "popularity_bias_10",
    "baselines",
    "deletion_test",
    "parameters",
    "users_per_second",
}


@pytest.mark.slow
def test_all_stages_of_the_smoke_preset(smoke, capsys):
    printed = recommend.told(smoke, capsys)
    assert (
        "60 users took 420 training items of 20, in 60 rows and 4" in printed["train"]
    )
    assert "left out: 1 rows with a value missing, 1 repeated" in printed["train"]
    assert "full_ranking.ndcg_10.value: " in printed["evaluate"]
    assert "sampled_100_negatives.ndcg_10.value: " in printed["evaluate"]
    warm, cold = printed["predict"].splitlines()
    for line, few in ((warm, 10), (cold, 10)):
        found = [one.rsplit(" ", 2) for one in line.split("; ")]
        assert len(found) == few
        for title, name, score in found:
            assert CATALOGUE.titles[CATALOGUE.names.index(name[1:-1])] == title
            assert np.isfinite(float(score))
    assert not {"[101]", "[102]", "[103]"} & set(warm.split())
    assert "SavedModel alone equals this process on" in printed["export"]
    (picture,) = printed["explain"].splitlines()
    assert picture.endswith("history-1.png")
    assert os.path.getsize(picture) > 10_000


@pytest.mark.slow
def test_what_a_run_directory_holds(smoke_run):
    assert_holds(smoke_run, "catalogue.json", "ranks.npz")
    assert smoke_run.config(type(SMOKE)).model == SMOKE.model
    rows = history(smoke_run)
    assert {"loss", "val_ndcg", "val_hit_rate"} <= set(rows[0])
    assert float(rows[1]["loss"]) < float(rows[0]["loss"])
    metrics = smoke_run.metrics()["evaluate"][0]["metrics"]
    assert set(metrics) == NUMBERS
    assert (metrics["users"], metrics["items"]) == (60, ITEMS)
    assert set(metrics["baselines"]) == {"popularity", "item_knn"}
    best = smoke_run.metrics()["train"][0]["metrics"]
    assert best["val_ndcg"] == max(float(row["val_ndcg"]) for row in rows)
    kept = scores.kept(smoke_run)
    assert set(kept) == {"model", "popularity", "item_knn"}
    stated = metrics["full_ranking"]["ndcg_10"]
    assert stated["value"] == pytest.approx(kept["model"].gains(10).mean())
    assert stated["low"] <= stated["value"] <= stated["high"]


@pytest.mark.slow
def test_the_saved_model_of_the_smoke_run(smoke_run):
    import tensorflow as tf

    loaded = tf.saved_model.load(str(smoke_run.path("saved_model", "1")))
    assert set(loaded.signatures) == {
        "serving_default",
        "recommend",
        "recommend_titles",
    }
    items = np.array([[3, 4, 5, 0], [0, 0, 0, 0], [0, 0, 9, 1]], "int32")
    numbers = loaded.signatures["serving_default"](items=tf.constant(items))
    ids = numbers["items"].numpy()
    assert ids.shape == (3, 10)
    assert ids.min() > 0
    assert not {3, 4, 5} & {*ids[0]}
    assert not {9, 1} & {*ids[2]}
    names = np.array(CATALOGUE.names, object)[items]
    named = loaded.signatures["recommend_titles"](names=tf.constant(names))
    for row, one in zip(ids, named["titles"].numpy(), strict=True):
        assert [title.decode() for title in one] == [CATALOGUE.titles[i] for i in row]
    np.testing.assert_allclose(named["scores"], numbers["scores"])
    unknown = loaded.signatures["recommend"](items=tf.constant([[ITEMS + 1, -1]]))
    np.testing.assert_array_equal(unknown["items"][0], ids[1])
    unknown = loaded.signatures["recommend_titles"](names=tf.constant([["no film"]]))
    np.testing.assert_array_equal(unknown["titles"][0], named["titles"][1])


@pytest.mark.slow
def test_another_log_is_refused(smoke_run, tmp_path, capsys):
    path = tmp_path / "mine.csv"
    rows = "".join(f"u,{item},{item}\n" for item in (101, 102, 999))
    path.write_text("user,item,time\n" + rows)
    name = f"data.name={path}"
    line = recommend.refused(capsys, "evaluate", "--preset", "smoke", name)
    assert "are not those the model was trained on: 1 new, such as '999'" in line
    assert "; 18 gone, such as '103'. Train a new run." in line


@pytest.mark.slow
def test_evaluate_of_other_settings_leaves_the_ranks(smoke_run, capsys):
    before = smoke_run.path(scores.RANKS).stat().st_mtime_ns
    arguments = ["evaluation.top_k=5", "data.user_limit=20"]
    assert recommend("evaluate", "--preset", "smoke", *arguments) == 0
    assert smoke_run.path(scores.RANKS).stat().st_mtime_ns == before
    metrics = smoke_run.metrics()["evaluate"][-1]["metrics"]
    assert metrics["users"] == 20
    assert "hit_rate_5" in metrics["full_ranking"]


@pytest.mark.slow
def test_a_real_run_has_what_the_table_shows(smoke_run, settings, monkeypatch, capsys):
    """The smoke run is that of seed 0; another stands in for that of seed 1."""
    pytest.importorskip("scipy")
    monkeypatch.setattr(compare, "KINDS", (SMOKE.model.kind,))
    monkeypatch.setattr(compare, "PRESET", "smoke")
    monkeypatch.setattr(compare, "PEER", smoke_run.path("none.json"))
    root = smoke_run.directory.parents[1]
    other = override(SMOKE, [*settings, "train.seed=1"])
    other = runs.create(root, "recommendation", "smoke", other)
    for name in ("metrics.json", scores.RANKS):
        other.path(name).write_bytes(smoke_run.path(name).read_bytes())
    assert compare.main(["seeds=2", *settings]) == 0
    _, _, popularity, neighbours, row = capsys.readouterr().out.splitlines()
    measured = smoke_run.results()["evaluate"]["metrics"]
    ndcg = f"{measured['full_ranking']['ndcg_10']['value']:.4f}"
    assert f"| sasrec | {ndcg} [{ndcg}, {ndcg}] |" in row
    gap = measured["baselines"]["popularity"]["differences"]["ndcg_10"]["value"]
    assert f"| {gap:+.4f} [" in row
    assert popularity.startswith("| popularity | ")
    assert neighbours.startswith("| item-kNN | ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --preset smal", "Unknown preset 'smal'. Did you mean 'small'?"),
        ("train --preset smoke model.kind=lstm", "`model.kind` must be one of sasrec"),
        ("train --preset smoke data.name=missing.csv", "missing.csv cannot be read"),
        (
            "train --preset smoke data.name=movielens_1m",
            "Did you mean 'movielens_100k'",
        ),
        ("train --preset smoke model.attention=linea", "Did you mean 'linear'?"),
        ("evaluate --preset smoke", "There is no trained run of preset 'smoke'"),
    ],
)
def test_bad_input_is_one_line(root, tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in recommend.refused(capsys, *arguments.split())
    assert recommend.listing(root) == []


def test_an_unknown_item_is_one_line(config, data, make_model):
    from applications.errors import UserError

    answers = Recommendation().predict(config, data, make_model(), ["101,7"])
    with pytest.raises(UserError, match=r"There is no item '7'.*such as 101,102,103"):
        list(answers)
