"""The model card of a run: what it is, how it was made, what it reached."""

from typing import Any

from applications import markdown
from applications.pipeline import files
from applications.pipeline.config import format_value, settings
from applications.pipeline.run import Run


def write(run: Run, about: str, config: Any) -> None:
    """Replace `card.md` by one that holds all the run's metrics so far.

    Args:
        run: The run.
        about: The application's Markdown: intended use, data, its licence, limits.
        config: The run's config.
    """
    command = f"python -m applications.{run.application}"
    parts = [
        f"# {run.application}: {run.name}",
        about.strip(),
        *_results(run.results()),
        "## Use",
        f"    {command} predict run={run.name} input=...",
        *_saved_model(run),
        f"## Settings\n\nPreset `{run.preset}`, resolved; `{command} --help` says what "
        "they mean.",
        _table(("setting", "value"), _setting_rows(config)),
    ]
    text = "\n\n".join(part for part in parts if part)
    files.write_text(run.directory / "card.md", text + "\n")


def flatten(metrics: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested metrics by dotted names.

    Examples:
    >>> flatten({"bleu": 27.0, "copy": {"bleu": 2.5}})
    {'bleu': 27.0, 'copy.bleu': 2.5}
    """
    flat: dict[str, Any] = {}
    for name, value in metrics.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def format_metric(value: Any) -> str:
    """Return a metric with four significant digits; whole numbers and text as is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _results(entries: dict[str, dict[str, Any]]) -> list[str]:
    """A section per stage."""
    sections = []
    for stage, entry in entries.items():
        metrics, protocol = entry["metrics"], entry["protocol"]
        rows = [(n, format_metric(v)) for n, v in flatten(metrics).items()]
        sections += [
            f"## Results of {stage}",
            _table(("metric", "value"), rows),
            _conditions(protocol),
        ]
    return sections


def _conditions(protocol: dict[str, Any]) -> str:
    machine = protocol["machine"]
    changed = " ".join(protocol.get("changed", []))
    parts = [
        f"Measured {protocol['date']}",
        f"revision {protocol['revision'] or 'unknown'}",
        f"{machine['processor']}, {machine['cores']} cores",
        *machine["gpus"],
        *(f"{name} {version}" for name, version in protocol["versions"].items()),
        *([f"changed settings: {changed}"] if changed else []),
    ]
    return "; ".join(parts) + "."


def _saved_model(run: Run) -> list[str]:
    path = run.directory / "saved_model" / "1"
    if not path.exists():
        return []
    return ["`saved_model/1` is a TensorFlow SavedModel: `tf.saved_model.load`."]


def _setting_rows(config: Any) -> list[tuple[str, str]]:
    return [(s.key, format_value(s.value)) for s in settings(config).values()]


def _table(header: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    return "\n".join(markdown.table(header, rows))
