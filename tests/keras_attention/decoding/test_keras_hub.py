"""KerasHub's models, decoded here and by KerasHub itself, to the same tokens."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention.decoding import (
    BeamSearch,
    Decodable,
    GreedySearch,
    KerasHubCausalLM,
    KerasHubSeq2SeqLM,
    NoRepeatNGrams,
    SamplingSearch,
)
from tests.backend import compiled, tensorflow_only, to_numpy
from tests.keras_attention.decoding import toys
from tests.keras_attention.models.toys import assert_decodes_a_row_alone_as_in_a_batch

keras_hub = pytest.importorskip("keras_hub", reason="KerasHub is not installed here")
# KerasHub's T5 has layers that drop the hidden mask; it passes on one of its own.
pytestmark = pytest.mark.filterwarnings("ignore:.*a mask attached to it:UserWarning")

PAD, START, VOCABULARY, LENGTH = 0, 1, 17, 6
NEVER = VOCABULARY  # as end token: one that the model does not have
PROMPT = np.array([[3, 7, 5, 11, 2], [9, 4, 13, 6, 8], [14, 2, 10, 3, 12]], "int32")
LENGTHS = np.array([2, 5, 3], "int32")
SOURCE = np.array([[5, 3, 7, 4, 2], [6, 8, 2, 0, 0], [9, 2, 0, 0, 0]], "int32")
SIZES = {"num_layers": 2, "hidden_dim": 12, "intermediate_dim": 20}


def gpt2(vocabulary_size=VOCABULARY):
    longest = PROMPT.shape[1] + LENGTH
    backbone = keras_hub.models.GPT2Backbone(
        vocabulary_size, num_heads=2, max_sequence_length=longest, **SIZES
    )
    return keras_hub.models.GPT2CausalLM(backbone)


def llama():
    heads = {"num_query_heads": 2, "num_key_value_heads": 1}
    backbone = keras_hub.models.LlamaBackbone(VOCABULARY, **heads, **SIZES)
    return keras_hub.models.LlamaCausalLM(backbone)


def bart():
    backbone = keras_hub.models.BartBackbone(
        VOCABULARY, num_heads=2, max_sequence_length=11, **SIZES
    )
    return keras_hub.models.BartSeq2SeqLM(backbone)


def t5():
    backbone = keras_hub.models.T5Backbone(VOCABULARY, num_heads=2, **SIZES)
    return keras_hub.models.T5Seq2SeqLM(backbone)


# Scale of token embeddings and kernels, and a seed, with which a model, whose output is
# tied to its input, does not repeat one token for ever.
NOISE = {gpt2: (0.1, 0.3, 5), llama: (0.1, 0.3, 5), bart: (1, 0.3, 2), t5: (1, 0.7, 4)}


def made(make, *arguments):
    """A model of random weights whose choices are no near ties."""
    keras.utils.set_random_seed(0)
    model = make(*arguments)
    embeddings, kernels, seed = NOISE[make]
    random = np.random.default_rng(seed)
    for weight in model.weights:
        if len(weight.shape) > 1:
            scale = embeddings if "embedding" in weight.path else kernels
            scale = 2.0 if "position" in weight.path else scale
            weight.assign(weight + scale * random.normal(size=weight.shape))
    return model


def models(first, *others):
    """The first one always, the others in the thorough tests."""
    others = [pytest.param(make, marks=pytest.mark.thorough) for make in others]
    return {"params": [first, *others], "ids": lambda make: make.__name__}


@pytest.fixture(scope="module", **models(gpt2, llama))
def causal(request):
    return made(request.param)


@pytest.fixture(scope="module", **models(bart, t5))
def seq2seq(request):
    return made(request.param)


def padded(tokens, lengths, total):
    """The first `lengths` of `tokens` in rows of `total`, and where they are."""
    lengths = np.broadcast_to(lengths, len(tokens))
    counts = np.arange(total) < lengths[:, None]
    wide = np.pad(tokens, [[0, 0], [0, total - tokens.shape[1]]])
    return np.where(counts, wide, PAD), counts


def after(prompt_lengths, tokens, counts):
    """What stands after the prompts: `LENGTH` tokens a row, padding after the end."""
    tokens = np.where(counts, tokens, PAD)
    rows = zip(tokens, np.broadcast_to(prompt_lengths, len(tokens)), strict=True)
    return np.stack([row[length : length + LENGTH] for row, length in rows])


def generated(model, prompt, lengths, sampler="greedy", stop=None):
    """What KerasHub writes after the prompts."""
    tokens, counts = padded(prompt, lengths, prompt.shape[1] + LENGTH)
    model.compile(sampler=sampler, run_eagerly=True)
    inputs = {"token_ids": tokens, "padding_mask": counts}
    found = model.generate(inputs, stop_token_ids=stop)
    return after(lengths, found["token_ids"], found["padding_mask"])


def generated_from(model, source, prompt, sampler="greedy", stop=None):
    """What KerasHub writes after the prompts, given sources."""
    length = prompt.shape[1]
    tokens, counts = padded(prompt, length, length + LENGTH)
    model.compile(sampler=sampler, run_eagerly=True)
    inputs = {
        "encoder_token_ids": source,
        "encoder_padding_mask": source != PAD,
        "decoder_token_ids": np.repeat(tokens, len(source), axis=0),
        "decoder_padding_mask": np.repeat(counts, len(source), axis=0),
    }
    found = model.generate(inputs, stop_token_ids=stop)
    return after(length, found["decoder_token_ids"], found["decoder_padding_mask"])


def decode(model, search, prompt=PROMPT, lengths=None, **arguments):
    """Tokens `(B, n, L)`, lengths, log-probabilities and scores found here."""
    lm = KerasHubCausalLM(model)

    def run(prompt):
        first = None if lengths is None else int(lengths.min()) - 1
        state = lm.initial_state(prompt, search.max_length, first)
        return search.search(
            lm.step,
            state,
            prompt=prompt,
            prompt_lengths=lengths,
            prompt_read=state["position"],
            **arguments,
        )[:4]

    return [to_numpy(x) for x in run(ops.convert_to_tensor(prompt))]


def decode_from(model, search, source=SOURCE, prompt=((START,),), **arguments):
    """The same, given sources."""
    lm = KerasHubSeq2SeqLM(model)
    prompt = np.array(prompt, "int32")

    def run(source):
        room = search.max_length + prompt.shape[1] - 1
        state = lm.initial_state(source, room, source != PAD)
        prompts = ops.repeat(prompt, ops.shape(source)[0], axis=0)
        return search.search(lm.step, state, prompt=prompts, **arguments)[:4]

    return [to_numpy(x) for x in run(ops.convert_to_tensor(source))]


def greedy(end_token=NEVER):
    return GreedySearch(LENGTH, START, end_token, PAD)


def beam(**options):
    return BeamSearch(LENGTH, START, NEVER, PAD, num_beams=3, **options)


# ------------------------------------------------------------------------ causal models


def test_is_decodable(causal):
    assert isinstance(KerasHubCausalLM(causal), Decodable)


def test_greedy(causal):
    tokens, lengths, *_ = decode(causal, greedy())
    expected = generated(causal, PROMPT, PROMPT.shape[1])
    assert len(np.unique(expected)) > 1, "the model must not say the same all the time"
    np.testing.assert_array_equal(tokens[:, 0], expected)
    assert (lengths == LENGTH).all()


@pytest.mark.parametrize("places", [[(0, 2)], [(0, 2), (1, 1)]], ids=["one", "two"])
def test_stops_at_end_tokens(causal, places):
    written = generated(causal, PROMPT, PROMPT.shape[1])
    ends = tuple(int(written[place]) for place in places)
    tokens, lengths, *_ = decode(causal, greedy(ends))
    expected = generated(causal, PROMPT, PROMPT.shape[1], stop=ends)
    np.testing.assert_array_equal(tokens[:, 0], expected)
    for row, _ in places:
        first = np.isin(written[row], ends).argmax()
        assert lengths[row, 0] == first + 1
        assert (tokens[row, 0, first + 1 :] == PAD).all()


@pytest.mark.parametrize(
    "search", [greedy(), beam(num_return=2)], ids=["greedy", "beam"]
)
def test_prompts_of_several_lengths(causal, search):
    """Each as alone; greedy also as KerasHub, whose beams count the prompt's tokens."""
    together = decode(causal, search, lengths=LENGTHS)
    for row, length in enumerate(LENGTHS):
        alone = decode(causal, search, PROMPT[row : row + 1, :length])
        np.testing.assert_array_equal(together[0][row], alone[0][0])
        np.testing.assert_allclose(together[3][row], alone[3][0], atol=1e-5)
    if search.num_beams == 1:
        expected = generated(causal, PROMPT, LENGTHS)
        np.testing.assert_array_equal(together[0][:, 0], expected)


