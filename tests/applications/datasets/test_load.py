import subprocess
import sys

import pytest
import tensorflow_datasets as tfds

from applications.datasets import load as loading
from applications.datasets.load import OURS, licence, load
from applications.errors import UserError
from tests.applications.datasets.messages import one_line

LINES = [f"sentence number {i}\tSatz Nummer {i}" for i in range(100)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return path


@pytest.fixture
def sources(file, tmp_path):
    """The source texts of a split of `file`, in order."""

    def read(split):
        rows = load(str(file), split, data_dir=tmp_path / "data")
        return [row["source"].decode() for row in tfds.as_numpy(rows)]

    return read


def test_a_file_is_prepared_once_with_one_line(file, tmp_path, capfd):
    for _ in range(2):
        rows = load(str(file), "train", data_dir=tmp_path / "data")
        assert set(rows.element_spec) == {"source", "target"}
    output, errors = capfd.readouterr()
    assert not output
    assert errors.count("Preparing") == 1


def test_c74_splits_are_disjoint_and_stable_over_epochs(sources):
    """C74: what is held out comes up in no epoch, nor after a restart."""
    epochs = [sources("train") for _ in range(5)]
    held_out = [*sources("validation"), *sources("test")]
    union = set().union(*epochs)
    assert all(epoch == epochs[0] for epoch in epochs)
    assert len(union) == len(epochs[0]) == len(LINES) - len(held_out)
    assert not union & set(held_out)
    assert len(held_out) > 1


def test_a_changed_file_is_prepared_anew(file, sources):
    sources("train")
    file.write_text("\n".join(LINES * 2).replace("sentence", "phrase"), "utf-8")
    assert all(text.startswith("phrase") for text in sources("train"))


@pytest.mark.slow
def test_the_embedded_corpus_loads_by_name_in_another_process(tmp_path):
    assert load("libreoffice_help", "test", tmp_path).cardinality() == 1_414
    script = (
        "import tensorflow_datasets as tfds;"
        "set = tfds.load('libreoffice_help/en-de', split='train', data_dir={!r});"
        "assert len(set) == 33_589"
    )
    subprocess.run([sys.executable, "-c", script.format(str(tmp_path))], check=True)


@pytest.mark.parametrize("name", OURS)
def test_our_builders_are_found_by_name(name, tmp_path):
    builder = loading._builder(name, tmp_path)
    assert builder.name == name
    assert loading._text_keys(name, builder.info) == ("source", "target")


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("ted_hrlr_translate/pt_to_en", ("pt", "en")),
        ("wmt14_translate/de-en", ("de", "en")),
        ("cnn_dailymail", ("article", "highlights")),
        ("xsum", ("document", "summary")),
    ],
)
def test_online_sets_become_pairs(name, keys, tmp_path, pretend_prepared):
    """Shapes only: the network is never asked."""
    pretend_prepared(loading, {"validation": 3})
    with tfds.testing.mock_data(num_examples=3):
        rows = list(tfds.as_numpy(load(name, "validation", tmp_path)))
        builder = loading._builder(name, tmp_path)
        assert loading._text_keys(name, builder.info) == keys
    assert len(rows) == 3
    for row in rows:
        assert {key: type(text) for key, text in row.items()} == {
            "source": bytes,
            "target": bytes,
        }


@pytest.mark.usefixtures("no_network")
def test_without_network_an_online_set_fails_at_once(tmp_path):
    with pytest.raises(UserError, match="the network does not answer") as error:
        load("ted_hrlr_translate/pt_to_en", "train", tmp_path)
    assert "libreoffice_help/en-de" in one_line(error)


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("libreofice_help", "train", "Did you mean 'libreoffice_help'"),
        ("tsv_pairs", "train", "the path of a file that ends in .tsv or .jsonl"),
        ("libreoffice_help/en-xx", "train", "Valid: en-de, "),
        ("debian_descriptions/xx", "train", "Valid: de, fr, it"),
        ("mnist", "train", "no set of pairs of texts; its examples hold image, label"),
        ("libreoffice_help", "dev", "Valid: train, validation, test"),
        ("no/such/file.tsv", "train", "cannot be read: No such file or directory"),
    ],
)
def test_what_does_not_exist_is_one_line(name, split, message, tmp_path):
    with pytest.raises(UserError, match=message) as error:
        load(name, split, tmp_path)
    assert one_line(error)


def test_importing_the_loader_imports_no_tensorflow():
    script = (
        "import sys, applications.datasets.load; assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_licence_is_what_the_builder_states(file):
    assert licence("libreoffice_help/en-de").startswith("MPL-2.0")
    assert licence(str(file)) == "The user's own."
