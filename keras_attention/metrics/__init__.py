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
from keras_attention.metrics.error_rate import (
    ErrorRate,
    character_error_rate,
    error_rate_difference,
    error_rate_interval,
    word_error_rate,
)
from keras_attention.metrics.impossible_labels import ImpossibleLabels
from keras_attention.metrics.meteor import java_is_present, meteor
from keras_attention.metrics.perplexity import Perplexity
from keras_attention.metrics.ranking import (
    PopularityBias,
    Ranks,
    coverage,
    hit_rate,
    mean_reciprocal_rank,
    ndcg,
    popularity_bias,
    ranks,
    top_items,
)
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
    "ErrorRate",
    "ImpossibleLabels",
    "LengthBucket",
    "Perplexity",
    "PopularityBias",
    "Ranks",
    "RougeScore",
    "Score",
    "TopKAccuracy",
    "accuracy",
    "bleu",
    "bleu_by_length",
    "bootstrap_difference",
    "calibration_error",
    "caption_scores",
    "character_error_rate",
    "chrf",
    "class_scores",
    "confusion_matrix",
    "coverage",
    "error_rate_difference",
    "error_rate_interval",
    "hit_rate",
    "java_is_present",
    "mean_reciprocal_rank",
    "meteor",
    "ndcg",
    "normalized_caption",
    "paired_bootstrap",
    "popularity_bias",
    "predicted_classes",
    "ranks",
    "roc_auc",
    "rouge",
    "rouge_difference",
    "rouge_tokens",
    "top_items",
    "top_k_accuracy",
    "top_k_hits",
    "word_error_rate",
]
