"""What every search keeps: rows alone, prompts, padding, one compiled loop."""

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import (
    AllowedTokens,
    BeamSearch,
    Decodable,
    GreedySearch,
    SamplingSearch,
)
from tests.backend import compiled
from tests.keras_attention.decoding import plain_rules
from tests.keras_attention.decoding.searches import (
    BATCH,
    CERTAIN,
    LENGTH,
    PLAIN_RULES,
    RULED,
    TOKENS,
    VOCABULARY,
    every_search,
    every_search_by_rows,
)
from tests.keras_attention.decoding.toys import (
    END,
    PAD,
    START,
    Recurrent,
    arrays,
    assert_same,
    chain,
    decode,
    item_of,
    seeded,
)


def c35():
    """Case C35: after the end token the chain would go on with 3, which shows."""
    return chain(
        {
            START: {3: 0.6, 4: 0.3, END: 0.1},
            3: {END: 0.55, 4: 0.45},
            4: {END: 1.0},
            END: {3: 1.0},
        }
    )


C35_SEARCHES = [
    GreedySearch(6, START, END, PAD),
    BeamSearch(6, START, END, PAD, num_beams=1),
    BeamSearch(6, START, END, PAD, num_beams=3),
]


@pytest.mark.parametrize("search", C35_SEARCHES, ids=["greedy", "beam 1", "beam 3"])
def test_c35_greedy_and_beams_of_any_width_agree(search):
    (found,) = decode(search, [c35()], prompt=np.array([[START]]))
    assert found.tokens.tolist() == [[[3, END, PAD, PAD, PAD, PAD]]]
    assert found.lengths.tolist() == [[2]]
    np.testing.assert_allclose(found.log_probabilities, [[-1.108663]], atol=1e-6)


@pytest.mark.parametrize(
    "ends", [3, np.int64(3), (END, 3)], ids=["one", "of NumPy", "several"]
)
def test_each_of_the_end_tokens_ends(ends):
    search = GreedySearch(6, START, ends, PAD, min_length=2)
    (found,) = decode(search, [c35()], batch_size=1)
    # `min_length` forbids each of them at first: 4 takes the place of 3.
    written = [4, END, 3] if np.ndim(ends) == 0 else [4, END]
    assert found.tokens[0, 0, : found.lengths[0, 0]].tolist() == written


@pytest.mark.parametrize("search", C35_SEARCHES, ids=["greedy", "beam 1", "beam 3"])
def test_c35_a_finished_row_is_padded_while_another_runs(search):
    model = c35()
    model.table = np.repeat(model.table, 2, axis=0)
    (found,) = decode(search, [model], prompt=np.array([[START, 4], [4, START]]))
    assert found.tokens[:, 0, :3].tolist() == [[END, PAD, PAD], [3, END, PAD]]
    assert (found.tokens[:, 0, 3:] == PAD).all()
    assert found.lengths.tolist() == [[1], [2]]


@every_search_by_rows
def test_a_row_decodes_alone_as_in_a_batch(search):
    models = [Recurrent(seed, BATCH, VOCABULARY, LENGTH) for seed in range(2)]
    singles = [model.only(item) for model in models for item in range(BATCH)]
    alone = iter(decode(search, singles, batch_size=1))
    for together in decode(search, models, batch_size=BATCH):
        assert len(set(together.lengths[:, 0])) > 1
        for item in range(BATCH):
            assert_same(next(alone), item_of(together, item))


@every_search
def test_only_padding_after_the_end(search):
    models = [Recurrent(seed, BATCH, VOCABULARY, LENGTH) for seed in range(4)]
    for found in decode(search, models, batch_size=BATCH):
        after = np.arange(LENGTH) >= found.lengths[..., None]
        assert (found.tokens[after] == PAD).all()
        last = np.take_along_axis(found.tokens, found.lengths[..., None] - 1, axis=2)
        assert ((last[..., 0] == END) | (found.lengths == LENGTH)).all()


