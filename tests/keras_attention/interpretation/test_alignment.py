"""Alignment measures against counts made by hand."""

import math

import numpy as np
import pytest
from keras import ops

from keras_attention.interpretation import (
    copied_words,
    copy_alignment,
    diagonality,
    entropy,
    word_scores,
    words,
)

SOURCE = ["▁See", "▁LibreOffice", "▁", "4", "2", "▁there", "</s>"]
TARGET = ["▁", "4", "2", "▁in", "▁Libre", "Office", "</s>"]
# Words of the source: See, LibreOffice, 42, there, </s>.


def rows(*chosen, size=7):
    """One head: row `t` gives 0.7 to piece `chosen[t]`, the rest to all evenly."""
    return 0.7 * np.eye(size)[list(chosen)] + 0.3 / size


# -------------------------------------------------------------------------------- words


def test_words_join_their_pieces():
    found = words(SOURCE)
    assert [word.text for word in found] == ["See", "LibreOffice", "42", "there", ""]
    assert [(word.start, word.stop) for word in found] == [
        (0, 1),
        (1, 2),
        (2, 5),
        (5, 6),
        (6, 7),
    ]


def test_a_word_is_predicted_by_the_piece_with_its_first_letter_or_digit():
    assert [
        word.first for word in words(["▁", "4", "2", "▁(", "Ctrl", "+S", ")."])
    ] == [
        1,
        4,
    ]
    # "Ç" in bytes: known when its last byte is.
    (word,) = words(["▁", "<0xC3>", "<0x87>", "a"])
    assert (word.text, word.first) == ("Ça", 2)


def test_punctuation_around_is_no_part_of_the_text():
    pieces = ["▁»", "PDF", "«,", "▁–", "▁3.5", ".", "▁_x_"]
    assert [word.text for word in words(pieces)] == ["PDF", "", "3.5", "x"]


def test_special_pieces_stand_alone():
    found = words(["<s>", "a", "b", "</s>", "<pad>"])
    assert [(word.text, word.start, word.stop) for word in found] == [
        ("", 0, 1),
        ("ab", 1, 3),
        ("", 3, 4),
        ("", 4, 5),
    ]
    assert [word.text for word in words(["<2de>", "▁a"], special=["<2de>"])] == [
        "",
        "a",
    ]


def test_sentences_begin_at_the_start_and_after_a_full_stop():
    pieces = ["<s>", "▁–", "▁Open", "▁Calc", '."', "▁Then", "▁Note:", "▁Use", "▁it"]
    opening = [word.text for word in words(pieces) if word.opens_sentence]
    assert opening == ["Open", "Then", "Use"]


def test_no_pieces_are_no_words():
    assert words([]) == []


# ------------------------------------------------------------------------- copied words


def copied(source, target):
    source, target = words(source), words(target)
    return [
        (source[here].text, target[there].text)
        for here, there in copied_words(source, target)
    ]


def test_numbers_and_names_are_found_on_both_sides():
    assert copied(SOURCE, TARGET) == [("LibreOffice", "LibreOffice"), ("42", "42")]


def test_how_a_word_is_cut_into_pieces_does_not_matter():
    assert copied(["▁at", "▁Ber", "lin"], ["▁in", "▁B", "erlin", "!"]) == [
        ("Berlin", "Berlin")
    ]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (["▁Format", "▁it"], ["▁Format"]),  # capitalised because it opens the sentence
        (["▁the", "▁format"], ["▁format"]),  # not capitalised
        (["▁F5", "▁or", "▁F5"], ["▁F5"]),  # twice in the source
        (["▁press", "▁F5"], ["▁F5", "▁F5"]),  # twice in the target
        (["▁press", "▁F5"], ["▁F6"]),
        (["▁is", "▁–"], ["▁–"]),
        (["</s>"], ["</s>"]),
    ],
)
def test_words_in_doubt_are_left_out(source, target):
    assert copied(source, target) == []


# -------------------------------------------------------------------------- word scores


def test_scores_of_a_word_are_the_sum_over_its_pieces():
    scores = np.array([[[0.1, 0.2, 0.05, 0.25, 0.15, 0.05, 0.2]]])
    found = word_scores(ops.convert_to_tensor(scores), words(SOURCE))
    np.testing.assert_allclose(found, [[[0.1, 0.2, 0.45, 0.05, 0.2]]], atol=1e-6)


# ----------------------------------------------------------------------- copy alignment


def test_shares_by_hand():
    # 42 is predicted in row 1, LibreOffice in row 4.
    right = rows(6, 3, 6, 6, 1, 6, 6)
    half = rows(6, 4, 6, 6, 0, 6, 6)  # at 42 only
    wrong = rows(6, 1, 6, 6, 3, 6, 6)  # each at the other word
    result = copy_alignment([(np.stack([half, right, wrong]), SOURCE, TARGET)])
    assert result.words == 2
    assert result.heads == (0.5, 1.0, 0.0)
    assert (result.best_head, result.best, result.some) == (1, 1.0, 1.0)
    assert result.best_chance == pytest.approx(1 / 5)
    assert result.some_chance == pytest.approx(1 - (4 / 5) ** 3)
    # The best head looks at either word in one of seven rows.
    assert result.best_any_step == pytest.approx(1 / 7)
    # Some head: at 42 in rows 1 and 4, at LibreOffice in rows 1 and 4.
    assert result.some_any_step == pytest.approx(2 / 7)


