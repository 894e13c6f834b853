import subprocess
import sys

import pytest

from benchmarks import __main__ as command


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--rows", "99"], "invalid choice: 99"),
        (["--quick", "--output", "somewhere"], "not allowed with"),
        (["faster"], "invalid choice: 'faster'"),
    ],
)
def test_mistakes_are_named(arguments, complaint, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert complaint in capsys.readouterr().err


def test_help_imports_no_framework():
    code = (
        "import sys, benchmarks.__main__; "
        "sys.exit(bool({'keras', 'tensorflow', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
