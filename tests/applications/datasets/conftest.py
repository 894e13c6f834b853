"""What the tests of the loaders share: no network, and sets that only seem prepared."""

import pytest
import tensorflow_datasets as tfds

from applications.datasets import preparation


@pytest.fixture
def no_network(monkeypatch):
    """No server answers."""

    def unreachable(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(preparation.urllib.request, "urlopen", unreachable)


@pytest.fixture
def pretend_prepared(monkeypatch):
    """A function `(loader, sizes)`: its sets are not made, but told to have `sizes`."""

    def pretend(loader, sizes):
        def prepare(name, builder, instead):
            splits = [
                tfds.core.SplitInfo(name=split, shard_lengths=[size], num_bytes=0)
                for split, size in sizes.items()
            ]
            builder.info.set_splits(tfds.core.SplitDict(splits))

        monkeypatch.setattr(loader, "prepare", prepare)

    return pretend
