"""JAX's contender: `jax.nn.dot_product_attention`, compiled."""

from collections.abc import Callable
from typing import Any

import jax

from benchmarks.cases import Case


def step(case: Case) -> Callable[[], Any]:
    """One computation of a `CORE` case."""
    *inputs, upstream = (
        jax.random.normal(key, case.shape, case.dtype)
        for key in jax.random.split(jax.random.key(0), 4)
    )

    def forward(query, key, value):
        return jax.nn.dot_product_attention(query, key, value, is_causal=case.causal)

    def training(*inputs):
        _, pull_back = jax.vjp(forward, *inputs)
        return pull_back(upstream)

    compiled = jax.jit(training if case.training else forward)
    return lambda: jax.block_until_ready(compiled(*inputs))


def version() -> str:
    """Framework and version."""
    return f"jax {jax.__version__}"
