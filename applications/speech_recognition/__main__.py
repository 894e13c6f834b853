"""`python -m applications.speech_recognition STAGE [--preset NAME] [key=value ...]`."""

import sys
from typing import Any

from applications.pipeline import cli
from applications.speech_recognition.presets import PRESETS


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.speech_recognition.application import SpeechRecognition

    return SpeechRecognition()


if __name__ == "__main__":
    sys.exit(cli.main("speech_recognition", PRESETS, load))
