"""The error that every problem of a corpus becomes."""

from applications.errors import UserError


class DataError(UserError):
    """A corpus cannot be fetched or read, or is not what it should be."""
