"""How well hidden tokens are found again, beside how frequent they are."""

from collections.abc import Iterable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from applications.language_modeling.data import LanguageData
from applications.language_modeling.filling import TEXTS_AT_ONCE, SpanFiller
from applications.language_modeling.tokens import Tokens
from applications.pipeline.run import Run
from keras_attention import losses


def masked(
    data: LanguageData, learned: LanguageData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Accuracy and perplexity of the hidden tokens of a masked model.

    All of the test split, hidden once by a fixed seed; of the tokens that are asked for
    a tenth stand there and a tenth are others, as in training.
    """
    found = _teacher_forced(model, data.batches("test"), _counts(learned), data.tokens)
    protocol = f"{_rows(data)}; tokens are chosen once, by a fixed seed"
    return {**found, "protocol": protocol}


def restored(
    data: LanguageData, learned: LanguageData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Perplexity and accuracy of what a model of two sides writes, token by token.

    Sentinels and the end, which follow from the source or come cheap, do not count, and
    where spans are hidden neither are they choices: a model is not asked how long a
    span is. Of hidden spans also how many it writes just as they were, greedily;
    without sentinels how many whole rows.
    """
    batches, sentinels = data.batches("test"), data.tokens.sentinels
    no_choices = (*sentinels, data.tokens.end) if len(sentinels) else ()
    found = _teacher_forced(model, batches, _counts(learned), data.tokens, no_choices)
    filler = SpanFiller(model, data.tokens, data.config.data.length)
    exact = _exact(batches, filler)
    what = "spans" if len(sentinels) else "rows"
    chosen = "from text" if len(sentinels) else "from all"
    return {
        **found,
        what: len(exact),
        f"exact_{what}": float(np.mean(exact)),
        "protocol": f"{_rows(data)}, the last one only if it is full; damaged once, by "
        f"a fixed seed; a token {chosen} beside the right ones before it; {what} "
        "greedily",
    }


def _rows(data: LanguageData) -> str:
    return f"rows of {data.config.data.length} tokens"


def _teacher_forced(
    model: keras.Model,
    batches: tf.data.Dataset,
    counts: np.ndarray,
    tokens: Tokens,
    no_choices: Sequence[int] = (),
) -> dict[str, Any]:
    """Over all labels that are text, each beside the right ones before it.

    Args:
        model: From inputs to logits.
        batches: Inputs and labels.
        counts: How often each token is a label in training.
        tokens: Of the labels.
        no_choices: Ids that the model is not given to choose from.
    """
    possible = ~np.isin(np.arange(tokens.vocabulary_size), no_choices)

    @tf.function(reduce_retracing=True)
    def scored(inputs: Any, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        logits = tf.cast(model(inputs, training=False), tf.float32)
        logits = tf.where(possible, logits, -np.inf)
        right = tf.equal(tf.argmax(logits, axis=-1, output_type=tf.int32), labels)
        return losses.token_crossentropy(labels, logits), right

    chances = (counts + 1) / (counts + 1).sum()  # none is impossible
    nats, hits, plain, usual = [], [], [], []
    for inputs, labels, *_ in batches:
        is_text = ~np.isin(labels.numpy(), tokens.special)
        loss, right = scored(inputs, labels)
        nats.append(loss.numpy()[is_text])
        hits.append(right.numpy()[is_text])
        plain.append(-np.log(chances[labels.numpy()[is_text]]))
        usual.append(labels.numpy()[is_text] == counts.argmax())
    return {
        "tokens": sum(map(len, nats)),
        "perplexity_per_token": float(np.exp(np.concatenate(nats).mean())),
        "accuracy": float(np.concatenate(hits).mean()),
        "baselines": {
            "frequency": {
                "perplexity_per_token": float(np.exp(np.concatenate(plain).mean())),
                "accuracy": float(np.concatenate(usual).mean()),
            }
        },
    }


def _counts(learned: LanguageData) -> np.ndarray:
    """How often text is a label in what the run was trained on, `(V,)`."""
    counts = np.zeros(learned.tokens.vocabulary_size)
    for _, labels, *_ in learned.batches("train").as_numpy_iterator():
        counts += np.bincount(labels.ravel(), minlength=len(counts))
    counts[list(learned.tokens.special)] = 0
    return counts


def _exact(batches: Iterable, filler: SpanFiller) -> list[bool]:
    """Whether each span, or row, is written as it was."""
    write = tf.function(
        lambda source: filler.write(source).tokens[:, 0],
        input_signature=[tf.TensorSpec([None, None], tf.int32)],
        autograph=False,
    )
    found: list[bool] = []
    for inputs, labels, *_ in tf.data.Dataset.unbatch(batches).padded_batch(
        TEXTS_AT_ONCE
    ):
        written = write(inputs["source"]).numpy()
        for right, ours in zip(labels.numpy(), written, strict=True):
            wanted, got = (spans(ids, filler.tokens) for ids in (right, ours))
            found += [got.get(number) == span for number, span in wanted.items()]
    return found


def spans(ids: np.ndarray, tokens: Any) -> dict[int, list[int]]:
    """The tokens after each sentinel, up to the end; those before the first under 0.

    Examples:
    >>> from applications.language_modeling.tokens import ByteTokens
    >>> tokens = ByteTokens(with_gap=True, num_sentinels=2)
    >>> spans([260, 70, 71, 261, 72, 2, 0], tokens)
    {260: [70, 71], 261: [72]}
    """
    found: dict[int, list[int]] = {}
    current = 0
    for number in map(int, ids):
        if number == tokens.end:
            break
        if number in tokens.sentinels:
            current = number
            found[current] = []
        else:
            found.setdefault(current, []).append(number)
    return found
