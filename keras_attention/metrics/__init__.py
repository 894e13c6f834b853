"""What a model is measured by: Keras metrics and scores of whole test sets."""

from keras_attention.metrics.bleu import LengthBucket, bleu, bleu_by_length
from keras_attention.metrics.bootstrap import (
    Difference,
    bootstrap_difference,
    paired_bootstrap,
)
from keras_attention.metrics.calibration import Calibration, calibration_error
from keras_attention.metrics.captions import (
    CaptionScore,
    caption_scores,
    normalized_caption,
)
from keras_attention.metrics.chrf import chrf
from keras_attention.metrics.classification import (
    UNDECIDED,
    ClassScores,
    class_scores,
    confusion_matrix,
    predicted_classes,
)
from keras_attention.metrics.meteor import java_is_present, meteor
from keras_attention.metrics.perplexity import Perplexity
from keras_attention.metrics.roc_auc import roc_auc
from keras_attention.metrics.rouge import (
    RougeScore,
    rouge,
    rouge_difference,
    rouge_tokens,
)
from keras_attention.metrics.score import Score
from keras_attention.metrics.top_k import (
    TopKAccuracy,
    accuracy,
    top_k_accuracy,
    top_k_hits,
)

__all__ = [
    "UNDECIDED",
    "Calibration",
    "CaptionScore",
    "ClassScores",
    "Difference",
    "LengthBucket",
    "Perplexity",
    "RougeScore",
    "Score",
    "TopKAccuracy",
    "accuracy",
    "bleu",
    "bleu_by_length",
    "bootstrap_difference",
    "calibration_error",
    "caption_scores",
    "chrf",
    "class_scores",
    "confusion_matrix",
    "java_is_present",
    "meteor",
    "normalized_caption",
    "paired_bootstrap",
    "predicted_classes",
    "roc_auc",
    "rouge",
    "rouge_difference",
    "rouge_tokens",
    "top_k_accuracy",
    "top_k_hits",
]
