#!/usr/bin/env python3
"""Writes attention as a Pallas kernel for TPUs, with no TPU here, as a StableHLO program that `ridgeline predict` and an `import` case take.

usage: export_pallas.py OUT.mlir [--kernel splash|flash|own] [--heads H] [--length T] [--head-dim D] [--batch B]

JAX is no dependency of ridgeline. In an environment of your own:
    python3 -m venv jax && jax/bin/pip install jax
    jax/bin/python tools/export_pallas.py attention.mlir
    ridgeline predict attention.mlir --target tpu-v5e:1x1 --explain

`splash` and `flash` are the kernels that JAX ships (jax.experimental.pallas.ops.tpu); what they may be used for is said by JAX's licence. `own` is a small online-softmax
kernel written here; it states the work that it does, so that a compiler and ridgeline know it. All are causal, bf16 in and out. The kernel stands in the program as Mosaic
code for TPUs only: the CPU plugin cannot compile it, and ridgeline counts no arithmetic but what the kernel states.
"""
import argparse
import math
import pathlib
import sys

try:
    import jax
    import jax.export
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu
except ImportError as error:
    sys.exit(f"export_pallas.py: {error}; next: python3 -m venv jax && jax/bin/pip install jax, then run this with jax/bin/python")

BLOCK = 512


def splash(heads, length):
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel, splash_attention_mask

    mask = splash_attention_mask.MultiHeadMask([splash_attention_mask.CausalMask((length, length)) for _ in range(heads)])
    kernel = splash_attention_kernel.make_splash_mha(mask, head_shards=1, q_seq_shards=1)
    return jax.vmap(kernel)


def flash():
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention

    return lambda q, k, v: flash_attention(q, k, v, causal=True)


def own(length):
    """Online softmax: one block of queries stays, blocks of keys and values pass by up to the diagonal."""
    block = min(BLOCK, length)

    def body(q_ref, k_ref, v_ref, out_ref, top_ref, sum_ref, acc_ref):
        row, column = pl.program_id(2), pl.program_id(3)

        @pl.when(column == 0)
        def _():
            top_ref[...] = jnp.full_like(top_ref, -1e30)
            sum_ref[...] = jnp.zeros_like(sum_ref)
            acc_ref[...] = jnp.zeros_like(acc_ref)

        @pl.when(column <= row)
        def _():
            q, k, v = q_ref[0, 0], k_ref[0, 0], v_ref[0, 0]
            scores = jax.lax.dot_general(q, k, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
            scores = scores / math.sqrt(q.shape[-1])
            rows = row * block + jax.lax.broadcasted_iota(jnp.int32, scores.shape, 0)
            columns = column * block + jax.lax.broadcasted_iota(jnp.int32, scores.shape, 1)
            scores = jnp.where(columns <= rows, scores, -1e30)
            top = jnp.maximum(top_ref[:, :1], scores.max(axis=1, keepdims=True))
            scale = jnp.exp(top_ref[:, :1] - top)
            weights = jnp.exp(scores - top)
            sum_ref[...] = jnp.broadcast_to(sum_ref[:, :1] * scale + weights.sum(axis=1, keepdims=True), sum_ref.shape)
            acc_ref[...] = acc_ref[...] * scale + jnp.dot(weights.astype(v.dtype), v, preferred_element_type=jnp.float32)
            top_ref[...] = jnp.broadcast_to(top, top_ref.shape)

        @pl.when(column == pl.num_programs(3) - 1)
        def _():
            out_ref[0, 0] = (acc_ref[...] / sum_ref[:, :1]).astype(out_ref.dtype)

    def attention(q, k, v):
        batch, heads, rows, dim = q.shape
        blocks = rows // block
        pairs = batch * heads * blocks * (blocks + 1) // 2 * block * block
        spec = lambda index: pl.BlockSpec((1, 1, block, dim), index)
        keys = spec(lambda b, h, i, j: (b, h, jnp.minimum(i, j), 0))
        queries = spec(lambda b, h, i, j: (b, h, i, 0))
        scratch = lambda width: pltpu.VMEM((block, width), jnp.float32)
        return pl.pallas_call(
            body,
            grid=(batch, heads, blocks, blocks),
            in_specs=[queries, keys, keys],
            out_specs=queries,
            out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype),
            scratch_shapes=[scratch(128), scratch(128), scratch(dim)],
            cost_estimate=pl.CostEstimate(flops=4 * pairs * dim, transcendentals=pairs, bytes_accessed=4 * q.size * 2),
            name="ridgeline_attention",
        )(q, k, v)

    return attention


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--kernel", choices=["splash", "flash", "own"], default="splash")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--length", type=int, default=4096)
    parser.add_argument("--head-dim", type=int, default=128)
    options = parser.parse_args()
    if options.length % min(BLOCK, options.length) or options.length % 128:
        parser.error(f"--length {options.length}: expected a multiple of {BLOCK}, or of 128 below that")
    # No folder of this machine goes into the program.
    jax.config.update("jax_traceback_in_locations_limit", 0)
    kernel = {"splash": lambda: splash(options.heads, options.length), "flash": flash, "own": lambda: own(options.length)}[options.kernel]()
    array = jax.ShapeDtypeStruct((options.batch, options.heads, options.length, options.head_dim), jnp.bfloat16)
    exported = jax.export.export(jax.jit(kernel), platforms=["tpu"])(array, array, array)
    options.out.write_text(exported.mlir_module())
    print(f"{options.out}: {options.kernel} attention, batch {options.batch}, {options.heads} heads, length {options.length}, head dim {options.head_dim}; jax {jax.__version__}")


if __name__ == "__main__":
    main()
