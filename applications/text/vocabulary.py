"""Training a subword vocabulary: one SentencePiece model, kept as bytes."""

import io
import tempfile
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from applications.errors import UserError
from applications.text.normalization import nfc_rules_tsv

PADDING = 0
START = 1
END = 2
UNKNOWN = 3

# Special pieces, and one piece for every byte.
_FIXED_PIECES = 4 + 256


def train(
    texts: Iterable[str],
    size: int,
    symbols: Sequence[str] = (),
    controls: Sequence[str] = (),
) -> bytes:
    """Train a unigram SentencePiece model; the same texts give the same bytes.

    Texts are brought to NFC by rules inside the model, runs of spaces become one, and
    characters that are not in `texts` are spelled in bytes, so every text has ids and
    decodes to its NFC again. Ids 0 to 3 are padding, start, end and unknown.

    Args:
        texts: The training split only, every text once; empty ones count for nothing.
        size: The most pieces to have. Texts too few to fill it give a smaller
            vocabulary, so ask the tokenizer for its size.
        symbols: Texts that are a piece of their own wherever they stand, such as a
            line break or a marker that users write.
        controls: Names of further pieces that no text can spell.

    Returns:
        The model, to be written to a file or given to `SubwordTokenizer`.

    Raises:
        UserError: There is no text, or `size` has no room for its characters.
    """
    import sentencepiece

    lines = [text for text in texts if text.strip()]
    if not lines:
        raise UserError("A vocabulary needs at least one text that is not empty.")
    _check_room(lines, size, len(symbols) + len(controls))
    written = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "nfc.tsv"
        rules.write_text(nfc_rules_tsv(), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=written,
            model_type="unigram",
            vocab_size=size,
            hard_vocab_limit=False,
            max_sentence_length=1_000_000,
            character_coverage=1.0,
            byte_fallback=True,
            normalization_rule_tsv=str(rules),
            pad_id=PADDING,
            bos_id=START,
            eos_id=END,
            unk_id=UNKNOWN,
            user_defined_symbols=list(symbols),
            control_symbols=list(controls),
            num_threads=1,
            minloglevel=2,
        )
    return _without_path(written.getvalue())


def _check_room(lines: list[str], size: int, further: int) -> None:
    """Refuse a size below what the trainer needs: it would say so unclearly."""
    characters = set(unicodedata.normalize("NFC", "".join(lines))) | {" "}
    fixed = _FIXED_PIECES + further
    needed = fixed + len(characters)
    if size < needed:
        raise UserError(
            f"A vocabulary for these texts needs at least {needed} pieces: "
            f"{fixed} fixed ones and one for each of their "
            f"{len(characters)} characters. Received: size={size}."
        )


def _without_path(model: bytes) -> bytes:
    """Drop the path of the rule file, the one thing that differs between runs."""
    from sentencepiece import sentencepiece_model_pb2

    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    proto.normalizer_spec.ClearField("normalization_rule_tsv")
    return proto.SerializeToString(deterministic=True)
