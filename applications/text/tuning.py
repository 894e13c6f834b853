"""The length penalty of a trained run, chosen on validation texts."""

from dataclasses import replace
from typing import Any

from applications.pipeline import run as runs
from applications.text.seq2seq_config import Seq2SeqConfig

PENALTIES = (0.0, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5)


def tune(application: Any, config: Seq2SeqConfig, run: runs.Run) -> list[str]:
    """The setting of the best validation score; prints a line for each penalty."""
    from applications.pipeline import stages

    data, model = stages.load(application, config, run)
    limit = config.train.validation_sentences
    sources, references = data.sentences("validation", limit)
    print(f"{len(sources)} validation texts, beam {config.decode.num_beams}")
    found = {}
    for penalty in PENALTIES:
        tried = replace(config, decode=replace(config.decode, length_penalty=penalty))
        answers = application.writer_class(model, data.tokenizer, tried)(sources)
        ((name, found[penalty]),) = application.score(answers, references).items()
        words = sum(len(x.split()) for x in answers) / len(answers)
        print(
            f"length penalty {penalty:g}: {name} {found[penalty]:.4g}, "
            f"{words:.1f} words",
            flush=True,
        )
    best = max(found, key=lambda penalty: found[penalty])
    return [f"decode.length_penalty={best:g}"]
