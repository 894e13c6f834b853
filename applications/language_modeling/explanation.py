"""Pictures of what each token of a passage looked at, heads apart."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from applications.errors import UserError, told_to_users
from applications.language_modeling.data import LanguageData
from applications.language_modeling.filling import MaskedFiller, SpanFiller
from applications.language_modeling.tokens import GAP, Tokens
from applications.pipeline import files
from applications.pipeline.run import Run
from applications.text import pictures
from applications.text.alignment import Alignment, alignments
from applications.text.writer import Answer, until_end
from keras_attention import interpretation
from keras_attention.interpretation import plots

_EXAMPLES = 2
_WORDS = 24  # of an example, few enough to read
_GAP = 12  # which of them is hidden


def explain(
    data: LanguageData, model: keras.Model, run: Run, inputs: Sequence[str]
) -> list[Path]:
    """Draw each passage once for each block, a panel for each head.

    Of a causal and a masked model also the passage shaded by what the last block read
    to write the next word, or the first gap, once for each head. Of a model of two
    sides the panels are what it wrote against its source.

    Args:
        data: Gives examples of the test split where there are no inputs.
        model: The run's best model.
        run: Where the figures go.
        inputs: Passages of the user's own.

    Raises:
        UserError: A passage is blank, or the attention has no scores of tokens.
    """
    if not all(text.strip() for text in inputs):
        raise UserError("A blank text has nothing to show. Give a sentence.")
    hides = data.config.train.objective != "causal"
    texts = list(inputs) or _examples(data.texts("test"), hides)
    draw = _draw_both_sides if data.config.train.is_seq2seq else _draw_passage
    figures = []
    with told_to_users():  # scores may stand for other things than tokens
        for text, name in zip(texts, files.names_after(texts), strict=True):
            figures += draw(data, model, run, text, name)
    return figures


def _draw_passage(
    data: LanguageData, model: keras.Model, run: Run, text: str, name: str
) -> list[Path]:
    """Self-attention of every block, and what was read at the place that counts."""
    inputs, ids, place = _read(data, model, text)
    scores, logits = _recorded(model, inputs)
    labels = data.tokens.pieces(ids)
    passage = Alignment(labels, labels, scores)
    drawn = pictures.draw_heads(run, name, text, passage, scores)
    last = list(scores.values())[-1][:, place]  # (N, T)
    shown = slice(max(0, len(labels) - plots.MAX_WORDS), None)
    figure = plots.shaded_text(
        [label.replace("▁", "") or "▁" for label in labels[shown]],
        {f"head {head}": row[shown] for head, row in enumerate(last)},
        f"read for: {_likeliest(logits, data.tokens)}",
    )
    return [*drawn, pictures.save(run, f"{name}-read.png", figure)]


def _read(
    data: LanguageData, model: keras.Model, text: str
) -> tuple[Any, np.ndarray, int]:
    """What the model is given, its token ids `(T,)`, and the place it is asked for."""
    length = data.config.data.length
    if data.config.train.objective == "causal":
        ids = data.tokens.ragged([text], add_start=True)[:, -length:].to_tensor()
        return ids, ids[0].numpy(), ids.shape[1] - 1
    ids = MaskedFiller(model, data.tokens, length).ids(tf.constant([text]))
    gaps = np.flatnonzero(ids[0].numpy() == data.tokens.gap)
    place = int(gaps[0]) if len(gaps) else 0
    return {"tokens": ids, "positions": tf.constant([[place]])}, ids[0].numpy(), place


def _draw_both_sides(
    data: LanguageData, model: keras.Model, run: Run, text: str, name: str
) -> list[Path]:
    """What each token that was written looked at in the source."""
    filler = SpanFiller(model, data.tokens, data.config.data.length)
    source = filler.ids(tf.constant([text]))
    written = filler.write(source).tokens[0, 0].numpy()
    answer = Answer(text, until_end(source[0].numpy()), until_end(written))
    (found,) = alignments(filler, [answer])
    return pictures.draw_heads(run, name, text, found, found.scores)


def _recorded(
    model: keras.Model, inputs: Any
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Scores `(N, T, T)` of each block by its name, and the last logits `(V,)`."""
    with interpretation.recording(model) as record:
        logits = model(inputs, training=False)
    if not len(record):
        raise UserError(
            "This attention never holds scores, so there is nothing to show. A run "
            "with model.attention=multi_head has some."
        )
    scores = {name.split("/")[0]: record.numpy(name)[0] for name in record}
    return scores, keras.ops.convert_to_numpy(logits[0, -1])


def _likeliest(logits: np.ndarray, tokens: Tokens) -> str:
    """The piece of the highest logit."""
    (piece,) = tokens.pieces([int(np.argmax(logits))])
    return piece.replace("▁", "") or "▁"


def _examples(texts: Sequence[str], hides: bool) -> list[str]:
    """The first words of the first test documents, one of them hidden if asked."""
    found = []
    for text in texts[:_EXAMPLES]:
        words = text.split()[:_WORDS]
        if hides and len(words) > _GAP:
            words[_GAP] = GAP
        found.append(" ".join(words))
    return found