def test_the_step_that_predicts_counts_not_the_one_after():
    shifted = rows(6, 6, 3, 6, 6, 1, 6)
    assert copy_alignment([(shifted, SOURCE, TARGET)]).best == 0


def test_a_word_wins_by_the_sum_of_its_pieces():
    # 42 has 0.3 + 0.3, "See" alone has 0.4: the largest single weight is elsewhere.
    scores = np.zeros((7, 7))
    scores[:, 3] = scores[:, 4] = 0.3
    scores[:, 0] = 0.4
    result = copy_alignment([(scores, SOURCE, TARGET)])
    assert result.heads == (0.5,)


def test_a_head_that_always_looks_there_is_given_away_by_all_steps():
    result = copy_alignment([(rows(*[3] * 7), SOURCE, TARGET)])
    assert result.best == 0.5
    assert result.best_any_step == 0.5


def test_special_pieces_compete():
    to_the_end = copy_alignment([(rows(*[6] * 7), SOURCE, TARGET)])
    assert to_the_end.best == 0


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_tie_is_no_hit(value):
    source, target = ["▁x", "▁F5"], ["▁F5", "▁y"]
    result = copy_alignment([(np.full((2, 2), value), source, target)])
    assert (result.words, result.best) == (1, 0.0)


def test_shares_are_over_words_of_all_sentences():
    short = (rows(1, 1, size=2), ["▁x", "▁F5"], ["▁F5", "▁y"])
    nothing = (rows(0, size=1), ["▁x"], ["▁y"])
    result = copy_alignment(iter([(rows(*[6] * 7), SOURCE, TARGET), short, nothing]))
    assert result.words == 3
    assert result.heads == (pytest.approx(1 / 3),)
    assert result.best_chance == pytest.approx((1 / 5 + 1 / 5 + 1 / 2) / 3)


def test_random_weights_reach_what_chance_says():
    generator = np.random.default_rng(0)
    source, target = ["▁a", "▁b", "▁F5", "▁c", "▁d"], ["▁F5", "▁x"]
    scores = generator.dirichlet(np.ones(5), size=(2000, 4, 2))
    result = copy_alignment((head, source, target) for head in scores)
    assert result.best_chance == pytest.approx(0.2)
    np.testing.assert_allclose(result.heads, 0.2, atol=0.03)
    assert result.some == pytest.approx(result.some_chance, abs=0.04)


def test_without_copied_words_there_are_no_shares():
    result = copy_alignment([(np.ones((3, 1, 1)), ["▁x"], ["▁y"])])
    assert result.words == 0
    assert len(result.heads) == 3
    assert all(math.isnan(share) for share in (*result.heads, *result[3:]))


def test_scores_must_fit_the_pieces():
    with pytest.raises(ValueError, match=r"\(heads, target pieces, source pieces\)"):
        copy_alignment([(np.ones((3, 2, 1)), ["▁x"], ["▁y"])])
    one, two = np.ones((1, 1, 1)), np.ones((2, 1, 1))
    with pytest.raises(ValueError, match="the same heads every time"):
        copy_alignment([(one, ["▁x"], ["▁y"]), (two, ["▁x"], ["▁y"])])
    with pytest.raises(ValueError, match="at least one sentence pair"):
        copy_alignment([])


# ------------------------------------------------------------------------------ entropy


def test_entropy_by_hand():
    scores = ops.convert_to_tensor([[0.5, 0.5, 0.0, 0.0], [0.7, 0.1, 0.1, 0.1]])
    second = -(0.7 * math.log(0.7) + 0.3 * math.log(0.1)) / math.log(4)
    np.testing.assert_allclose(entropy(scores), [0.5, second], atol=1e-6)


def test_entropy_is_over_the_allowed_keys():
    mask = np.tril(np.ones((3, 3), bool))
    scores = np.array([[[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]])
    np.testing.assert_allclose(entropy(scores, mask), [[np.nan, 1, 1]])


def test_entropy_of_an_empty_row_is_undefined():
    assert np.isnan(entropy([[0.0, 0.0]])).all()


# -------------------------------------------------------------------------- diagonality


def test_diagonality_by_hand():
    scores = np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    # Mean distances 0.375 of 1, 0.25 of 0.5, and 0.
    assert diagonality(scores) == pytest.approx(1 - (0.375 + 0.5 + 0) / 3)
    assert diagonality(scores.T[::-1].T) < diagonality(scores)


def test_diagonality_of_each_head_whatever_a_row_sums_to():
    even = np.full((4, 90), 1 / 90)
    steps = np.zeros((4, 90))
    steps[range(4), [0, 30, 59, 89]] = 3.0
    found = diagonality(ops.convert_to_tensor(np.stack([even, steps])))
    assert found.shape == (2,)
    assert found[0] == pytest.approx(0.53, abs=0.03)
    assert found[1] == pytest.approx(1, abs=0.01)


def test_diagonality_leaves_rows_without_weight_out():
    scores = np.eye(3)
    scores[1] = 0
    assert diagonality(scores) == 1
    assert math.isnan(diagonality(np.zeros((3, 3))))
    assert math.isnan(diagonality(np.ones((1, 5))))
    assert math.isnan(diagonality(np.ones((5, 1))))
