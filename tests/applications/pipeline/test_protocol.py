import datetime
import json
import subprocess

import pytest

from applications.pipeline import protocol as module
from applications.pipeline.protocol import protocol


def test_protocol_says_when_where_and_with_what():
    found = protocol()
    date = datetime.datetime.fromisoformat(found["date"])
    now = datetime.datetime.now(datetime.timezone.utc)
    assert datetime.timedelta() <= now - date < datetime.timedelta(minutes=1)
    assert found["machine"]["cores"] >= 1
    assert {"python", "keras", "tensorflow"} <= set(found["versions"])
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    "failure", [FileNotFoundError(), subprocess.TimeoutExpired("git", 10)]
)
def test_without_git_there_is_no_revision(monkeypatch, failure):
    def fail(*args, **kwargs):
        raise failure

    monkeypatch.setattr(module.subprocess, "run", fail)
    assert protocol()["revision"] is None


def test_the_revision_is_what_git_describes(monkeypatch):
    answer = subprocess.CompletedProcess([], 0, stdout="abc123-dirty\n")
    monkeypatch.setattr(module.subprocess, "run", lambda *a, **k: answer)
    assert protocol()["revision"] == "abc123-dirty"


def test_a_package_that_is_not_there_is_left_out(monkeypatch):
    monkeypatch.setattr(module, "_PACKAGES", ("keras", "no-such-package"))
    assert set(protocol()["versions"]) == {"python", "keras"}
