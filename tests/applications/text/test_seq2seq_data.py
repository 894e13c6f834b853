"""What every task shares; `translation` and `summarization` test their own parts."""

import pytest
import tensorflow as tf

from applications.text.seq2seq_config import Seq2SeqConfig, Seq2SeqDataConfig
from applications.text.seq2seq_data import Seq2SeqData, teacher_forced
from applications.text.vocabulary import END, PADDING, START


class Data(Seq2SeqData[Seq2SeqConfig]):
    longest = (20, 12)


@pytest.fixture
def data(model, tmp_path):
    path = tmp_path / "pairs.tsv"
    lines = (f"the text number {i}\tnumber {i}" for i in range(100))
    path.write_text("\n".join(lines), encoding="utf-8")
    settings = Seq2SeqDataConfig(
        name=str(path), data_dir=str(tmp_path / "data"), train_limit=30, test_limit=2
    )
    return Data(Seq2SeqConfig(data=settings), model)


def test_limits_and_sentences(data):
    sources, references = data.sentences("train")
    assert len(sources) == data.train.examples + data.train.dropped == 30
    assert sources[0].endswith(references[0])
    assert len(data.sentences("test")[0]) == 2
    assert len(data.sentences("validation", 1)[0]) == 1


def test_batches_have_the_lengths_of_the_task(data):
    for source, target in data.train.epochs(0, 1):
        assert source.shape[1] <= 20
        assert target.shape[1] <= 12
    labels = [labels for _, labels in data.validation]
    count = sum(len(batch) for batch in labels)
    assert count == len(data.sentences("validation")[0])


def test_teacher_forced_by_hand():
    source = tf.constant([[5, END]])
    target = tf.constant([[START, 7, 8, END], [START, 9, END, PADDING]])
    inputs, labels = teacher_forced(source, target)
    assert inputs["source"].numpy().tolist() == [[5, END]]
    assert inputs["target"].numpy().tolist() == [[START, 7, 8], [START, 9, END]]
    assert labels.numpy().tolist() == [[7, 8, END], [9, END, PADDING]]


def test_a_task_must_say_how_long_its_pairs_may_be(data):
    with pytest.raises(NotImplementedError):
        _ = Seq2SeqData(data.config, data.vocabulary).longest
