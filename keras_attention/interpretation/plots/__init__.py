"""Pictures of what a model attends to, as Matplotlib figures without global state.

Matplotlib is imported when the first picture is made. Figures are of the object
interface (no `pyplot`), so they can be made in any thread and on machines without a
display. Texts are written in Matplotlib's own font, which has Latin, Greek and Cyrillic
letters.

What pictures of attention show are softmax weights: shares of a row, not amounts. A
bright cell says where a head read, not that the output depends on it.
"""

from keras_attention.interpretation.plots._figure import MAX_LABEL, save
from keras_attention.interpretation.plots.channels import gate_bars, gate_strips
from keras_attention.interpretation.plots.classification import (
    confusion_matrix,
    reliability_diagram,
)
from keras_attention.interpretation.plots.images import (
    film_strip,
    overlay_rows,
    overlays,
)
from keras_attention.interpretation.plots.positions import position_similarity
from keras_attention.interpretation.plots.regression import (
    Fit,
    regression_curves,
    weight_map,
    weighted_fits,
)
from keras_attention.interpretation.plots.scores import MAX_TOKENS, head_panels, heatmap
from keras_attention.interpretation.plots.sound import (
    aligned_spectrogram,
    attended_spectrogram,
)
from keras_attention.interpretation.plots.steps import MAX_STEPS, shaded_steps
from keras_attention.interpretation.plots.text import MAX_WORDS, shaded_text

__all__ = [
    "MAX_LABEL",
    "MAX_STEPS",
    "MAX_TOKENS",
    "MAX_WORDS",
    "Fit",
    "aligned_spectrogram",
    "attended_spectrogram",
    "confusion_matrix",
    "film_strip",
    "gate_bars",
    "gate_strips",
    "head_panels",
    "heatmap",
    "overlay_rows",
    "overlays",
    "position_similarity",
    "regression_curves",
    "reliability_diagram",
    "save",
    "shaded_steps",
    "shaded_text",
    "weight_map",
    "weighted_fits",
]
