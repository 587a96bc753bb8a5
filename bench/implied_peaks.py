#!/usr/bin/env python3
"""Peaks that libtpu's estimated cycles imply for each generation, against data/specs; and what padding costs.

usage: implied_peaks.py RIDGELINE [--target NAME …]

Each program is compiled by `ridgeline predict`, and its cycles are read from the compiler's own dump. A rate is FLOP (products) or bytes read and written (a fused loop
over 256 MiB arrays) of one device over cycles / clock, with the clock of data/targets/tpu.yaml. Padding: a product of n over one of the next size that fills the tiles.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = {"bf16": ("bf16", "bf16"), "s8": ("i8", "i32"), "f8e4m3fn": ("f8E4M3FN", "bf16"), "f8e5m2": ("f8E5M2", "bf16")}
PADDED = {100: 128, 127: 128, 129: 256, 4097: 4352}


def product(n, dtype):
    a, out = TYPES[dtype]
    lhs, result = f"tensor<{n}x{n}x{a}>", f"tensor<{n}x{n}x{out}>"
    return f"""module @product {{
  func.func public @main(%a: {lhs}, %b: {lhs}) -> {result} {{
    %v = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({lhs}, {lhs}) -> {result}
    return %v : {result}
  }}
}}"""


def loop():
    array = "tensor<8192x8192xf32>"
    return f"""module @elementwise {{
  func.func public @main(%a: {array}, %b: {array}) -> {array} {{
    %s = stablehlo.multiply %a, %b : {array}
    %v = stablehlo.add %s, %a : {array}
    return %v : {array}
  }}
}}""", 3 * 4 * 8192 * 8192


def cycles(ridgeline, target, program):
    """Estimated cycles of the whole program, and how the compiler is named."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.mlir")
        path.write_text(program)
        environment = dict(os.environ, XLA_FLAGS=f"--xla_dump_to={folder}/dump")
        done = subprocess.run([ridgeline, "predict", path, "--target", target, "--json"], capture_output=True, text=True, env=environment)
        if not done.stdout:
            sys.exit(f"implied_peaks.py: {target}: {done.stderr.strip()}")
        one = json.loads(done.stdout)["targets"][0]
        if one["by"] != "compiler":
            sys.exit("implied_peaks.py: the compiler is not here: " + "; ".join(one["notes"]))
        # A dump is a side effect, which no cache gives: with XLA_FLAGS of its own folder each question is a new one.
        if one["status"] != "predicted":
            return None, one["compiler"]
        dumps = pathlib.Path(folder, "dump").glob("*.after_codegen.txt")
        found = [int(text) for p in dumps for text in re.findall(r'"estimated_cycles":"(\d+)"', p.read_text())]
        return sum(one for one in found if 0 < one < 2**62) or None, one["compiler"]


def figure(spec, path):
    node = spec
    for key in path:
        node = (node or {}).get(key)
    return float(node["value"]) if node else None


def row(what, implied, nominal, unit, scale):
    share = f"{implied / nominal:6.3f}" if nominal else "     -"
    sheet = f"{nominal / scale:8.1f}" if nominal else "       -"
    print(f"  {what:26} {implied / scale:8.1f}  {sheet} {unit:7} {share}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ridgeline")
    parser.add_argument("--target", action="append", help="only this generation")
    options = parser.parse_args()
    for system in yaml.safe_load((ROOT / "data/targets/tpu.yaml").read_text())["systems"]:
        name, clock = system["spec"], float(system["clock_hz"])
        if options.target and name not in options.target:
            continue
        spec = yaml.safe_load((ROOT / f"data/specs/{name}.yaml").read_text())
        devices = spec["devices_per_chip"]
        least = {"tpu-v5e": "1x1", "tpu-v6e": "1x1", "tpu-v2": "2x2", "tpu-v3": "2x2"}.get(name, "2x2x1")
        target = f"{name}:{least}"
        per_device = lambda value, node: None if value is None else value if (node or {}).get("scope") == "device" else value / devices
        print(f"\n{target}, one device, clock {clock / 1e6:.0f} MHz        implied     sheet          share")
        for dtype in TYPES:
            count, compiler = cycles(options.ridgeline, target, product(8192, dtype))
            if count:
                node = spec["compute"]["matrix"].get(dtype)
                row(f"product 8192 {dtype}", 2 * 8192**3 / (count / clock), per_device(figure(spec, ["compute", "matrix", dtype]), node), "TFLOP/s", 1e12)
        program, moved = loop()
        count, compiler = cycles(options.ridgeline, target, program)
        if count:
            row("fused loop f32, 3 x 256 MiB", moved / (count / clock), per_device(figure(spec, ["memory", "hbm", "bytes_per_s"]), spec["memory"]["hbm"]["bytes_per_s"]), "GB/s", 1e9)
        known = {n: cycles(options.ridgeline, target, product(n, "bf16"))[0] for n in sorted({*PADDED, *PADDED.values(), 4096})}
        for n, full in PADDED.items():
            useful = (n / full) ** 3
            below = 4096 if n == 4097 else 128
            print(f"  bf16 product of {n:5}: {known[n]:>9} cycles, of {below:4}: {known[below]:>9}, of {full:4}: {known[full]:>9}; {100 * useful:.0f} % of a product of {full} is useful")
        print(f"  compiler: {compiler}")


if __name__ == "__main__":
    main()
