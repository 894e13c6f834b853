from applications.datasets.errors import DataError
from applications.errors import UserError


def test_the_command_line_prints_a_data_error_as_one_line():
    assert issubclass(DataError, UserError)
