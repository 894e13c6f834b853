"""PyTorch's contenders. `torch` is what a user of PyTorch would take, in eager mode."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.cases import (
    CORE,
    MECHANISM,
    MULTI_HEAD,
    TRANSFORMER,
    TRANSFORMER_LAYERS,
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
    """`torch.nn.MultiheadAttention`, causal, without its weights."""
    batch, length, heads, size = case.shape
    layer = torch.nn.MultiheadAttention(heads * size, heads, batch_first=True)
    inputs = torch.randn(batch, length, heads * size, requires_grad=case.training)
    upstream = torch.randn(batch, length, heads * size)
    options = {"attn_mask": _causal(length), "is_causal": True, "need_weights": False}

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


def _causal(length: int) -> torch.Tensor:
    return torch.nn.Transformer.generate_square_subsequent_mask(length)


_STEPS = {
    CORE: _core,
    MULTI_HEAD: _layer,
    MECHANISM: _layer,
    TRANSFORMER: _transformer,
}
