"""What the tasks share that give one class to an image, a text or a sound."""

import abc
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeVar

import keras

from applications.classification.objective import objective
from applications.pipeline.application import Application, Quality
from applications.pipeline.train_config import Config

C = TypeVar("C", bound=Config)
D = TypeVar("D")


class ClassifierApplication(Application[C, D]):
    """Inputs to one of a few classes.

    A task adds its data, whose `validation` are batches of inputs and class shares, its
    model, its `classifier`, its evaluation and its pictures.
    """

    quality: ClassVar[Quality] = Quality("val_accuracy", higher_is_better=True)

    @abc.abstractmethod
    def classifier(self, data: D, model: keras.Model) -> Any:
        """Return what answers raw inputs; its `describe` says one line for each."""

    def validation_batches(self, config: C, data: Any):
        return data.validation

    def objective(self, config: Any, data: D) -> dict[str, Any]:
        return objective(config.train)

    def predict(
        self, config: C, data: D, model: keras.Model, inputs: Sequence[str]
    ) -> Iterable[str]:
        yield from self.classifier(data, model).describe(inputs)
