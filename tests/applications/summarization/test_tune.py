from applications.summarization import tune


def test_help_says_what_it_does(capsys):
    assert tune.main(["--help"]) == 0
    assert "the test set is not looked at" in capsys.readouterr().out
