"""Speech recognizers of every kind, small, and clips that say what they show."""

import keras
import numpy as np
from keras import ops

from keras_attention import losses, metrics, models
from tests.backend import to_numpy

V, F, D, N = 9, 6, 12, 2
BLANK, START, END = 0, 1, 2
KINDS = {
    "conformer": {"encoder_options": {"kernel_size": 3}},
    "gru": {
        "encoder": "transformer",
        "decoder": "gru",
        "encoder_options": {"attention_options": {"num_key_value_heads": 1}},
    },
    "ctc": {
        "objective": "ctc",
        "encoder_options": {"kernel_size": 3, "convolution_norm": "layer"},
    },
    "attention": {
        "objective": "attention",
        "encoder": "transformer",
        "decoder_options": {"num_layers": 2},
    },
}
WRITING = [kind for kind in KINDS if kind != "ctc"]
LENGTHS = (9, 17, 3)  # 3, 5 and 1 places
MASK = np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]
PLACES = np.arange(5) < np.array([3, 5, 1])[:, None]
TARGET = np.array([[1, 4, 6, 8], [1, 5, 0, 0], [1, 3, 7, 0]], "int32")


def make(kind="conformer", **options):
    sizes = {
        "hidden_dim": D,
        "num_layers": 1,
        "num_heads": N,
        "intermediate_dim": 10,
        "filters": 2,
    }
    return models.SpeechRecognizer(V, F, **{**sizes, **KINDS[kind], **options})


def frames(padding=0.0):
    numbers = np.random.default_rng(3).normal(size=(*MASK.shape, F))
    return np.where(MASK[..., None], numbers, padding).astype("float32")


def inputs(model, padding=0.0, row=None):
    """All clips, or one of them without its padding."""
    given = {"frames": frames(padding), "padding_mask": MASK, "target": TARGET}
    if row is not None:
        real, written = LENGTHS[row], (TARGET[row] != 0).sum()
        ends = {"frames": real, "padding_mask": real, "target": written}
        given = {name: x[row : row + 1, : ends[name]] for name, x in given.items()}
    return {name: given[name] for name in model.input}


def logits(model, padding=0.0, row=None):
    """By name, `ctc` and `attention`."""
    found = model(inputs(model, padding, row), training=False)
    return {name: to_numpy(x) for name, x in found.items()}


def real(name):
    """Which rows of an output are no padding."""
    return PLACES if name == "ctc" else TARGET != 0


def steps(model):
    """Logits of the decoder `(B, U, V)`, step by step."""
    state = model.initial_state(frames(), MASK, TARGET.shape[1] + 2)
    found = []
    for t in range(TARGET.shape[1]):
        step, state = model.step(ops.convert_to_tensor(TARGET[:, t]), state)
        found.append(to_numpy(step))
    return np.stack(found, axis=1)


# ------------------------------------------------------------------ a task to be learnt


class Clips:
    """Clips of one to three characters of six, each a bright band for 12 frames.

    Between them 8 frames of noise. A character is about 5 places long, so that greedy
    collapse and alignments have something to do.
    """

    spoken, between = 12, 8

    def __init__(self, count, seed):
        random = np.random.default_rng(seed)
        width = 3 * (self.spoken + self.between)
        self.frames = random.normal(scale=0.3, size=(count, width, F))
        self.frames = self.frames.astype("float32")
        self.characters = np.zeros((count, 3), "int32")
        lengths = random.integers(1, 4, count)
        for row, length in enumerate(lengths):
            texts = 3 + random.integers(0, F, length)
            self.characters[row, :length] = texts
            for place, token in enumerate(texts):
                begin = place * (self.spoken + self.between) + self.between // 2
                self.frames[row, begin : begin + self.spoken, token - 3] += 2
        ends = lengths * (self.spoken + self.between)
        self.mask = np.arange(width) < ends[:, None]
        self.frames[~self.mask] = 0
        self.lengths = lengths

    def inputs(self, model):
        """Of the model: frames, mask, and the characters after the start."""
        started = np.pad(self.characters, [(0, 0), (1, 0)], constant_values=START)
        given = {"frames": self.frames, "padding_mask": self.mask, "target": started}
        return {name: given[name] for name in model.input}

    def labels(self, model):
        """Of the losses: the characters, and those before the end."""
        ended = np.pad(self.characters, [(0, 0), (0, 1)])
        ended[np.arange(len(ended)), self.lengths] = END
        given = {"ctc": self.characters, "attention": ended}
        return {name: given[name] for name in model.output}


def compiled_for_training(model, optimizer, **options):
    """The model, with the loss of each objective it has."""
    every = {"ctc": losses.CTC(), "attention": losses.MaskedCrossentropy()}
    weights = {"ctc": 0.3, "attention": 0.7}
    counted = {"ctc": [metrics.ImpossibleLabels()]} if "ctc" in model.output else None
    model.compile(
        optimizer,
        {name: every[name] for name in model.output},
        loss_weights={name: weights[name] for name in model.output},
        metrics=counted,
        **options,
    )
    return model


def trained(kind, steps, batch_size=32, **options):
    clips = Clips(steps * batch_size, seed=0)
    model = make(kind, hidden_dim=24, intermediate_dim=48, filters=4, **options)
    schedule = keras.optimizers.schedules.CosineDecay(1e-2, steps)
    optimizer = keras.optimizers.Adam(schedule, clipnorm=1.0)
    compiled_for_training(model, optimizer, jit_compile=False).fit(
        clips.inputs(model),
        clips.labels(model),
        batch_size=batch_size,
        shuffle=False,
        verbose=0,
    )
    return model
