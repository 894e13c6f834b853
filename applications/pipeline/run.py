"""A run directory: everything one training leaves behind, and how to find it again.

    saved_models/<application>/<run>/
      config.json       application, preset, resolved config, how it was started
      metrics.json      entries by stage, each with its protocol
      history.csv       a row per epoch
      model.keras       the best model
      figures/  saved_model/1/  card.md
      state/            what an exact resume needs
      logs/             for TensorBoard

Artifacts of the application (a vocabulary) stand beside these. Every write is atomic.
"""

import csv
import fcntl
import io
import json
import math
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from applications.errors import UserError, require_known
from applications.pipeline import files
from applications.pipeline.config import ConfigT, from_dict, to_dict
from applications.pipeline.protocol import protocol

ROOT_VARIABLE = "KERAS_ATTENTION_SAVED_MODELS"


def default_root() -> Path:
    """`saved_models/` of this checkout, or where the environment says."""
    checkout = Path(__file__).resolve().parents[2]
    return Path(os.environ.get(ROOT_VARIABLE) or checkout / "saved_models")


@dataclass(frozen=True)
class Run:
    """One run directory. Make it with `create` or `find`."""

    directory: Path

    @property
    def name(self) -> str:
        """The run's name, such as `small-001`."""
        return self.directory.name

    @property
    def application(self) -> str:
        """The application's name."""
        return self.directory.parent.name

    @property
    def preset(self) -> str:
        """The preset it was started from."""
        return str(self._about()["preset"])

    @property
    def model(self) -> Path:
        """The best model so far."""
        return self.directory / "model.keras"

    @property
    def state(self) -> Path:
        """What the last finished epoch left for an exact resume."""
        return self.directory / "state" / "training.npz"

    @property
    def logs(self) -> Path:
        """What TensorBoard reads."""
        return self.directory / "logs"

    def path(self, *parts: str) -> Path:
        """Return a path inside the run whose parent directory exists."""
        path = self.directory.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def config(self, cls: type[ConfigT]) -> ConfigT:
        """Return the config the run was started with, as class `cls`."""
        return from_dict(cls, self._about()["config"])

    def metrics(self) -> dict[str, list[dict[str, Any]]]:
        """Return the entries of `metrics.json` by stage, the newest last."""
        path = self.directory / "metrics.json"
        entries: dict[str, list[dict[str, Any]]] = {}
        if path.exists():
            entries = json.loads(path.read_text(encoding="utf-8"))
        return entries

    def results(self) -> dict[str, dict[str, Any]]:
        """Return the entry that counts of each stage.

        The newest that was measured with the run's own settings, or the newest of all
        where there is none.
        """
        return {
            stage: own_or_last(history) for stage, history in self.metrics().items()
        }

    def record(
        self, stage: str, metrics: dict[str, Any], conditions: dict[str, Any]
    ) -> None:
        """Add an entry to `metrics.json`.

        Args:
            stage: The stage that measured.
            metrics: Names to numbers, nested as the application likes.
            conditions: What the protocol must say beyond preset, date, revision,
                machine and versions.
        """
        entries = self.metrics()
        under = {"preset": self.preset, **conditions, **protocol()}
        entries.setdefault(stage, []).append({"metrics": metrics, "protocol": under})
        self._write_json("metrics.json", entries)

    def write_history(self, rows: Sequence[dict[str, float]]) -> None:
        """Replace `history.csv`. Floats are written so that they read back equal."""
        columns = dict.fromkeys(name for row in rows for name in row)
        text = io.StringIO()
        writer = csv.DictWriter(text, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        files.write_text(self.directory / "history.csv", text.getvalue())

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the run while training; a second training of it is refused.

        The system lets go of the lock when the process ends, however it ends.
        """
        with open(self.path("state", "lock"), "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError(
                    f"Run {self.name} is being trained by another process. Wait for "
                    "it, or start a new run without run=."
                ) from None
            yield

    def discard(self) -> None:
        """Remove the run and all it holds."""
        shutil.rmtree(self.directory)

    def _about(self) -> dict[str, Any]:
        path = self.directory / "config.json"
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return about

    def _write_json(self, name: str, content: Any) -> None:
        text = json.dumps(_plain(content), indent=2, allow_nan=False)
        files.write_text(self.directory / name, text + "\n")


def create(root: Path, application: str, preset: str, config: Any) -> Run:
    """Start the next run of a preset: `small-001`, `small-002`, ..."""
    home = root / application
    about = {
        "application": application,
        "preset": preset,
        "config": to_dict(config),
        "started": protocol(),
    }
    number = max((_number(path.name, preset) for path in _directories(home)), default=0)
    while True:
        number += 1
        run = Run(home / f"{preset}-{number:03d}")
        try:
            run.directory.mkdir(parents=True)
        except FileExistsError:  # another process was faster
            continue
        except OSError as error:
            raise UserError(
                f"Cannot make {run.directory}: {error.strerror}. Name another root "
                f"with {ROOT_VARIABLE}."
            ) from None
        run._write_json("config.json", about)
        return run


def find(
    root: Path, application: str, *, name: str | None = None, preset: str | None = None
) -> Run:
    """Return the run called `name`, or the newest of `preset` that has a model.

    Raises:
        UserError: There is no such run; the message names those there are.
    """
    runs = {run.name: run for run in all_of(root, application)}
    if name is not None:
        require_known(f"run of {application}", name, sorted(runs))
        return runs[name]
    trained = {
        number: run
        for run in runs.values()
        if (number := _number(run.name, preset or "")) and run.model.exists()
    }
    if not trained:
        raise UserError(
            f"There is no trained run of preset {preset!r} in {root / application}. "
            f"Train one: python -m applications.{application} train --preset {preset}"
        )
    return trained[max(trained)]


def _directories(home: Path) -> list[Path]:
    return [path for path in home.glob("*") if path.is_dir()]


def all_of(root: Path, application: str) -> list[Run]:
    """Return the runs of an application: directories that have a config."""
    found = _directories(root / application)
    return [Run(path) for path in found if (path / "config.json").exists()]


def _number(name: str, preset: str) -> int:
    """3 for `small-003` of preset `small`, 0 for other names."""
    match = re.fullmatch(rf"{re.escape(preset)}-(\d+)", name)
    return int(match[1]) if match else 0


def _plain(value: Any) -> Any:
    """Plain JSON: NumPy numbers become Python's; JSON has no NaN, so null stands in."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def own_or_last(history: list[dict[str, Any]]) -> dict[str, Any]:
    """The newest entry without changed settings, or the newest."""
    own = [entry for entry in history if not entry["protocol"].get("changed")]
    return (own or history)[-1]
