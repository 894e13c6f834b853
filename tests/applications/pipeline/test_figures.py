from applications.pipeline import figures
from applications.pipeline import run as runs
from keras_attention.interpretation import plots
from tests.applications.pipeline.toy import PRESETS


def test_a_figure_takes_the_place_of_an_earlier_one(root):
    preset, config = next(iter(PRESETS.items()))
    run = runs.create(root, "toy", preset, config)
    figure = plots.heatmap([[1.0]], ["a"], ["b"])
    path = figures.save(run, "scores", figure)
    assert path == run.directory / "figures" / "scores.png"
    path.write_bytes(b"old")
    figures.save(run, "scores", figure)
    assert path.read_bytes()[:4] == b"\x89PNG"
    assert [found.name for found in path.parent.iterdir()] == ["scores.png"]
