from dataclasses import replace

import numpy as np
import pytest

from applications.language_modeling import networks
from applications.language_modeling.continuation import (
    Continuation,
    allowed_tokens,
    rules,
)
from applications.language_modeling.tokens import ByteTokens
from tests.applications.language_modeling.conftest import SMOKE
from tests.applications.untrained import restarted

TEXTS = ["Open the", "", "The file that you want to open, " * 3]


@pytest.fixture(scope="module")
def model():
    return restarted(networks.build(SMOKE, 260))


@pytest.fixture(scope="module")
def continuation(model):
    return Continuation(model, ByteTokens(), SMOKE.decode, SMOKE.data.length)


def test_a_row_is_continued_as_it_would_be_alone(continuation):
    together = continuation(TEXTS, "greedy")
    assert together == [continuation([text], "greedy")[0] for text in TEXTS]
    assert len(set(together)) > 1


def test_greedy_is_the_likeliest_token_after_what_was_read(continuation, model):
    tokens = continuation.tokens
    ids = tokens.ragged(TEXTS[:1], add_start=True).to_tensor()
    logits = np.where(allowed_tokens(tokens), model(ids)[0, -1], -np.inf)
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


def test_rules_follow_the_settings(model):
    assert len(rules(SMOKE.decode, ByteTokens())) == 1
    decode = replace(SMOKE.decode, no_repeat_ngram=1, repetition_penalty=1.5)
    assert len(rules(decode, ByteTokens())) == 3
    continuation = Continuation(model, ByteTokens(), decode, 32)
    prompts = continuation.prompts(np.array(["Open"]))
    written = continuation.search(prompts, "greedy").tokens[0, 0].numpy().tolist()
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
    assert all(set("ex▁") & set(piece) for piece in gone)
    kept = [piece for piece in pieces[without] if not piece.startswith("<0x")]
    assert not any(set("ex▁") & set(piece) for piece in kept)


def test_what_is_added_begins_with_its_blank(vocabulary_model):
    from applications.language_modeling.continuation import Prompts
    from applications.language_modeling.tokens import SubwordTokens

    tokens = SubwordTokens(vocabulary_model, with_gap=True, num_sentinels=3)
    continuation = Continuation(None, tokens, SMOKE.decode, 32)
    first, second = (tokens.ragged([text]) for text in ("Open", "the file"))
    prompts = Prompts(first.to_tensor(), first.row_lengths())
    added = continuation.added(prompts, second.to_tensor())
    assert added.numpy().tolist() == [b" the file"]
