"""PyTorch's contenders. `torch` is what a user of PyTorch would take, in eager mode."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.cases import (
    CORE,
    DECODING,
    DECODING_LAYERS,
    MECHANISM,
    MULTI_HEAD,
    SOURCE_LENGTH,
    START,
    TRANSFORMER,
    TRANSFORMER_LAYERS,
    VOCABULARY,
    Case,
)

Step = Callable[[], Any]


def step(case: Case) -> Step:
    """One computation of `case`."""
    return _STEPS[case.computes](case)


def version() -> str:
    """Framework and version."""
    return f"torch {torch.__version__}"


def _core(case: Case) -> Step:
    dtype = getattr(torch, case.dtype)
    inputs = [
        torch.randn(case.shape, dtype=dtype, requires_grad=case.training)
        for _ in range(3)
    ]
    upstream = torch.randn(case.shape, dtype=dtype)

    def forward():
        query, key, value = (x.transpose(1, 2) for x in inputs)
        output = scaled_dot_product_attention(query, key, value, is_causal=case.causal)
        return output.transpose(1, 2)

    def training():
        return torch.autograd.grad(forward(), inputs, upstream)

    return training if case.training else forward


def _layer(case: Case) -> Step:
    """`torch.nn.MultiheadAttention` without its weights."""
    batch, length, heads, size = case.shape
    layer = torch.nn.MultiheadAttention(heads * size, heads, batch_first=True)
    inputs = torch.randn(batch, length, heads * size, requires_grad=case.training)
    upstream = torch.randn(batch, length, heads * size)
    options = {"need_weights": False}
    if case.causal:
        options |= {"attn_mask": _causal(length), "is_causal": True}

    def forward():
        return layer(inputs, inputs, inputs, **options)[0]

    def training():
        parameters = list(layer.parameters())
        return torch.autograd.grad(forward(), [inputs, *parameters], upstream)

    return training if case.training else forward


def _transformer(case: Case) -> Step:
    """A training step of `torch.nn.Transformer`, pre-norm, with Adam."""
    batch, length, heads, size = case.shape
    model = torch.nn.Transformer(
        d_model=heads * size,
        nhead=heads,
        num_encoder_layers=TRANSFORMER_LAYERS,
        num_decoder_layers=TRANSFORMER_LAYERS,
        dim_feedforward=4 * heads * size,
        batch_first=True,
        norm_first=True,
    )
    optimizer = torch.optim.Adam(model.parameters())
    source, target, upstream = (
        torch.randn(batch, length, heads * size) for _ in range(3)
    )
    mask = _causal(length)
    is_half = case.dtype == "bfloat16"

    def training():
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=is_half):
            output = model(source, target, tgt_mask=mask, tgt_is_causal=True)
        (output.float() * upstream).mean().backward()
        optimizer.step()

    return training


def _decoding(case: Case) -> Step:
    """`generate` of a BART of Transformers, on one thread."""
    from transformers import BartConfig, BartForConditionalGeneration

    torch.set_num_threads(1)
    batch, length, heads, size = case.shape
    layers, inner = DECODING_LAYERS, 4 * heads * size
    config = BartConfig(
        vocab_size=VOCABULARY,
        d_model=heads * size,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=inner,
        decoder_ffn_dim=inner,
        max_position_embeddings=length + SOURCE_LENGTH,
        bos_token_id=START,
        decoder_start_token_id=START,
        eos_token_id=None,
        forced_eos_token_id=None,
        pad_token_id=0,
    )
    model = BartForConditionalGeneration(config).eval()
    source = torch.randint(START + 1, VOCABULARY, (batch, SOURCE_LENGTH))
    options = {"num_beams": case.num_beams, "do_sample": False}
    options |= {"max_new_tokens": length, "min_new_tokens": length}

    def decode():
        found = model.generate(source, attention_mask=source > 0, **options)
        assert found.shape == (batch, length + 1)

    return decode


def _causal(length: int) -> torch.Tensor:
    return torch.nn.Transformer.generate_square_subsequent_mask(length)


_STEPS = {
    CORE: _core,
    MULTI_HEAD: _layer,
    MECHANISM: _layer,
    TRANSFORMER: _transformer,
    DECODING: _decoding,
}
