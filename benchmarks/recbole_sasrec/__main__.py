"""`python -m benchmarks.recbole_sasrec [seeds=3] [epochs=300] [patience=10] [data...]`:
RecBole's SASRec, trained on our split until its validation NDCG@10 stops improving.

Makes the environment `.venv-recbole` where there is none, writes the log as RecBole
reads it, trains once for every seed with RecBole's own model, trainer and settings, and
writes `benchmarks/results/recbole_sasrec.json`, which `applications.recommendation.
compare` shows beside our models. The same are: users, items, their order (ours stands
in the place of the times, so that ties are no question), what is held out, how many
items are read, and that items a user took are left out of the ranking, in validation
too, where RecBole leaves them in for models of sequences. One thing is not, in logs
other than MovieLens: of a user with just three items RecBole learns the validation item
too. `data.name=...` and the other settings of the data are those of our `compare`
preset, and `data.max_length` may be changed. An epoch takes minutes on two cores.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from applications.errors import UserError
from applications.pipeline import cli, files, quiet
from applications.pipeline.config import override, to_dict
from applications.pipeline.protocol import protocol
from applications.recommendation.compare import PEER, PRESET
from applications.recommendation.presets import PRESETS, RecommendationConfig

_HERE = Path(__file__).parent
_CHECKOUT = _HERE.parents[1]
_ENVIRONMENT = _CHECKOUT / ".venv-recbole"
_DEFAULTS = {"seeds": 3, "epochs": 300, "patience": 10}


def main(arguments: Sequence[str]) -> int:
    """Measure and write; returns the exit code."""
    return cli.on_runs(str(__doc__), arguments, _run)


def _run(arguments: Sequence[str]) -> None:
    numbers, config = parsed(arguments)
    python = environment(_ENVIRONMENT)
    with quiet.startup():
        from applications.recommendation.data import RecommendationData, read

        catalogue = read(config.data).log.catalogue
        data = RecommendationData(config, catalogue)
        targets = data.held_out("test").targets.tolist()
        histories = data.histories
    made = []
    with tempfile.TemporaryDirectory() as folder:
        write_log(Path(folder), histories)
        for seed in range(numbers["seeds"]):
            asked = {
                "folder": folder,
                "items": catalogue.num_items,
                "max_length": config.data.max_length,
                "seed": seed,
                "epochs": numbers["epochs"],
                "patience": numbers["patience"],
                "k": config.evaluation.top_k,
            }
            made.append(trained(python, asked))
            write(PEER, targets, config, numbers, made)
    print(f"Written to {PEER}.")


def parsed(arguments: Sequence[str]) -> tuple[dict[str, int], RecommendationConfig]:
    """The numbers of this command, and our settings of the data.

    Raises:
        UserError: A number or a setting is none, or is not of the data.
    """
    numbers, settings = dict(_DEFAULTS), []
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key in numbers:
            if not value.isdecimal() or int(value) < 1:
                raise UserError(
                    f"`{key}` must be an integer above 0. Received: {value}."
                )
            numbers[key] = int(value)
        elif key.startswith("data."):
            settings.append(argument)
        else:
            raise UserError(
                f"Expected {', '.join(numbers)} or a setting of the data such as "
                f"data.name=my.csv. Received: {argument!r}."
            )
    return numbers, override(PRESETS[PRESET], settings)


def environment(folder: Path) -> Path:
    """The Python of an environment with RecBole, made if it is not there.

    Raises:
        UserError: It cannot be made.
    """
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    if not stamp.exists():
        print(f"Installing into {folder} ...", file=sys.stderr)
        requirements = str(_HERE / "requirements.txt")
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install"]
        for command in (
            [sys.executable, "-m", "venv", str(folder)],
            [*pip, "--quiet", "-r", requirements],
        ):
            if subprocess.run(command, check=False).returncode:
                raise UserError(
                    f"{folder} could not be made; what failed stands above. RecBole "
                    "1.2.1 needs Python 3.11 or older."
                )
        stamp.touch()
    return python


def write_log(folder: Path, histories: Sequence[np.ndarray]) -> None:
    """Write histories as RecBole reads them: `folder/log/log.inter`.

    The place of an item in its history stands for the time.
    """
    lines = ["user_id:token\titem_id:token\ttimestamp:float"]
    lines += [
        f"{user}\t{item}\t{place}"
        for user, items in enumerate(histories)
        for place, item in enumerate(items)
    ]
    (folder / "log").mkdir()
    text = "\n".join(lines) + "\n"
    (folder / "log" / "log.inter").write_text(text, encoding="utf-8")


def trained(python: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Train and test one seed in the other environment; what it did goes to the screen.

    Raises:
        UserError: It failed.
    """
    answer = Path(asked["folder"]) / f"answer-{asked['seed']}.json"
    worker = _HERE / "worker.py"
    # Nothing of ours is importable there, and no GPU is used.
    surroundings = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    surroundings.pop("PYTHONPATH", None)
    process = subprocess.run(
        [str(python), "-I", str(worker), json.dumps(asked), str(answer)],
        env=surroundings,
        cwd=asked["folder"],
        check=False,
    )
    if process.returncode:
        raise UserError("RecBole's training failed; what it said stands above.")
    content: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return content


def write(
    path: Path,
    targets: Sequence[int],
    config: RecommendationConfig,
    numbers: dict[str, int],
    made: Sequence[dict[str, Any]],
) -> None:
    """Write what is measured so far: ranks of every test user, for each seed."""
    seeds = [
        {key: value for key, value in one.items() if key != "versions"} for one in made
    ]
    content = {
        "version": made[0]["versions"]["recbole"],
        "targets": list(targets),
        "data": to_dict(config)["data"],
        "asked": numbers,
        "seeds": seeds,
        "protocol": {**protocol(), "peer": made[0]["versions"]},
    }
    files.write_text(path, json.dumps(content) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
