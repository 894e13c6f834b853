"""How often a translation looks at the word it copies."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from applications.text.alignment import alignments
from applications.text.writer import Answer
from applications.translation.translator import Translator
from keras_attention.interpretation import copy_alignment


def copy_alignment_of(
    translator: Translator, answers: Sequence[Answer]
) -> dict[str, Any]:
    """How often copied numbers and names are looked at while they are written.

    All heads of all decoder layers are counted.
    """
    measured = copy_alignment(
        (np.concatenate(list(each.scores.values())), each.source, each.target)
        for each in alignments(translator, answers)
    )
    return measured._asdict() if measured.words else {"words": 0}
