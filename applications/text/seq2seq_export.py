"""The SavedModel: text in, text out, decoding inside."""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from applications.errors import UserError
from applications.text.alignment import has_attention
from applications.text.writer import Writer, target_inputs
from keras_attention import export as saved_model

CHECKED_TEXTS = 200
_BATCH = 50
_ATTENTION = "attention"


def export(writer: Writer, directory: Path, answer: str) -> None:
    """Write the endpoints `greedy` (the default), `beam` and `attention`.

    The last one only for a model with attention. All take `text` `(B,)` and return
    texts `(B,)` under the name `answer`; the searches also their `log_probability`,
    `attention` the subwords of both sides and the scores `(B, N, T, S)` of the last
    decoder block.
    """
    signature = [tf.TensorSpec([None], tf.string, name="text")]
    endpoints = {
        "greedy": (_searching(writer, "greedy", answer), signature),
        "beam": (_searching(writer, "beam", answer), signature),
    }
    if has_attention(writer.model):
        endpoints[_ATTENTION] = (_attending(writer, answer), signature)
    saved_model.write(
        directory, endpoints, track=[writer.model, writer.tokenizer.layer]
    )


def _searching(writer: Writer, search: str, answer: str):
    def endpoint(text):
        found = writer.search(writer.encode(text), search)
        return {
            answer: writer.spell(text, found.tokens[:, 0]),
            "log_probability": found.log_probabilities[:, 0],
        }

    return endpoint


def _attending(writer: Writer, answer: str):
    tokenizer = writer.tokenizer
    ids = range(tokenizer.vocabulary_size)
    pieces = tf.constant([tokenizer.pieces([i])[0] for i in ids])

    def endpoint(text):
        source = writer.encode(text)
        tokens = writer.search(source, "greedy").tokens[:, 0]
        inputs = target_inputs(tokens, tokenizer.start, tokenizer.end)
        return {
            answer: writer.spell(text, tokens),
            "source_pieces": tf.gather(pieces, source),
            "target_pieces": tf.gather(pieces, tokens),
            "attention_scores": writer.model.cross_attention_scores(source, inputs),
        }

    return endpoint


def check(directory: Path, texts: Sequence[str], writer: Writer, answer: str) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    The empty string and batches of other sizes are among the inputs.

    Raises:
        UserError: the answers differ.
    """
    batches = [[""], ["", *texts[:2]]]
    batches += [list(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
    asked = [text for batch in batches for text in batch]
    answers = saved_model.ask_alone(directory, batches, ["greedy", "beam"])
    for search, answered in answers.items():
        alone = [text for one in answered for text in one[answer]]
        pairs = zip(alone, writer(asked, search), strict=True)
        different = [(there, here) for there, here in pairs if there != here]
        if different:
            there, here = different[0]
            raise UserError(
                f"The exported {search} endpoint answers {len(different)} of "
                f"{len(asked)} texts differently, the first {there!r} instead of "
                f"{here!r}."
            )
        print(f"{search}: SavedModel alone equals this process on {len(asked)} texts")
