"""Runs as if they had been trained and evaluated."""

from applications.pipeline import run as runs
from applications.pipeline.config import override
from applications.speech_recognition.evaluation import TRANSCRIPTS
from applications.speech_recognition.presets import PRESETS
from applications.text import answers
from keras_attention import metrics

REFERENCES = [f"text number {number}" for number in range(10, 30)]


def evaluated(root, wrong, settings=(), references=REFERENCES, minutes=80.0):
    """A run of the `compare` preset that gets nothing of its first `wrong` texts."""
    config = override(PRESETS["compare"], settings)
    run = runs.create(root, "speech_recognition", "compare", config)
    run.record(
        "train", {"seconds": 90.0, "clips": 1200, "minutes_of_speech": minutes}, {}
    )
    texts = ["" if row < wrong else text for row, text in enumerate(references)]
    rates = {
        "cer": metrics.character_error_rate(texts, references),
        "wer": metrics.word_error_rate(texts, references),
    }
    values = {name: rate.value for name, rate in rates.items()}
    for name, rate in rates.items():
        interval = metrics.error_rate_interval(rate)
        values[f"{name}_interval"] = {"low": interval.low, "high": interval.high}
    values |= {
        "greedy": {"cer": 0.5, "wer": 0.6},
        "parameters": 1234,
        "seconds_per_second_of_sound": 0.25,
        "diagonality": {"attention head 0": 0.6, "attention head 1": 0.8, "CTC": 0.9},
        "baselines": {
            "empty_output": {"cer": 1.0, "wer": 1.0},
            "most_frequent_text": {"cer": 0.2, "wer": 1 / 3, "text": "text number 1"},
        },
    }
    run.record("evaluate", values, {})
    columns = {"key": references, "reference": references, "recognized": texts}
    answers.write(run, TRANSCRIPTS, columns)
    return run


def cells(line):
    """Those of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip("|").split("|")]
