import numpy as np
import pytest

from applications.errors import UserError
from applications.pipeline.run import Run
from applications.text import pictures
from applications.text.alignment import Alignment
from keras_attention import models


def test_a_picture_for_each_layer_that_is_asked_for(tmp_path):
    run = Run(tmp_path / "run")
    scores = np.full((2, 1, 2), 0.5)
    alignment = Alignment(["a", "b"], ["c"], {"decoder_0": scores, "decoder_1": scores})
    drawn = pictures.draw_heads(run, "name", "x" * 99, alignment, ["decoder_1"])
    assert drawn == [run.path("figures", "name-decoder_1.png")]
    assert drawn[0].stat().st_size > 1000
    assert len(pictures._shown("x" * 99)) == 80


def test_examples_are_the_first_that_can_be_read():
    texts = [str(i) for i in range(9)]
    assert pictures.examples(texts, lambda text: int(text) > 4) == ["5", "6", "7"]
    assert pictures.examples(texts, lambda text: False) == ["0", "1", "2"]


def test_what_has_nothing_to_show():
    looking, blind = (models.RecurrentSeq2Seq(9, 4, x) for x in ("additive", "none"))
    pictures.require_something_to_show(looking, ["Open."])
    with pytest.raises(UserError, match="without attention has nothing to show"):
        pictures.require_something_to_show(blind, ["Open."])
    with pytest.raises(UserError, match="blank text has nothing to show"):
        pictures.require_something_to_show(looking, ["Open.", " "])
