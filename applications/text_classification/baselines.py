"""What a classifier of texts must beat: words counted, and logistic regression."""

from typing import Any

import numpy as np

from applications.text_classification.data import Texts
from keras_attention import metrics
from keras_attention.errors import import_extra

EXTRA = "text-classification"

_STRENGTHS = (1.0, 4.0, 16.0)  # inverse of the regularization; validation chooses


class TfidfRegression:
    """TF-IDF of words and pairs of words, and logistic regression, by scikit-learn.

    Args:
        train: What it is fitted on.
        validation: What chooses the strength of regularization.
    """

    def __init__(self, train: Texts, validation: Texts):
        text = import_extra("sklearn.feature_extraction.text", EXTRA)
        linear = import_extra("sklearn.linear_model", EXTRA)
        self._words = text.TfidfVectorizer(
            ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b"
        )
        counts = self._words.fit_transform(train.texts)
        fitted = {
            strength: linear.LogisticRegression(C=strength, max_iter=2000).fit(
                counts, train.labels
            )
            for strength in _STRENGTHS
        }
        held_out = self._words.transform(validation.texts)
        self.strength = max(
            _STRENGTHS, key=lambda s: fitted[s].score(held_out, validation.labels)
        )
        self._model: Any = fitted[self.strength]

    def probabilities(self, texts: list[str], num_classes: int) -> np.ndarray:
        """`(n, C)`; 0 for classes that the training texts did not have."""
        found = np.zeros((len(texts), num_classes))
        counts = self._words.transform(texts)
        found[:, self._model.classes_] = self._model.predict_proba(counts)
        return found

    def predicted(self, texts: list[str], num_classes: int) -> np.ndarray:
        """Classes `(n,)`."""
        return metrics.predicted_classes(self.probabilities(texts, num_classes))


def most_frequent(train: Texts, count: int) -> np.ndarray:
    """The class that most training texts have, `(count,)`."""
    return np.full(count, np.bincount(train.labels).argmax())
