import pytest

from applications.datasets.errors import DataError
from applications.datasets.interaction_builder import PART, InteractionBuilder
from applications.datasets.interactions import Interaction, sequences

EVENTS = [
    Interaction(user, item, time, f"title of {item}")
    for user, times in (("b", (3, 1, 2)), ("a", (1, 2)))
    for item, time in zip("xyz", times, strict=False)
]


class ToyLog(InteractionBuilder):
    """A log of two users."""

    events = EVENTS

    def _log(self):
        return sequences(self.events), 7


def test_a_row_is_a_user(tmp_path):
    ToyLog(data_dir=tmp_path).download_and_prepare()
    builder = ToyLog(data_dir=tmp_path)  # as in a later process
    rows = list(builder.as_dataset(split=PART).as_numpy_iterator())
    assert [row["user"] for row in rows] == [b"a", b"b"]
    assert [row["items"].tolist() for row in rows] == [[1, 2], [2, 3, 1]]
    assert [row["times"].tolist() for row in rows] == [[1, 2], [1, 2, 3]]
    assert dict(builder.info.metadata.items()) == {
        "names": ["", "x", "y", "z"],
        "titles": ["", "title of x", "title of y", "title of z"],
        "missing": 7,
        "repeated": 0,
    }


def test_a_log_without_anyone_to_test_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(ToyLog, "events", EVENTS[3:])
    with pytest.raises(DataError, match="toy_log has no user with three items"):
        ToyLog(data_dir=tmp_path).download_and_prepare()