@every_search
def test_a_prompt_is_read_first_and_is_no_part_of_the_result(search):
    """What follows a prompt is what `reference` gives after the same tokens."""
    model = Recurrent(3, BATCH, VOCABULARY, LENGTH + 3)
    rules = PLAIN_RULES if search.rules else []
    prompts = [[START, 3, item + 2, 4] for item in range(BATCH)]
    (found,) = decode(search, [model], prompt=np.array(prompts))
    for item, prompt in enumerate(prompts):
        written, total = [], 0.0
        for token in found.tokens[item, 0, : found.lengths[item, 0]].tolist():
            following = model.reference(item, prompt + written)
            total += plain_rules.ruled(rules, following, written, prompt)[token]
            written.append(token)
        np.testing.assert_allclose(
            found.log_probabilities[item, 0], total, rtol=1e-4, atol=1e-4
        )


PROMPT_LENGTHS = np.array([2, 1, 5, 2, 4])
PROMPTS = np.array(
    [
        [START, 3, -1, 999, -7],  # any junk may follow a prompt
        [4, 3, 3, 3, 3],
        [START, 5, 3, 6, 4],
        [3, 4, END, END, END],
        [START, 4, 5, 4, PAD],
    ]
)
ROOM = LENGTH + PROMPTS.shape[1] - 1


@every_search_by_rows
def test_prompts_of_several_lengths_are_each_read_as_alone(search):
    model = Recurrent(3, BATCH, VOCABULARY, ROOM)
    arguments = {"prompt": PROMPTS, "prompt_lengths": PROMPT_LENGTHS}
    (together,) = decode(search, [model], **arguments)
    for item, length in enumerate(PROMPT_LENGTHS[:3]):  # each of another length
        prompt = PROMPTS[item : item + 1, :length]
        (alone,) = decode(search, [model.only(item)], prompt=prompt)
        assert_same(alone, item_of(together, item))


@pytest.mark.parametrize("search", [CERTAIN["greedy"], CERTAIN["beam with rules"]])
def test_the_full_length_may_follow_any_prompt(search):
    model = Recurrent(3, BATCH, VOCABULARY, ROOM)
    endless = AllowedTokens(lambda prefix: ops.arange(VOCABULARY) != END)
    arguments = {"prompt": PROMPTS, "prompt_lengths": PROMPT_LENGTHS}
    (found,) = decode(search, [model], rules=[endless], **arguments)
    assert (found.lengths == LENGTH).all()


def recording(model):
    """The model's step and its first state, with the tokens that were read."""

    def step(tokens, state):
        logits, inner = model.step(tokens, state["model"])
        here = ops.arange(ROOM) == state["position"]
        return logits, {
            "model": inner,
            "position": state["position"] + 1,
            "read": ops.where(here, tokens[:, None], state["read"]),
        }

    read = ops.full((BATCH, ROOM), -1, dtype="int32")
    return step, {"model": model.initial_state(), "position": 0, "read": read}


@every_search
def test_what_is_kept_of_the_state_belongs_to_the_hypothesis(search):
    """Each has read its own prompt and its own tokens but the last."""
    step, state = recording(Recurrent(3, BATCH, VOCABULARY, ROOM))

    def run(state):
        return search.search(
            step,
            state,
            prompt=PROMPTS,
            prompt_lengths=PROMPT_LENGTHS,
            keep=lambda state: {"read": state["read"]},
            **seeded(search),
        )

    found = arrays(compiled(run)(state))
    kept = found.kept["read"]
    assert kept.shape == (BATCH, search.num_return, ROOM)
    for item, place in np.ndindex(BATCH, search.num_return):
        prompt = PROMPTS[item, : PROMPT_LENGTHS[item]]
        written = found.tokens[item, place, : found.lengths[item, place] - 1]
        read = [*prompt, *written]
        assert kept[item, place, : len(read)].tolist() == read


