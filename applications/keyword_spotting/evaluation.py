"""How good the words are: figures over the whole test split, beside baselines."""

import time
from typing import Any

import keras
import numpy as np

from applications.classification import scores
from applications.keyword_spotting.baselines import most_frequent, nearest_mean
from applications.keyword_spotting.classifier import Classifier
from applications.keyword_spotting.data import ClipData
from applications.keyword_spotting.presets import KeywordSpottingConfig
from applications.pipeline.finite import require_finite
from applications.pipeline.run import Run
from keras_attention import metrics

_COMPARED = 10_000  # first training clips that the nearest pattern is sought among
_TIMED = 50


def evaluate(
    config: KeywordSpottingConfig, data: ClipData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Metrics over the whole test split; draws the confusion and reliability pictures.

    The logits of all test clips, and the classes that the nearest mean pattern gives
    them, are written beside them.

    Raises:
        UserError: The model gives NaN.
    """
    classifier = Classifier(model, data.reader, data.class_names)
    test = data.clips("test")
    logits = classifier.logits(test.frames)
    require_finite(run, logits, "clips")
    predicted = metrics.predicted_classes(logits)
    # What the run learned from, whatever it is tested on.
    train = ClipData(run.config(type(config)), data.known).clips("train", _COMPARED)
    nearest = nearest_mean(train, test.frames)
    scores.keep(run, config, labels=test.labels, logits=logits, baseline=nearest)
    scores.draw(run, test.labels, logits, data.class_names)
    frequent = most_frequent(train, len(test.labels))
    gap = scores.difference(test.labels, predicted, nearest)
    return {
        "clips": len(test.labels),
        "accuracy_interval": scores.accuracy_interval(predicted == test.labels),
        **scores.figures(test.labels, logits, data.class_names),
        **scores.top_five(test.labels, logits),
        "baselines": {
            "most_frequent_class": float((frequent == test.labels).mean()),
            "nearest_mean_pattern": float((nearest == test.labels).mean()),
        },
        "above_nearest_mean_pattern": gap._asdict(),
        "cut_clips": _cut(test, config.data.max_frames),
        "parameters": model.count_params(),
        "milliseconds_per_clip": _milliseconds(classifier, test.frames[:_TIMED]),
    }


def _cut(test, longest: int) -> int:
    """How many clips may have lost their end: those as long as clips can be."""
    return sum(len(clip) == longest for clip in test.frames)


def _milliseconds(classifier: Classifier, clips: list[np.ndarray]) -> float:
    """From the frames of a clip to its logits, one clip at a time; the median."""
    taken = []
    for clip in clips:
        began = time.perf_counter()
        classifier.logits([clip])
        taken.append(time.perf_counter() - began)
    return 1000 * float(np.median(taken))
