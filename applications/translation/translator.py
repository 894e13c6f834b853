"""From sentences to translations."""

from typing import Any

from applications.text.tokenizer import SubwordTokenizer
from applications.text.writer import Writer
from applications.translation.presets import TranslationConfig


class Translator(Writer):
    """A `Writer` with the limits and searches of a run.

    Args:
        model: Decodable seq2seq model.
        tokenizer: Subwords of both sides.
        config: Limits and search settings. Sources longer than `data.max_length`
            subwords are cut.
    """

    def __init__(
        self, model: Any, tokenizer: SubwordTokenizer, config: TranslationConfig
    ):
        super().__init__(model, tokenizer, config.decode, config.data.max_length)