def test_what_stands_after_a_short_prompt_does_not_matter(causal):
    changed = np.where(np.arange(PROMPT.shape[1]) < LENGTHS[:, None], PROMPT, 16)
    first, second = (
        decode(causal, beam(), prompt, LENGTHS) for prompt in (PROMPT, changed)
    )
    np.testing.assert_array_equal(first[0], second[0])


def test_beams(causal):
    """Without an end token and a penalty both searches are the same by definition."""
    tokens, *_ = decode(causal, beam(num_return=3))
    sampler = keras_hub.samplers.BeamSampler(num_beams=3)
    expected = generated(causal, PROMPT, PROMPT.shape[1], sampler)
    np.testing.assert_array_equal(tokens[:, 0], expected)
    one, *_ = decode(causal, greedy())
    assert (tokens[:, 0] != one[:, 0]).any(), "or the beams were of no use"


def test_as_many_beams_as_sequences_find_the_best_ones():
    """The caches follow their beams: every score is that of reading the tokens."""
    size, length, end = 5, 3, 2
    model = made(gpt2, size)
    prompt = [3, 1]

    def reference(prefix):
        tokens = np.array([[*prompt, *prefix[1:]]])
        logits = model({"token_ids": tokens, "padding_mask": tokens >= 0})
        return toys.log_softmax(to_numpy(logits)[0, -1])

    best = toys.exhaustive(reference, size, length, penalty=lambda n: n**0.5)[:4]
    search = BeamSearch(
        length, START, end, PAD, num_beams=25, num_return=4, length_penalty=0.5
    )
    tokens, lengths, totals, scores = decode(model, search, np.array([prompt]))
    assert len({len(written) for _, written, _ in best}) > 1, "lengths differ"
    for place, (score, written, total) in enumerate(best):
        assert tokens[0, place].tolist() == toys.padded(written, length)
        assert lengths[0, place] == len(written)
        np.testing.assert_allclose(totals[0, place], total, atol=1e-5)
        np.testing.assert_allclose(scores[0, place], score, atol=1e-5)


