"""What tasks add is covered by their own tests; here is what they get."""

from types import SimpleNamespace

from applications.classification.application import ClassifierApplication
from applications.pipeline.application import Quality
from applications.pipeline.train_config import CrossentropyTrainConfig


class Doubtful(ClassifierApplication):
    """Its classifier says every input back."""

    about = load = train_batches = build_model = evaluate = explain = export = None

    def classifier(self, data, model):
        return SimpleNamespace(
            describe=lambda inputs: (f"{model} says {data.sure} {x}" for x in inputs)
        )


def test_answers_are_those_of_the_classifier():
    data = SimpleNamespace(sure="maybe", validation=["batch"])
    task = Doubtful()
    said = task.predict(None, data, "it", ["one", "two"])
    assert list(said) == ["it says maybe one", "it says maybe two"]
    assert task.validation_batches(None, data) == ["batch"]


def test_trained_by_crossentropy_and_chosen_by_accuracy():
    config = SimpleNamespace(train=CrossentropyTrainConfig())
    found = Doubtful().objective(config, None)
    (accuracy,) = found["metrics"]
    assert Doubtful.quality == Quality(f"val_{accuracy.name}", higher_is_better=True)
