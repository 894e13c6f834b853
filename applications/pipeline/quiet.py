"""TensorFlow under Keras, without its start-up lines, real errors kept.

Measured with TensorFlow 2.21 on a CPU: importing it prints ten lines. They come from
C++ before any logging is set up, so `TF_CPP_MIN_LOG_LEVEL=3` alone leaves six of them;
those can only be caught at the file descriptor.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from applications.errors import UserError

LEVEL = "TF_CPP_MIN_LOG_LEVEL"

_CHATTER = re.compile(
    r"WARNING: All log messages before absl::InitializeLog"
    r"|[IW]\d{4} |\d{4}-\d\d-\d\d .*: [IW] "
    r"|To enable the following instructions"
)


@contextmanager
def startup() -> Iterator[None]:
    """Import TensorFlow and Keras inside this block.

    Whatever else is written to standard error in the block appears when it ends, by an
    exception too. With `TF_CPP_MIN_LOG_LEVEL` set by the user, everything appears.

    Raises:
        UserError: `KERAS_BACKEND` names another backend. Applications read data with
            TensorFlow and export to it.
    """
    backend = os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    if backend != "tensorflow":
        raise UserError(
            f"Applications run on TensorFlow. Received: KERAS_BACKEND={backend}; "
            "unset it."
        )
    if LEVEL in os.environ:
        yield
        return
    os.environ[LEVEL] = "3"
    with tempfile.TemporaryFile() as captured:
        sys.stderr.flush()
        terminal = os.dup(2)
        os.dup2(captured.fileno(), 2)
        try:
            import tensorflow as tf

            tf.get_logger().setLevel("ERROR")
            yield
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            os.close(terminal)
            captured.seek(0)
            sys.stderr.write(without_chatter(captured.read().decode(errors="replace")))


def without_chatter(text: str) -> str:
    """Return `text` without TensorFlow's lines of information and warning."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not _CHATTER.match(line))
