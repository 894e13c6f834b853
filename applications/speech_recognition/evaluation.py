"""How good the texts are: error rates over the whole test split, beside baselines."""

import time
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from applications.errors import UserError
from applications.pipeline.finite import require_finite
from applications.pipeline.run import Run
from applications.speech_recognition.alignment import diagonalities
from applications.speech_recognition.data import SpeechData
from applications.speech_recognition.presets import SpeechConfig
from applications.speech_recognition.recognizer import Recognizer
from applications.text import answers
from keras_attention import metrics

TRANSCRIPTS = "transcripts.tsv"

_TIMED = 20


def evaluate(
    config: SpeechConfig, data: SpeechData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Metrics over the whole test split; writes all texts beside them.

    Raises:
        UserError: The model gives NaN.
    """
    recognizer, test = Recognizer(model, data), data.clips("test")
    require_finite(run, recognizer.memory(test.frames[:1]), "clips")
    texts = {search: recognizer(test.frames, search) for search in recognizer.searches}
    beam = texts.pop("beam")
    if config == run.config(type(config)):  # else they are not those of the table
        columns = {"key": test.keys, "reference": test.texts, "recognized": beam}
        answers.write(run, TRANSCRIPTS, columns)
    results = {
        "clips": len(test.texts),
        "protocol": {
            "search": _search(recognizer),
            "units": "characters with blanks, and words, summed over all clips",
            "intervals": "95 %, 1000 draws of clips",
        },
        **_with_intervals(beam, test.texts),
        "right_texts": float(np.mean(np.array(beam) == np.array(test.texts))),
        **{search: rates(found, test.texts) for search, found in texts.items()},
        **_beside_baselines(beam, test.texts, data.learned.most_frequent_text),
        "impossible_labels": data.impossible("test"),
        "parameters": model.count_params(),
        "seconds_per_second_of_sound": _real_time(recognizer, data, test.frames),
    }
    found = diagonalities(recognizer, test.frames, beam)
    if found:
        results["diagonality"] = found
    return results


def rates(texts: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """Error rates of characters and words."""
    return {
        "cer": metrics.character_error_rate(texts, references).value,
        "wer": metrics.word_error_rate(texts, references).value,
    }


def _with_intervals(texts: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """The same, with how far they may be chance, and which errors they are."""
    found = {
        "cer": metrics.character_error_rate(texts, references),
        "wer": metrics.word_error_rate(texts, references),
    }
    results: dict[str, Any] = {}
    for name, rate in found.items():
        interval = metrics.error_rate_interval(rate)
        results[name] = rate.value
        results[f"{name}_interval"] = {"low": interval.low, "high": interval.high}
        results[f"{name}_errors"] = {
            "substitutions": rate.substitutions,
            "deletions": rate.deletions,
            "insertions": rate.insertions,
        }
    return results


def baselines(count: int, most_frequent_text: str) -> dict[str, list[str]]:
    """What needs no hearing: nothing, and what training says most often."""
    return {
        "empty_output": [""] * count,
        "most_frequent_text": [most_frequent_text] * count,
    }


def _beside_baselines(
    texts: Sequence[str], references: Sequence[str], most_frequent_text: str
) -> dict[str, Any]:
    """Error rates of the baselines, and how far from each in CER the model is."""
    own = metrics.character_error_rate(texts, references)
    found: dict[str, Any] = {"baselines": {}}
    for name, said in baselines(len(references), most_frequent_text).items():
        found["baselines"][name] = rates(said, references)
        other = metrics.character_error_rate(said, references)
        gap = metrics.error_rate_difference(own, other)
        found[f"cer_difference_to_{name}"] = gap._asdict()
    found["baselines"]["most_frequent_text"]["text"] = most_frequent_text
    return found


def _search(recognizer: Recognizer) -> str:
    """How `beam` searches, in words."""
    settings, objective = recognizer.settings, recognizer.model.objective
    if objective == "ctc":
        return f"prefix beam {settings.num_beams}"
    words = f"beam {settings.num_beams}, length penalty {settings.length_penalty:g}"
    words += f", at most {settings.max_length} characters"
    if objective == "joint":
        words += f", CTC weight {settings.ctc_weight:g}"
    return words


def _real_time(
    recognizer: Recognizer, data: SpeechData, clips: Sequence[np.ndarray]
) -> float:
    """From the frames of one clip to its text; the median of time over length."""
    hop = data.config.front_end.hop_milliseconds / 1000
    taken = []
    for clip in clips[:_TIMED]:
        began = time.perf_counter()
        recognizer([clip])
        taken.append((time.perf_counter() - began) / (hop * len(clip)))
    return float(np.median(taken))


def read_transcripts(run: Run) -> tuple[list[str], list[str], list[str]]:
    """Keys, references and recognized texts of an evaluated run.

    Raises:
        UserError: It was evaluated with other settings than its own only.
    """
    if not run.path(TRANSCRIPTS).exists():
        raise UserError(
            f"{run.name} has no {TRANSCRIPTS}: evaluate it without changed settings."
        )
    return answers.read(run, TRANSCRIPTS)