def test_sampling_the_most_probable_is_greedy(causal):
    search = SamplingSearch(LENGTH, START, NEVER, PAD, top_k=1, num_return=2)
    tokens, *_ = decode(causal, search, seed=3)
    expected, *_ = decode(causal, greedy())
    np.testing.assert_array_equal(tokens, np.repeat(expected, 2, axis=1))


def test_rules(causal):
    tokens, *_ = decode(causal, beam(rules=[NoRepeatNGrams(1)]))
    assert all(len(set(row)) == LENGTH for row in tokens[:, 0])


def test_rules_see_the_whole_prompt(causal):
    rules = [NoRepeatNGrams(1, with_prompt=True)]
    tokens, *_ = decode(causal, beam(rules=rules), lengths=LENGTHS)
    plain, *_ = decode(causal, beam(), lengths=LENGTHS)
    prompts = [PROMPT[row, :length] for row, length in enumerate(LENGTHS)]
    rows = list(zip(prompts, tokens[:, 0], plain[:, 0], strict=True))
    assert all(not set(prompt) & set(new) for prompt, new, _ in rows)
    assert any(set(prompt) & set(old) for prompt, _, old in rows)


@tensorflow_only
def test_one_function_for_prompts_of_all_sizes():
    import tensorflow as tf

    model, search, traces = made(gpt2), beam(num_return=2), []
    lm = KerasHubCausalLM(model)

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None), "int32"),
            tf.TensorSpec((None,), "int32"),
        ],
        autograph=False,
    )
    def run(prompt, lengths):
        traces.append(prompt)
        first = tf.reduce_min(lengths) - 1
        state = lm.initial_state(prompt, search.max_length, first)
        return search.search(
            lm.step, state, prompt=prompt, prompt_lengths=lengths, prompt_read=first
        ).tokens

    for prompt, lengths in [(PROMPT, LENGTHS), (PROMPT[:2, 1:4], np.array([3, 1]))]:
        lengths = lengths.astype("int32")
        expected = decode(model, search, prompt, lengths)[0]
        np.testing.assert_array_equal(run(prompt, lengths), expected)
    assert len(traces) == 1


