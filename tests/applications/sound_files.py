"""Sound files that tests write."""

import io

import numpy as np
import soundfile


def noise(value, samples=400, channels=1):
    """Random samples that follow from `value`, int16 `(samples, channels)`."""
    random = np.random.default_rng(value)
    return random.integers(-20_000, 20_000, (samples, channels), dtype=np.int16)


def recording(path, value, rate=16_000, samples=400, channels=1):
    """Write a file of noise, in the format that its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, noise(value, samples, channels), rate)


def wav(samples, rate=16_000, subtype="PCM_16"):
    """The bytes of a WAV file of these samples, `(samples,)` or with channels."""
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format="WAV", subtype=subtype)
    return file.getvalue()


def class_folder(root, count=40):
    """Write two classes of recordings, some deeper, all different."""
    for value in range(count):
        recording(root / "no" / f"{value}.wav", value)
        recording(root / "yes" / "more" / f"{value}.FLAC", 1000 + value, rate=8000)
    return root


def transcribed_folder(root, count=60):
    """Write `count` different recordings, and what is said in each."""
    lines = []
    for value in range(count):
        recording(root / "more" / f"{value}.wav", value)
        lines.append(f"more/{value}.wav\tSentence {value}.")
    (root / "transcripts.tsv").write_text("\n".join(lines), encoding="utf-8")
    return root
