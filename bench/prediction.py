#!/usr/bin/env python3
"""Predicted against measured time of programs on one machine: `ridgeline roofline RESULT --workload P --execute` for each.

usage: bench/prediction.py RIDGELINE RESULT.jsonl PROGRAM… [--json FILE]
       bench/prediction.py RIDGELINE RESULT.jsonl --corpus FOLDER [--only TEXT] [--json FILE]

RESULT holds the roofs of the machine (`ridgeline run bench/roofs.yaml`); the programs run on the CPU plugin's first device. FOLDER holds the programs
of the corpus (tests/corpus; a build unpacks them under build/dev/tests/corpus/files): those of the table SCALED below are written with smaller
dimensions and run. `ratio` is measured over the lower end of the prediction (all roofs overlap): 1 is a perfect bound, under 1 says that a roof was
measured too low or the work is counted too high. The exit code is 1 only when nothing could be measured.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

# Programs of the corpus that one small CPU holds and runs in a second or less, once these dimensions are replaced.
SCALED = {
    "gemm_bf16_8192": {8192: 1024},
    "dot_precision_highest": {4096: 1024},
    "f64_matmul_literal_types": {1024: 512},
    "complex_dot": {2048: 512},
    "gemm_batched_skinny": {4096: 256},
    "gemm_multi_contract": {512: 256},
    "gemv_bf16": {16384: 8192},
    "multi_result_call_graph": {1024: 512},
    "composite_gelu": {4096: 1024},
    "attn_gqa_naive_fwd": {4096: 512},
    "stream_triad": {268435456: 134217728},
    "reduce_sum_1gib": {},
    "reduce_rows_bf16": {65536: 16384},
    "softmax_rows": {65536: 4096},
    "layernorm_bwd": {32768: 2048},
    "transpose_2d_16384": {16384: 8192},
    "gather_rows_1m": {4000000: 1000000, 1048576: 262144},
    "scatter_add_rows": {1000000: 250000, 1048576: 262144},
    "stencil7_slices": {512: 256, 511: 255, 510: 254},
    "stencil_conv3d": {256: 24},
    "conv_depthwise": {64: 1},
    "conv_strided_bwd": {64: 1},
}
TIME_LIMIT = "30s"


def scaled(text, sizes):
    """The program with other dimensions: whole numbers of types, slices and constants, no names and no parts of fractions."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#loc"))
    text = re.sub(r" loc\(#loc\d*\)", "", text)
    return re.sub(r"(?<![\d.%#_@A-Za-wyz])\d+(?![\d.])", lambda m: str(sizes.get(int(m[0]), m[0])), text)


def write_scaled(corpus, only, folder):
    paths = []
    for name, sizes in SCALED.items():
        if only in name:
            with open(os.path.join(corpus, name + ".mlir")) as source:
                text = scaled(source.read(), sizes)
            paths.append(os.path.join(folder, name + ".mlir"))
            with open(paths[-1], "w") as out:
                out.write(text)
    return paths


def one(ridgeline, result, program):
    command = [ridgeline, "roofline", result, "--workload", program, "--execute", "--time-limit", TIME_LIMIT, "--json"]
    out = subprocess.run(command, capture_output=True, text=True)
    if not out.stdout:
        return None, next((line for line in out.stderr.splitlines() if line.startswith("ridgeline:")), out.stderr.strip())
    limit = json.loads(out.stdout)["workloads"][0]
    return limit, limit["not_measured"]


def option(args, name, fallback=""):
    if name not in args:
        return fallback
    at = args.index(name)
    value = args[at + 1] if at + 1 < len(args) else sys.exit(__doc__)
    del args[at:at + 2]
    return value


def main(args):
    json_file, corpus, only = option(args, "--json"), option(args, "--corpus"), option(args, "--only")
    if len(args) < (2 if corpus else 3):
        sys.exit(__doc__)
    ridgeline, result, *programs = args
    with tempfile.TemporaryDirectory() as folder:
        rows = compare(ridgeline, result, programs + (write_scaled(corpus, only, folder) if corpus else []))
    if not rows:
        sys.exit(1)
    ratios = [row["ratio"] for row in rows]
    worst = max(ratios, key=lambda r: max(r, 1 / r))
    print(f"{len(ratios)} programs: median ratio {statistics.median(ratios):.2f}, worst {worst:.2f}")
    if json_file:
        with open(json_file, "w") as out:
            json.dump(rows, out, indent=1)


def compare(ridgeline, result, programs):
    print(f"{'program':26} {'bound':26} {'predicted, s':>21} {'measured, s':>12} {'ratio':>7}  inside")
    rows = []
    for program in programs:
        name = os.path.basename(program).removesuffix(".mlir")
        limit, error = one(ridgeline, result, program)
        if error or not limit["time_s"]["lower"]:
            print(f"{name:26} {error or 'no bound'}", flush=True)
            continue
        lower, upper, measured = limit["time_s"]["lower"], limit["time_s"]["upper"], limit["measured_s"]
        upper = max(upper, upper - limit["roofs"]["memory_s"] + (limit["most_memory_s"] or 0))  # nothing fused, nothing overlaps
        ratio = measured / lower
        rows.append({"program": name, "limit": limit, "ratio": ratio})
        bound = limit["label"] + (" (lower bound)" if limit["counted"] != "exact" else "")
        inside = "yes" if lower <= measured <= upper else "faster" if measured < lower else "slower"
        doubt = f", {limit['measured_status']}" if limit["measured_doubt"] else ""
        print(f"{name:26} {bound:26} {lower:10.4g}..{upper:9.4g} {measured:12.4g} {ratio:7.2f}  {inside}{doubt}", flush=True)
    return rows


main(sys.argv[1:])
