"""A line of a list: two columns with a tab between."""

from applications.datasets.errors import DataError


def two_columns(line: bytes, where: str, expected: str) -> tuple[str, str]:
    """Read a line; the columns come without white space around them.

    Args:
        line: As it stands in the file.
        where: File and number of the line, for errors.
        expected: What the columns are: `"source<TAB>target"`.

    Raises:
        DataError: It is not UTF-8, or has other than two columns.
    """
    try:
        columns = line.decode("utf-8").split("\t")
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is not UTF-8: {error.reason}.") from error
    if len(columns) != 2:
        raise DataError(
            f"{where} must hold two columns, `{expected}`; it has {len(columns)}."
        )
    first, second = (column.strip() for column in columns)
    return first, second
