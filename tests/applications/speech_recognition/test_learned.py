from dataclasses import replace

import numpy as np
import pytest

from applications.datasets.load_speech import SpeechSet
from applications.errors import UserError
from applications.pipeline import run as runs
from applications.speech_recognition import learned
from tests.applications.speech_recognition.conftest import COUNTS, SMOKE


@pytest.fixture
def config(make_data):
    return make_data().config


def changed(config, **changes):
    return replace(config, data=replace(config.data, **changes))


def test_what_is_learned_is_noted(config, root):
    found = learned.learn(config)
    assert found.characters == (" ", "a", "b", "c", "d")
    assert (found.clips, found.examples, found.too_long) == (40, 40, 0)
    assert found.impossible == 0
    run = runs.create(root, "speech_recognition", "smoke", config)
    learned.note(run, found)
    assert learned.noted(run) == found


def test_long_clips_are_left_out_and_counted(config):
    everything = learned.learn(config)
    mean = everything.seconds / everything.clips
    found = learned.learn(changed(config, max_seconds=mean))
    assert 0 < found.clips < COUNTS["train"]
    assert found.clips + found.too_long == COUNTS["train"]
    assert found.seconds / found.clips < mean
    with pytest.raises(UserError, match=r"training clips of at most 0\.01 seconds"):
        learned.learn(changed(config, max_seconds=0.01))


def test_a_share_has_fewer_clips_and_as_many_examples(config):
    found = learned.learn(changed(config, train_share=0.25, train_limit=36))
    assert (found.clips, found.examples) == (9, 36)
    assert found.seconds < learned.learn(config).seconds / 3
    assert learned.learn(changed(config, train_share=1e-9)).clips == 1


@pytest.mark.parametrize(
    ("rate", "samples", "text", "fits"),
    [
        # Half a second: 50 frames, 13 places.
        (16_000, 8_000, "a" * 7, True),  # 7 letters, 6 blanks between
        (16_000, 8_000, "a" * 8, False),
        (16_000, 8_000, "ab" * 6 + "a", True),
        (16_000, 8_000, "ab" * 7, False),
        (8_000, 4_000, "ab" * 6 + "a", True),
        (8_000, 4_000, "ab" * 7, False),
        (16_000, 0, "a", True),  # one place at least
        (16_000, 0, "ab", False),
    ],
)
def test_which_texts_fit(rate, samples, text, fits):
    found = learned.fitting(SMOKE, SpeechSet(rate, ""), [samples, 16_000], [text, "a"])
    np.testing.assert_array_equal(found, [fits, True])
