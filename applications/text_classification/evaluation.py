"""How good the classes are, in the domain of the training and in others."""

import time
from itertools import compress
from typing import Any

import keras
import numpy as np

from applications.classification import scores
from applications.pipeline.finite import require_finite
from applications.pipeline.run import Run
from applications.text_classification.baselines import TfidfRegression, most_frequent
from applications.text_classification.classifier import Classifier
from applications.text_classification.data import TextData, Texts, texts_of
from applications.text_classification.presets import TextClassificationConfig
from applications.text_classification.word_measures import agreement, explained
from keras_attention import metrics


def evaluate(
    config: TextClassificationConfig, data: TextData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Metrics over the whole test split and the further tests, beside baselines.

    The logits of all test texts, and the classes that the baseline gives them, are
    written beside them.

    Raises:
        UserError: The model gives NaN.
    """
    classifier = Classifier(model, data.reader, data.class_names)
    test = data.texts("test")
    classifier.logits(test.texts[:1])  # is traced
    began = time.perf_counter()
    logits = classifier.logits(test.texts)
    rate = len(test.texts) / (time.perf_counter() - began)
    require_finite(run, logits, "texts")
    # What the run learned from, whatever it is tested on.
    own = run.config(type(config)).data
    train = texts_of(own, "train")
    regression = TfidfRegression(train, texts_of(own, "validation"))
    baseline = _Baseline(regression, train, len(data.class_names))
    scores.keep(
        run,
        config,
        labels=test.labels,
        logits=logits,
        baseline=baseline.regression.predicted(test.texts, baseline.num_classes),
    )
    scores.draw(run, test.labels, logits, data.class_names)
    readable = list(compress(test.texts, data.reader.readable(test.texts)))
    measured = explained(model, data.reader, readable[: config.explain.agreement_texts])
    return {
        "texts": len(test.texts),
        **scores.figures(test.labels, logits, data.class_names),
        "roc_auc": scores.roc_auc(test.labels, logits),
        **baseline.beside(test, logits),
        "other_domains": {
            name: _elsewhere(classifier, data.texts(name), baseline)
            for name in data.further_tests
        },
        "agreement": agreement(measured),
        "cut_texts": data.cut("test"),
        "parameters": model.count_params(),
        "texts_per_second": rate,
    }


class _Baseline:
    """TF-IDF with logistic regression, and the most frequent class, of one training."""

    def __init__(self, regression: TfidfRegression, train: Texts, num_classes: int):
        self.regression, self.train = regression, train
        self.num_classes = num_classes

    def beside(self, test: Texts, logits: np.ndarray) -> dict[str, Any]:
        """Their figures, and how far above the regression the logits are."""
        probabilities = self.regression.probabilities(test.texts, self.num_classes)
        predicted = metrics.predicted_classes(probabilities)
        frequent = most_frequent(self.train, len(test.labels))
        gap = scores.difference(
            test.labels, metrics.predicted_classes(logits), predicted
        )
        found = metrics.class_scores(test.labels, predicted, self.num_classes)
        return {
            "baselines": {
                "most_frequent_class": float((frequent == test.labels).mean()),
                "tfidf_logistic_regression": {
                    "accuracy": float((predicted == test.labels).mean()),
                    "macro_f1": found.macro_f1,
                    "roc_auc": metrics.roc_auc(test.labels, probabilities),
                    "strength": self.regression.strength,
                },
            },
            "above_tfidf_logistic_regression": gap._asdict(),
        }


def _elsewhere(
    classifier: Classifier, test: Texts, baseline: _Baseline
) -> dict[str, Any]:
    """Accuracy on texts of another domain, with a model and a baseline of this one."""
    logits = classifier.logits(test.texts)
    return {
        "texts": len(test.texts),
        "accuracy": metrics.accuracy(test.labels, logits),
        "roc_auc": scores.roc_auc(test.labels, logits),
        **baseline.beside(test, logits),
    }
