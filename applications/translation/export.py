"""The SavedModel: text in, translation out, decoding inside."""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from applications.errors import UserError
from applications.translation.translator import Translator, target_inputs
from keras_attention import export as saved_model

CHECKED_SENTENCES = 200
_BATCH = 50
_ATTENTION = "attention"


def export(translator: Translator, directory: Path) -> None:
    """Write the endpoints `greedy` (the default), `beam` and `attention`.

    The last one only for a model with attention. All take `text` `(B,)` and return
    `translation` `(B,)`; the searches also its `log_probability`, `attention` the
    subwords of both sides and the scores `(B, N, T, S)` of the last decoder block.
    """
    signature = [tf.TensorSpec([None], tf.string, name="text")]
    endpoints = {
        "greedy": (_searching(translator, "greedy"), signature),
        "beam": (_searching(translator, "beam"), signature),
    }
    if has_attention(translator.model):
        endpoints[_ATTENTION] = (_attending(translator), signature)
    saved_model.write(
        directory, endpoints, track=[translator.model, translator.tokenizer.layer]
    )


def has_attention(model) -> bool:
    """Whether a seq2seq model looks back at the source."""
    return model.get_config().get("attention") != "none"


def _searching(translator: Translator, search: str):
    def endpoint(text):
        found = translator.search(translator.encode(text), search)
        return {
            "translation": translator.spell(text, found.tokens[:, 0]),
            "log_probability": found.log_probabilities[:, 0],
        }

    return endpoint


def _attending(translator: Translator):
    tokenizer = translator.tokenizer
    ids = range(tokenizer.vocabulary_size)
    pieces = tf.constant([tokenizer.pieces([i])[0] for i in ids])

    def endpoint(text):
        source = translator.encode(text)
        tokens = translator.search(source, "greedy").tokens[:, 0]
        inputs = target_inputs(tokens)
        return {
            "translation": translator.spell(text, tokens),
            "source_pieces": tf.gather(pieces, source),
            "target_pieces": tf.gather(pieces, tokens),
            "attention_scores": translator.model.cross_attention_scores(source, inputs),
        }

    return endpoint


def check(directory: Path, sentences: Sequence[str], translator: Translator) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    The empty string and batches of other sizes are among the inputs.

    Raises:
        UserError: the answers differ.
    """
    batches = [[""], ["", *sentences[:2]]]
    batches += [
        list(sentences[i : i + _BATCH]) for i in range(0, len(sentences), _BATCH)
    ]
    texts = [text for batch in batches for text in batch]
    answers = saved_model.ask_alone(directory, batches, ["greedy", "beam"])
    for search, answered in answers.items():
        alone = [text for answer in answered for text in answer["translation"]]
        pairs = zip(alone, translator(texts, search), strict=True)
        different = [(there, here) for there, here in pairs if there != here]
        if different:
            there, here = different[0]
            raise UserError(
                f"The exported {search} endpoint answers {len(different)} of "
                f"{len(texts)} texts differently, the first {there!r} instead of "
                f"{here!r}."
            )
        print(f"{search}: SavedModel alone equals this process on {len(texts)} texts")
