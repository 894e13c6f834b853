"""How good the translations are, beside the source itself and by sentence length."""

from typing import Any

import keras

from applications.pipeline.run import Run
from applications.text import answers as answers_of_run
from applications.text.alignment import has_attention
from applications.text.bucketing import padding_waste
from applications.translation.alignment import copy_alignment_of
from applications.translation.data import TranslationData
from applications.translation.presets import TranslationConfig
from applications.translation.translator import Translator
from keras_attention import losses, metrics

TRANSLATIONS = "translations.tsv"


def evaluate(
    config: TranslationConfig, data: TranslationData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Metrics over the whole test split; writes all translations beside them."""
    sources, references = data.sentences("test")
    translator = Translator(model, data.tokenizer, config)
    answers = translator.answers(sources, "beam")
    beam = [answer.text for answer in answers]
    greedy = translator(sources, "greedy")
    if config == run.config(type(config)):  # else they are not those of the table
        columns = {"source": sources, "reference": references, "translation": beam}
        answers_of_run.write(run, TRANSLATIONS, columns)
    batches = data.evaluation_batches("test")
    model.compile(loss=losses.MaskedCrossentropy(), metrics=[metrics.Perplexity()])
    measured = model.evaluate(batches, verbose=0, return_dict=True)
    results = {
        "sentences": len(sources),
        "protocol": {
            "search": f"beam {config.decode.num_beams}, "
            f"length penalty {config.decode.length_penalty:g}",
            "bleu_signature": metrics.bleu(beam, references).signature,
            "chrf_signature": metrics.chrf(beam, references).signature,
        },
        **_scores(beam, references),
        "greedy": _scores(greedy, references),
        "copy_source": _scores(sources, references),
        "perplexity_per_subword": measured["perplexity"],
        "bleu_by_source_words": _by_length(sources, beam, references),
        "padding_waste": padding_waste(data.train.epochs(0, 1)),
    }
    if has_attention(model):
        results["copied_words"] = copy_alignment_of(translator, answers)
    return results


def _scores(hypotheses, references) -> dict[str, float]:
    return {
        "bleu": metrics.bleu(hypotheses, references).value,
        "chrf": metrics.chrf(hypotheses, references).value,
    }


def _by_length(sources, hypotheses, references) -> dict[str, dict[str, float | None]]:
    """BLEU by number of source words."""
    buckets = metrics.bleu_by_length(sources, hypotheses, references)
    return {
        f"{b.shortest}-{b.limit - 1 if b.limit else ''}": {
            "sentences": b.count,
            "bleu": b.bleu.value if b.bleu else None,
        }
        for b in buckets
    }


def read_translations(run: Run) -> tuple[list[str], list[str], list[str]]:
    """Sources, references and translations of an evaluated run."""
    return answers_of_run.read(run, TRANSLATIONS)
