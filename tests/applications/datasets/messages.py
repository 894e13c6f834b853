"""What a user reads when a set cannot be loaded."""


def one_line(error):
    """The message of a raised error, which is one line."""
    message = str(error.value)
    assert "\n" not in message
    return message
