import numpy as np

from applications.image_captioning import baselines
from applications.image_captioning.data import Example


def test_the_most_frequent_caption():
    texts = [("a cat",), ("a dog", "dog"), ("dog",), ("a cat",), ("dog", "a pup")]
    training = [Example(str(i), "x", text) for i, text in enumerate(texts)]
    assert baselines.most_frequent(training) == "dog"
    assert baselines.most_frequent(training[:2]) == "a cat"  # the first of equal ones


def test_the_nearest_image_by_what_the_encoder_sees(captioner, data):
    model = captioner.model
    training = data.examples("train")
    found = baselines.nearest(model, data, training)
    images = [np.concatenate(list(data.image_batches(s))) for s in ("test", "train")]
    asked, known = (
        np.asarray(model.encoder(x.astype("float32"))).mean(axis=1) for x in images
    )
    cosines = (asked @ known.T) / (
        np.linalg.norm(asked, axis=1)[:, None] * np.linalg.norm(known, axis=1)
    )
    expected = [training[i].captions[0] for i in cosines.argmax(axis=1)]
    assert found == expected
    assert len(set(found)) > 1


def test_an_image_is_nearest_to_itself(captioner, data, monkeypatch):
    monkeypatch.setattr(data, "image_batches", lambda split: train)
    train = list(type(data).image_batches(data, "train"))
    training = data.examples("train")
    found = baselines.nearest(captioner.model, data, training)
    assert found == [example.captions[0] for example in training]