@tensorflow_only
@pytest.mark.slow
def test_xla():
    model = made(gpt2)
    lm, search = KerasHubCausalLM(model), beam()

    def run(prompt):
        state = lm.initial_state(prompt, search.max_length)
        read = state["position"]
        return search.search(lm.step, state, prompt=prompt, prompt_read=read).tokens

    found = compiled(run, jit=True)(ops.convert_to_tensor(PROMPT))
    np.testing.assert_array_equal(found, decode(model, search)[0])


# ------------------------------------------------------------- models with an encoder


def test_encoder_decoder_is_decodable(seq2seq):
    assert isinstance(KerasHubSeq2SeqLM(seq2seq), Decodable)


@pytest.mark.parametrize(
    "prompt", [((START,),), ((2, START, 9),)], ids=["one", "three"]
)
def test_greedy_from_sources(seq2seq, prompt):
    tokens, *_ = decode_from(seq2seq, greedy(), prompt=prompt)
    expected = generated_from(seq2seq, SOURCE, np.array(prompt))
    assert len(np.unique(expected)) > 1, "the model must not say the same all the time"
    np.testing.assert_array_equal(tokens[:, 0], expected)


def test_stops_at_an_end_token_from_sources(seq2seq):
    prompt = np.array([[START]])
    end = int(generated_from(seq2seq, SOURCE, prompt)[0, 2])
    tokens, *_ = decode_from(seq2seq, greedy(end))
    expected = generated_from(seq2seq, SOURCE, prompt, stop=(end,))
    np.testing.assert_array_equal(tokens[:, 0], expected)


@pytest.mark.parametrize(
    "search", [greedy(), beam(num_return=2)], ids=["greedy", "beam"]
)
def test_a_source_is_decoded_alone_as_in_a_batch(seq2seq, search):
    def find(source):
        tokens, _, _, scores = decode_from(seq2seq, search, source)
        return tokens, scores

    assert_decodes_a_row_alone_as_in_a_batch(find, SOURCE)


def test_beams_from_sources(seq2seq):
    tokens, *_ = decode_from(seq2seq, beam())
    sampler = keras_hub.samplers.BeamSampler(num_beams=3)
    expected = generated_from(seq2seq, SOURCE, np.array([[START]]), sampler)
    np.testing.assert_array_equal(tokens[:, 0], expected)


def test_sampling_from_sources_the_most_probable_is_greedy(seq2seq):
    search = SamplingSearch(LENGTH, START, NEVER, PAD, top_k=1)
    tokens, *_ = decode_from(seq2seq, search, seed=3)
    np.testing.assert_array_equal(tokens, decode_from(seq2seq, greedy())[0])


@tensorflow_only
def test_one_function_for_sources_of_all_sizes():
    import tensorflow as tf

    model, search, traces = made(bart), beam(), []
    lm = KerasHubSeq2SeqLM(model)

    @tf.function(
        input_signature=[tf.TensorSpec((None, None), "int32")], autograph=False
    )
    def run(source):
        traces.append(source)
        state = lm.initial_state(source, search.max_length, source != PAD)
        return search.search(lm.step, state, tf.shape(source)[0]).tokens

    for source in (SOURCE, SOURCE[:2, :4]):
        expected = decode_from(model, search, source)[0]
        np.testing.assert_array_equal(run(source), expected)
    assert len(traces) == 1
