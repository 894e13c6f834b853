import numpy as np
import pytest
import tensorflow as tf

from applications.language_modeling.tokens import (
    ByteTokens,
    cleaned_texts,
    sentinel_names,
)
from applications.text.vocabulary import END, PADDING, START, UNKNOWN

TEXTS = ["Open the file.\nClick the button.", "Café \N{HOT BEVERAGE}", ""]


def test_texts_come_back(tokens):
    ids = tokens.ragged(TEXTS, add_start=True, add_end=True)
    assert [row[0] for row in ids.to_list()] == [START] * 3
    assert [row[-1] for row in ids.to_list()] == [END] * 3
    found = tokens.decode(ids.to_tensor(PADDING)).numpy()
    assert [text.decode() for text in found] == TEXTS


def test_nothing_after_the_end_is_said(tokens):
    ids = tokens.ragged(["Open", " file"]).to_tensor(PADDING)
    joined = tf.concat([ids[:1], [[END]], ids[1:]], axis=1)
    assert tokens.decode(joined).numpy().tolist() == [b"Open"]


def test_white_space_is_single_and_lines_are_not_blank(tokens):
    odd = "  Open\t the \u00a0file. \r\n\n  Click.\n "
    plain = "Open the file.\nClick."
    assert cleaned_texts([odd]) == [plain]
    ids = tokens.ragged([odd, plain])
    assert ids[0].numpy().tolist() == ids[1].numpy().tolist()


def test_a_line_begins_with_the_same_piece_as_elsewhere(tokens):
    if isinstance(tokens, ByteTokens):
        pytest.skip("a byte knows no words")
    lines = tokens.ragged(["Open\nClick"])[0].numpy().tolist()
    words = [x.numpy().tolist() for x in tokens.ragged(["Open", "Click"])]
    (line_break,) = set(lines) - {*words[0], *words[1]}
    assert lines == [*words[0], line_break, *words[1]]
    assert tokens.pieces([line_break]) == ["⏎"]


def test_a_gap_is_one_token_and_takes_the_blank_before_it(tokens):
    ids = tokens.ragged(["Open the [MASK].", "[MASK] the file", "the[MASK]"])
    assert [row.count(tokens.gap) for row in ids.to_list()] == [1, 1, 1]
    whole = tokens.ragged(["Open the.", "the file", "the"])
    without = [[i for i in row if i != tokens.gap] for row in ids.to_list()]
    if isinstance(tokens, ByteTokens):
        assert tokens.decode(tf.constant(without[:1])).numpy() == [b"Open the ."]
    else:
        assert without == whole.to_list()


def test_markers_are_no_text(tokens):
    assert len(tokens.sentinels) == 3
    assert len(set(tokens.special)) == 8
    assert max(tokens.special) < tokens.vocabulary_size
    names = " ".join(sentinel_names(3))
    spelled = set(tokens.ragged([f"{names} </s> <unk>"])[0].numpy().tolist())
    assert not spelled & set(tokens.special)
    spoken = (END, tokens.gap, UNKNOWN)  # which is never written
    silent = [[i for i in tokens.special if i not in spoken]]
    assert tokens.decode(tf.constant(silent)).numpy().tolist() == [b""]


def test_every_id_has_a_label(tokens):
    labels = tokens.pieces(range(tokens.vocabulary_size))
    assert len(labels) == tokens.vocabulary_size
    ids = tokens.ragged(["a file"])[0].numpy()
    joined = "".join(np.array(labels)[ids])
    assert joined.lstrip("▁") == "a▁file"


def test_bytes_without_a_gap_spell_it():
    tokens = ByteTokens()
    assert (tokens.vocabulary_size, tokens.gap, len(tokens.sentinels)) == (260, None, 0)
    ids = tokens.ragged(["[MASK]"])
    assert ids.row_lengths().numpy().tolist() == [6]
    assert tokens.pieces([2, 4 + ord("\n"), 4 + 0xC3]) == ["<2>", "⏎", "<0xC3>"]
