import pytest

from applications.datasets import asterisk_prompts
from applications.errors import UserError
from applications.keyword_spotting import languages
from tests.applications.keyword_spotting.runs_of_kinds import cells, evaluated


def test_languages_and_words_are_those_of_the_set():
    """They stand twice: the set's builder brings TensorFlow."""
    assert languages.LANGUAGES == asterisk_prompts.LANGUAGES
    assert (*asterisk_prompts.KINDS, "all") == languages.WORDS


def test_words_and_other_arguments_are_told_apart():
    assert languages.parsed(["seeds=2"]) == ("phonetic", ["seeds=2"])
    assert languages.parsed(["words=all", "train.epochs=1"]) == (
        "all",
        ["train.epochs=1"],
    )
    with pytest.raises(
        UserError, match=r"Unknown words 'digts'\. Did you mean 'digits'"
    ):
        languages.parsed(["words=digts"])


def test_runs_that_are_there_make_the_table(root, capsys):
    for language in languages.LANGUAGES:
        for seed in range(2):
            name = f"data.name=asterisk_prompts/digits-{language}"
            wrong = 30 if language == "ru" else 10
            settings = [name, f"train.seed={seed}"]
            evaluated(root, languages.PRESET, settings, wrong)
    assert languages.main(["words=digits", "seeds=2"]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("| held out | clips | accuracy, %, over seeds |")
    assert [cells(row)[0] for row in rows] == list(languages.LANGUAGES)
    assert cells(rows[0])[1:5] == ["100", "90.0 [90.0, 90.0]", "99.0", "80.0"]
    *_, gap, frequent = cells(rows[-1])
    assert gap.startswith("-10.0 [-")
    assert frequent == "10.0"
