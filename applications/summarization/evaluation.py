"""How good the summaries are, beside the first words of the text."""

from collections.abc import Sequence
from typing import Any

import keras

from applications.pipeline.run import Run
from applications.summarization.data import SummarizationData
from applications.summarization.presets import SummarizationConfig
from applications.summarization.summarizer import Summarizer
from applications.text import answers
from applications.text.bucketing import padding_waste
from keras_attention import losses, metrics

SUMMARIES = "summaries.tsv"
_LEAD = 10  # words


def evaluate(
    config: SummarizationConfig, data: SummarizationData, model: keras.Model, run: Run
) -> dict[str, Any]:
    """Metrics over the whole test split; writes all summaries beside them."""
    sources, references = data.sentences("test")
    summarizer = Summarizer(model, data.tokenizer, config)
    beam, greedy = (summarizer(sources, search) for search in ("beam", "greedy"))
    if config == run.config(type(config)):  # else they are not those of the table
        columns = {"source": sources, "reference": references, "summary": beam}
        answers.write(run, SUMMARIES, columns)
    lead = lead_words(sources)
    batches = data.evaluation_batches("test")
    model.compile(loss=losses.MaskedCrossentropy(), metrics=[metrics.Perplexity()])
    measured = model.evaluate(batches, verbose=0, return_dict=True)
    found, first = metrics.rouge(beam, references), metrics.rouge(lead, references)
    gap = metrics.rouge_difference(found["rouge_l"], first["rouge_l"])
    return {
        "texts": len(sources),
        "texts_cut": data.cut["test"],
        "protocol": _protocol(config),
        **_values(found),
        "greedy": _values(metrics.rouge(greedy, references)),
        "lead_10_words": _values(first),
        "rouge_l_above_lead_10_words": gap._asdict(),
        "perplexity_per_subword": measured["perplexity"],
        "words": _mean_words(beam),
        "words_of_references": _mean_words(references),
        "words_from_source": words_from_source(beam, sources),
        "words_from_source_of_references": words_from_source(references, sources),
        "padding_waste": padding_waste(data.train.epochs(0, 1)),
    }


def lead_words(texts: Sequence[str], count: int = _LEAD) -> list[str]:
    """The first words of each text: what every summarizer must beat."""
    return [" ".join(text.split()[:count]) for text in texts]


def words_from_source(summaries: Sequence[str], sources: Sequence[str]) -> float:
    """Share of the words of summaries that stand in the whole source; 0 of none."""
    there = total = 0
    for summary, source in zip(summaries, sources, strict=True):
        known = set(metrics.rouge_tokens(source))
        words = metrics.rouge_tokens(summary)
        there += sum(word in known for word in words)
        total += len(words)
    return there / max(total, 1)


def read_summaries(run: Run) -> tuple[list[str], list[str], list[str]]:
    """Sources, references and summaries of an evaluated run."""
    return answers.read(run, SUMMARIES)


def _values(scores: dict[str, metrics.RougeScore]) -> dict[str, float]:
    return {name: score.value for name, score in scores.items()}


def _mean_words(texts: Sequence[str]) -> float:
    return sum(len(text.split()) for text in texts) / len(texts)


def _protocol(config: SummarizationConfig) -> dict[str, str]:
    decode = config.decode
    ngrams = decode.no_repeat_ngram
    return {
        "search": f"beam {decode.num_beams}, length penalty {decode.length_penalty:g}, "
        f"{decode.min_length} to {decode.max_length} subwords, "
        + (f"no {ngrams}-gram twice" if ngrams else "n-grams may repeat"),
        "rouge": "F1, rouge-score with words of every script, lower case, no stemming",
    }
