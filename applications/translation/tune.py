"""`python -m applications.translation.tune RUN`: the length penalty of a trained run.

Translates validation sentences with the run's beam under several penalties and prints
BLEU and length for each; the test set is not looked at.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace

from applications.errors import UserError
from applications.pipeline import cli, quiet
from applications.pipeline import run as runs
from applications.translation.presets import TranslationConfig

PENALTIES = (0.0, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5)


def main(names: Sequence[str]) -> int:
    """Tune one run and say how to evaluate it so."""
    return cli.on_runs(str(__doc__), names, _print)


def _print(names: Sequence[str]) -> None:
    if len(names) != 1:
        raise UserError("Name one trained run, such as small-001.")
    run = runs.find(runs.default_root(), "translation", name=names[0])
    with quiet.startup():
        best = tune(run)
    print(
        f"\nBest on the validation split: {best:g}. On the test split:\n"
        f"python -m applications.translation evaluate run={run.name} "
        f"decode.length_penalty={best:g}"
    )


def tune(run: runs.Run) -> float:
    """The penalty of the highest validation BLEU; prints a line for each."""
    from applications.pipeline import stages
    from applications.translation.application import Translation
    from applications.translation.translator import Translator
    from keras_attention import metrics

    config = run.config(TranslationConfig)
    data, model = stages.load(Translation(), config, run)
    limit = config.train.validation_sentences
    sources, references = data.sentences("validation", limit)
    print(f"{len(sources)} validation sentences, beam {config.decode.num_beams}")
    found = {}
    for penalty in PENALTIES:
        tried = replace(config, decode=replace(config.decode, length_penalty=penalty))
        translations = Translator(model, data.tokenizer, tried)(sources)
        score = metrics.bleu(translations, references)
        found[penalty] = score.value
        words = sum(len(x.split()) for x in translations) / len(translations)
        print(
            f"length penalty {penalty:g}: BLEU {score.value:.2f}, {words:.1f} words",
            flush=True,
        )
    return max(found, key=lambda penalty: found[penalty])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
