from dataclasses import replace

import numpy as np

from applications.language_modeling.continuation import (
    Continuation,
    Prompts,
    allowed_tokens,
    rules,
)
from applications.language_modeling.tokens import ByteTokens, SubwordTokens
from tests.applications.language_modeling.conftest import SMOKE

TEXTS = ["Open the", "", "The file that you want to open, " * 3]


def test_a_row_is_continued_as_it_would_be_alone(continuation):
    together = continuation(TEXTS, "greedy")
    assert together == [continuation([text], "greedy")[0] for text in TEXTS]
    assert len(set(together)) > 1


def test_greedy_is_the_likeliest_token_after_what_was_read(continuation):
    tokens = continuation.tokens
    ids = tokens.ragged(TEXTS[:1], add_start=True).to_tensor()
    allowed = allowed_tokens(tokens)
    allowed[tokens.end] = False  # so early
    logits = np.where(allowed, continuation.model(ids)[0, -1], -np.inf)
    prompts = continuation.prompts(np.array(TEXTS[:1]))
    found = continuation.search(prompts, "greedy").tokens[0, 0, 0]
    assert int(found) == int(np.argmax(logits))


def test_of_a_long_beginning_the_end_is_read(continuation):
    room = SMOKE.data.length - SMOKE.decode.max_length
    prompts = continuation.prompts(np.array(TEXTS))
    assert prompts.lengths.numpy().tolist() == [9, 1, room]
    last = TEXTS[2].strip()[-room:]
    assert continuation.tokens.decode(prompts.ids)[2].numpy().decode() == last
    assert continuation([TEXTS[2]], "greedy") == continuation([last], "greedy")


def test_samples_follow_their_seed(continuation):
    drawn = [continuation(TEXTS, "sample", seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_rules_follow_the_settings(continuation):
    assert len(rules(SMOKE.decode, ByteTokens())) == 1
    decode = replace(SMOKE.decode, no_repeat_ngram=1, repetition_penalty=1.5)
    assert len(rules(decode, ByteTokens())) == 3
    other = Continuation(continuation.model, ByteTokens(), decode, 32)
    prompts = other.prompts(np.array(["Open"]))
    written = other.search(prompts, "greedy").tokens[0, 0].numpy().tolist()
    both = prompts.ids[0].numpy().tolist() + written
    assert len(set(both)) == len(both)


def test_markers_and_forbidden_characters_are_never_written(tokens):
    allowed = allowed_tokens(tokens)
    assert not allowed[[i for i in tokens.special if i != tokens.end]].any()
    assert allowed[tokens.end]
    without = allowed_tokens(tokens, "ex ")
    pieces = np.array(tokens.pieces(range(tokens.vocabulary_size)))
    gone = pieces[allowed & ~without]
    assert len(gone) > 2
    assert all(set("ex▁ ") & set(piece) for piece in gone)
    kept = [piece for piece in pieces[without] if not piece.startswith("<0x")]
    assert not any(set("ex▁ ") & set(piece) for piece in kept)


def test_a_character_of_several_bytes_is_forbidden_in_bytes_too(tokens):
    """The last byte of `é` is that of `©`; nothing else is lost."""
    gone = allowed_tokens(tokens) & ~allowed_tokens(tokens, "é")
    pieces = tokens.pieces(np.flatnonzero(gone))
    assert [x for x in pieces if x.startswith("<0x")] == ["<0xA9>"]
    assert all(x == "<0xA9>" or "é" in x for x in pieces)


def test_what_is_added_begins_with_its_blank(vocabulary_model):
    tokens = SubwordTokens(vocabulary_model, with_gap=True, num_sentinels=3)
    continuation = Continuation(None, tokens, SMOKE.decode, 32)
    first, second = (tokens.ragged([text]) for text in ("Open", "the file"))
    prompts = Prompts(first.to_tensor(), first.row_lengths())
    added = continuation.added(prompts, second.to_tensor())
    assert added.numpy().tolist() == [b" the file"]
