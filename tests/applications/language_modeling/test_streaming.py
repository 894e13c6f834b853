import pytest

from applications.language_modeling.streaming import Stream
from tests.backend import thorough_but


@pytest.fixture(scope="module")
def stream(continuation):
    return Stream(continuation, "sample")


@pytest.mark.parametrize("search", thorough_but(["sample"], ["sample", "greedy"]))
def test_pieces_make_the_whole_continuation(continuation, stream, search):
    stream = stream if search == "sample" else Stream(continuation, search)
    counts = []
    for text in (
        "Open the",
        "",
        "Caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{HOT BEVERAGE}",
    ):
        pieces = list(stream(text, 3))
        assert ["".join(pieces)] == continuation([text], search, 3)
        counts.append(len(pieces))
    assert max(counts) > 2  # bytes of no character come with what follows


def test_a_listener_may_leave(stream):
    pieces = stream("Open", 3)
    first = next(pieces)
    pieces.close()
    assert "".join(stream("Open", 3)).startswith(first)


def test_what_goes_wrong_is_raised_here(continuation, monkeypatch):
    stream = Stream(continuation, "sample")

    def fail(*arguments):
        raise ValueError("no room")

    monkeypatch.setattr(stream, "_run", fail)
    with pytest.raises(ValueError, match="no room"):
        list(stream("Open", 3))
