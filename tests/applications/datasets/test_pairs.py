import pytest

from applications.datasets.pairs import (
    Pair,
    aligned_sentences,
    is_sound,
    sentences,
    split,
    split_name,
    unique,
)


def pair(source="one two three", target="eins zwei drei", group="page"):
    return Pair(group, source, target)


def test_sentences_end_where_a_capital_follows():
    assert sentences("Open it. Then close it! 3 ways? Yes.") == [
        "Open it.",
        "Then close it!",
        "3 ways?",
        "Yes.",
    ]
    assert sentences("See e.g. the menu.") == ["See e.g. the menu."]


def test_aligned_sentences_pairs_only_equal_counts():
    cut = list(aligned_sentences("p", "A b. C d.", "E f. G h."))
    assert cut == [Pair("p", "A b.", "E f."), Pair("p", "C d.", "G h.")]
    whole = list(aligned_sentences("p", "A b. C d.", "E f, g h."))
    assert whole == [Pair("p", "A b. C d.", "E f, g h.")]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("one two", "eins zwei drei"),
        ("word " * 41, "wort " * 41),
        ("one two three", "eins"),
        ("one two three", "one two three"),
        ("one two three", "eins zwei drei vier fünf sechs sieben"),
        ("1 2 3", "4 5 6"),
    ],
)
def test_unsound_pairs_are_refused(source, target):
    assert not is_sound(pair(source, target))
    assert is_sound(pair())


def test_unique_keeps_the_first_of_every_source():
    first, again = pair(), pair(target="eins und zwei", group="other")
    assert unique([first, again, pair("a b", "c d")]) == [first]


def test_split_name_is_the_documented_hash():
    # zlib.crc32 of these keys, modulo 100: 0, 9 and 40.
    assert split_name("key-31") == "test"
    assert split_name("key-21") == "validation"
    assert split_name("key-0") == "train"
    assert split_name(b"key-31") == "test"


def test_split_cuts_no_document_and_drops_sources_seen_in_train():
    pairs = [
        pair(f"text number {i} of {j}", group=f"g{i}") for i in range(99) for j in "ab"
    ]
    held_out = next(p for p in pairs if split_name(p.group) == "test")
    leaked = pair(held_out.source, group="key-0")
    parts = split([*pairs, leaked])
    groups = [{p.group for p in part} for part in parts.values()]
    assert not groups[0] & groups[1]
    assert not groups[0] & groups[2]
    assert not groups[1] & groups[2]
    assert held_out not in parts["test"]
    assert sum(map(len, parts.values())) == len(pairs)
