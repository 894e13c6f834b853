import pytest

from applications.pipeline.run import Run
from applications.text import seq2seq_application as module
from applications.text.seq2seq_application import Seq2SeqApplication
from applications.text.seq2seq_config import (
    Seq2SeqConfig,
    Seq2SeqDataConfig,
    Seq2SeqTrainConfig,
)
from applications.text.seq2seq_data import Seq2SeqData


class Data(Seq2SeqData[Seq2SeqConfig]):
    longest = 12


class Echo:
    """Answers with the last word; remembers which of them there were."""

    made: list

    def __init__(self, model, tokenizer, config):
        self.model = model
        self.made.append(self)

    def __call__(self, texts, search="beam"):
        return [f"{search} {text.split()[-1]}" for text in texts]


class Task(Seq2SeqApplication[Seq2SeqConfig, Data]):
    name = "task"
    data_class, writer_class, answer = Data, Echo, "said"

    def score(self, answers, references):
        pairs = zip(answers, references, strict=True)
        return {"right": sum(one == other for one, other in pairs)}

    def unused(self, *arguments):
        raise AssertionError

    about = build_model = evaluate = explain = unused


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "pairs.tsv"
    lines = (f"the text number {i}\tgreedy {i}" for i in range(100))
    path.write_text("\n".join(lines), encoding="utf-8")
    return Seq2SeqConfig(
        data=Seq2SeqDataConfig(name=str(path), data_dir=str(tmp_path / "data")),
        train=Seq2SeqTrainConfig(validation_sentences=2, label_smoothing=0.3),
    )


@pytest.fixture(autouse=True)
def made(monkeypatch):
    monkeypatch.setattr(Echo, "made", [], raising=False)
    return Echo.made


def test_the_vocabulary_is_of_the_training_split(config, tmp_path, monkeypatch):
    asked = []

    def train(texts, size):
        asked.extend([sorted(texts), size])
        return b"subwords"

    monkeypatch.setattr(module.vocabulary, "train", train)
    run = Run(tmp_path / "run")
    Task().prepare(config, run)
    data = Task().load(config, run)
    assert data.vocabulary == b"subwords"
    sources, targets = data.sentences("train")
    assert len(sources) < 100
    assert asked == [sorted(sources + targets), config.data.vocabulary_size]


def test_what_is_trained_on_is_counted(config, model, capsys):
    data = Data(config, model)
    batches = Task().train_batches(config, data)
    examples = [len(labels) for _, labels in batches.epoch(0)]
    assert len(examples) == batches.batches_per_epoch
    assert capsys.readouterr().out == (
        f"{sum(examples)} training pairs in {len(examples)} batches; "
        f"{data.train.dropped} above 12 subwords left out\n"
    )
    assert Task().objective(config, data)["loss"].label_smoothing == 0.3


def test_a_model_is_validated_by_one_greedy_writer(config, model, made):
    data, task = Data(config, model), Task()
    assert task.validate(config, data, "first") == {"right": 2}
    assert task.validate(config, data, "first") == {"right": 2}
    assert [writer.model for writer in made] == ["first"]
    task.validate(config, data, "second")
    assert [writer.model for writer in made] == ["first", "second"]


def test_answers_are_those_of_the_beam(config, model):
    found = Task().predict(config, Data(config, model), "first", ["a b", "c"])
    assert list(found) == ["beam b", "beam c"]