@pytest.mark.parametrize("kind", [GreedySearch, BeamSearch, SamplingSearch])
def test_rules_of_a_call_are_added_to_those_of_the_search(kind):
    models = [Recurrent(seed, BATCH, VOCABULARY, LENGTH) for seed in range(2)]
    first, *rest = RULED["rules"]
    ruled = decode(kind(*TOKENS, rules=[first, *rest]), models, batch_size=BATCH)
    search = kind(*TOKENS, rules=[first])
    added = decode(search, models, batch_size=BATCH, rules=rest)
    for one, other in zip(ruled, added, strict=True):
        assert_same(one, other)


@every_search
def test_stops_with_the_longest_row(search):
    """From its fourth token on the model says NaN, which would show."""

    def step(tokens, position):
        token = ops.where(position < 2, 3, END)
        certain = ops.one_hot(ops.zeros_like(tokens) + token, VOCABULARY)
        logits = ops.where(position < 3, ops.log(certain), float("nan"))
        return logits, position + 1

    found = arrays(search.search(step, 0, batch_size=2, **seeded(search)))
    assert (found.lengths[:, 0] == 3).all()
    assert np.isfinite(found.log_probabilities[:, 0]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Exactly one of `batch_size` and `prompt`"),
        ({"batch_size": 1, "prompt": [[1]]}, "Exactly one of"),
        ({"prompt": [1, 2]}, r"`prompt` must have the shape \(batch, tokens\)"),
        ({"prompt": np.zeros((2, 0))}, "at least one token"),
        ({"prompt": [[1, 2]], "prompt_read": 2}, "`prompt_read` must leave"),
        ({"prompt": [[1, 2]], "prompt_read": -1}, "`prompt_read` must leave"),
    ],
)
def test_refuses_a_wrong_start(arguments, message):
    with pytest.raises(ValueError, match=message):
        GreedySearch(3, START, END).search(c35().step, {}, **arguments)


def test_refuses_wrong_tokens_and_lengths():
    with pytest.raises(ValueError, match="`max_length` must be a positive integer"):
        GreedySearch(0, START, END)
    with pytest.raises(ValueError, match="must not be negative"):
        GreedySearch(3, START, -1)
    with pytest.raises(ValueError, match="must not be negative"):
        GreedySearch(3, START, [END, -1])
    with pytest.raises(ValueError, match="At least one token"):
        GreedySearch(3, START, [])
    with pytest.raises(ValueError, match="`min_length` must be a positive integer"):
        GreedySearch(3, START, END, min_length=0)
    with pytest.raises(ValueError, match="`min_length` must be at most `max_length`"):
        GreedySearch(3, START, END, min_length=4)


@pytest.mark.parametrize("search", [CERTAIN["greedy"], CERTAIN["beam"]])
def test_only_sampling_takes_a_seed(search):
    with pytest.raises(ValueError, match="Only `SamplingSearch` takes a `seed`"):
        search.search(c35().step, {}, batch_size=1, seed=3)


def test_the_protocol_is_recognised():
    assert isinstance(c35(), Decodable)
    assert not isinstance(object(), Decodable)


@pytest.mark.parametrize("lengths", [[0, 2], [1, 3]])
def test_refuses_lengths_that_do_not_fit_a_prompt(lengths):
    with pytest.raises(ValueError, match="from 1 to the width of `prompt`"):
        GreedySearch(3, START, END).search(
            c35().step, {}, prompt=[[1, 2], [1, 2]], prompt_lengths=np.array(lengths)
        )


def test_a_rule_cannot_raise_a_probability_above_1():
    """The beam's bound relies on it: the log-probabilities stay at or below 0."""
    search = BeamSearch(3, START, END, PAD, rules=[lambda chances, prefix: chances + 9])
    (found,) = decode(search, [c35()], batch_size=1)
    assert (found.log_probabilities <= 0).all()
