from dataclasses import replace

import pytest

from applications.language_modeling import networks
from applications.language_modeling.continuation import Continuation
from applications.language_modeling.streaming import Stream
from applications.language_modeling.tokens import ByteTokens
from tests.applications.language_modeling.conftest import SMOKE
from tests.applications.untrained import restarted


@pytest.fixture(scope="module")
def continuation():
    """Of ASCII letters only, so that each token can be shown."""
    model = restarted(networks.build(SMOKE, 260))
    decode = replace(SMOKE.decode, min_length=8, no_repeat_ngram=1)
    return Continuation(model, ByteTokens(), decode, SMOKE.data.length)


@pytest.mark.parametrize("search", ["sample", "greedy"])
def test_pieces_make_the_whole_continuation(continuation, search):
    stream = Stream(continuation, search)
    for text in ("Open the", ""):
        pieces = list(stream(text, 3))
        assert len(pieces) > 2
        assert ["".join(pieces)] == continuation([text], search, 3)


def test_a_listener_may_leave(continuation):
    stream = Stream(continuation, "greedy")
    pieces = stream("Open", 3)
    first = next(pieces)
    pieces.close()
    assert "".join(stream("Open", 3)).startswith(first)


def test_what_goes_wrong_is_raised_here(continuation, monkeypatch):
    stream = Stream(continuation, "greedy")

    def fail(*arguments):
        raise ValueError("no room")

    monkeypatch.setattr(stream, "_run", fail)
    with pytest.raises(ValueError, match="no room"):
        list(stream("Open", 3))
