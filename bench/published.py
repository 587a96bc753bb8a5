#!/usr/bin/env python3
"""Predictions against published measurements, row by row: matrix products, copies of device memory, permutes.

usage: published.py RIDGELINE [--set NAME] [--every N] [--no-calibration]

Each row of data/published is compiled for its system by `ridgeline predict` and held against the published time. The even rows of each type are for
fitting, the error is that of the odd ones. Traced times are compared as they are: data/targets took its factor for tpu-7x from the even rows. Wall times hold
the host's dispatch too: measured = a * predicted + c is fitted here. The factor of tpu-v6e in data/targets came from all its rows, so its odd rows are no
independent test of that factor. Copies and permutes are held against the interval alone: nothing is fitted to them here, but the shares of the nominal rate in data/targets
come from the same measurements. What is published and cannot be held against a prediction, and systems without a published measurement, are listed at the end.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import yaml

PUBLISHED = pathlib.Path(__file__).resolve().parent.parent / "data/published/measurements.yaml"
TARGETS = {"tpu-v6e": "tpu-v6e:1x1", "tpu-7x": "tpu-7x:2x2x1"}
MORE = []  # options of `ridgeline predict`
TYPES = {"bfloat16": ("bf16", "bf16"), "float32": ("f32", "f32"), "int8": ("i8", "i32")}


def product(dtype, m, n, k):
    a, out = TYPES[dtype]
    lhs, rhs, result = f"tensor<{m}x{k}x{a}>", f"tensor<{k}x{n}x{a}>", f"tensor<{m}x{n}x{out}>"
    return f"""module @product {{
  func.func public @main(%a: {lhs}, %b: {rhs}) -> {result} {{
    %v = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({lhs}, {rhs}) -> {result}
    return %v : {result}
  }}
}}"""


def copy(elements):
    array = f"tensor<{elements // 1024}x1024xf32>"
    return f"""module @copy {{
  func.func public @main(%a: {array}) -> {array} {{
    %v = stablehlo.negate %a : {array}
    return %v : {array}
  }}
}}"""


def permute(elements, devices):
    array = f"tensor<{elements // 1024}x1024xf32>"
    manual = '{mhlo.sharding = "{manual}"}'
    pairs = ", ".join(f"[{i}, {i ^ 1}]" for i in range(devices))
    return f"""module @permute attributes {{mhlo.num_partitions = {devices} : i32}} {{
  func.func public @main(%a: {array} {manual}) -> ({array} {manual}) {{
    %v = "stablehlo.collective_permute"(%a) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      source_target_pairs = dense<[{pairs}]> : tensor<{devices}x2xi64>}}> : ({array}) -> {array}
    return %v : {array}
  }}
}}"""


def predict(ridgeline, target, program, wire=False):
    """Lower and upper end of the predicted time, in microseconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(program)
        file.flush()
        done = subprocess.run([ridgeline, "predict", file.name, "--target", target, "--json", *MORE], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"published.py: {target}: {done.stderr.strip() or done.stdout}")
    one = json.loads(done.stdout)["targets"][0]
    if one["by"] != "compiler":
        sys.exit("published.py: the compiler is not here: " + "; ".join(one["notes"]))
    time = one["parts_s"]["wire"] if wire else one["time_s"]
    return time["lower"] * 1e6, time["upper"] * 1e6


def fit(pairs):
    """Least squares of the relative error: measured = a * predicted + c."""
    w = [1 / y**2 for _, y in pairs]
    sx = sum(wi * x for wi, (x, _) in zip(w, pairs))
    sy = sum(wi * y for wi, (_, y) in zip(w, pairs))
    sxx = sum(wi * x * x for wi, (x, _) in zip(w, pairs))
    sxy = sum(wi * x * y for wi, (x, y) in zip(w, pairs))
    a = (sum(w) * sxy - sx * sy) / (sum(w) * sxx - sx * sx)
    return a, (sy - a * sx) / sum(w)


def mean_error(errors):
    return f"mean |error| {100 * statistics.mean(abs(e) for e in errors):.1f} %, largest {100 * max(abs(e) for e in errors):.1f} %"


def table(ridgeline, one, every):
    target = TARGETS[one["system"].split(",")[0]]
    wall = "wall" in one["conditions"]
    print(f"\n{one['name']}: {target}, {one['conditions']}\n  {one['source']}")
    rows = []
    for row in one["rows"][::every]:
        values = dict(zip(one["columns"], row))
        values.setdefault("dtype", "bfloat16")
        lower, upper = predict(ridgeline, target, product(*(values[key] for key in ("dtype", "m", "n", "k"))))
        rows.append((values, lower, upper))
    for dtype in sorted({values["dtype"] for values, _, _ in rows}):
        own = [(values, lower, upper) for values, lower, upper in rows if values["dtype"] == dtype]
        a, c = fit([((lower + upper) / 2, values["us"]) for values, lower, upper in own[::2]]) if wall else (1, 0)
        errors = []
        for i, (values, lower, upper) in enumerate(own):
            middle = a * (lower + upper) / 2 + c
            error = middle / values["us"] - 1
            role = "fit" if i % 2 == 0 else "test"
            if role != "fit":
                errors.append(error)
            inside = a * lower + c <= values["us"] <= a * upper + c
            print(f"  {dtype:9} {values['m']:6} x {values['n']:6} x {values['k']:6}  measured {values['us']:8.1f} us  predicted {lower:8.1f} .. {upper:8.1f} us"
                  f"  error {100 * error:+6.1f} %  {'inside' if inside else 'OUTSIDE'}  {role}")
        law = f"measured = {a:.3f} * predicted + {c:.1f} us on the even rows; " if wall else ""
        print(f"  {dtype}: {law}odd rows: {mean_error(errors)}")


def held(what, measured, lower, upper):
    error = (lower + upper) / 2 / measured - 1
    place = "inside" if lower <= measured <= upper else "OUTSIDE"
    print(f"  {what:34}  measured {measured:9.1f} us  predicted {lower:9.1f} .. {upper:9.1f} us  error {100 * error:+6.1f} %  {place}")


def copies(ridgeline, one, every):
    target = TARGETS[one["system"].split(",")[0]]
    print(f"\n{one['name']}: {target}, {one['conditions']}\n  {one['source']}")
    for size, rate in one["rows"][::every]:
        held(f"copy of {size / 2**20:.0f} MiB", 2 * size / rate / 1e3, *predict(ridgeline, target, copy(size // 4)))


def permutes(ridgeline, one, every):
    """The law at 64 MiB, where its latency is a hundredth of the whole."""
    size, shapes = 64 << 20, {"tpu-v5p": ("2x2x1", 4), "tpu-v6e": ("2x2", 4)}
    print(f"\n{one['name']}: {one['conditions']}\n  {one['source']}")
    for system, latency, rate in one["rows"][::every]:
        shape, devices = shapes[system]
        held(f"{system}:{shape}, permute of 64 MiB", latency + size / rate / 1e3, *predict(ridgeline, f"{system}:{shape}", permute(size // 4, devices), wire=True))


HELD = {"tpu7x-hbm-copy": copies, "tpu-ppermute-law": permutes}
WITHOUT = {"tpu7x-all-gather-2x2x1": "its source does not say which bytes its rate counts; link_share of tpu-7x reads it as two links of 100 GB/s"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ridgeline")
    parser.add_argument("--set", help="only this set of data/published")
    parser.add_argument("--every", type=int, default=1, help="only every Nth row")
    parser.add_argument("--no-calibration", action="store_true", help="estimated cycles as the compiler says")
    options = parser.parse_args()
    if options.no_calibration:
        MORE.append("--no-calibration")
    sets = yaml.safe_load(PUBLISHED.read_text())["sets"]
    chosen = [one for one in sets if options.set in (None, one["name"])]
    if not chosen:
        sys.exit(f"published.py: no set '{options.set}'; there are: {', '.join(one['name'] for one in sets)}")
    for one in chosen:
        name = one["name"]
        if {"m", "n", "k"} <= set(one["columns"]):
            table(options.ridgeline, one, options.every)
        elif name in HELD:
            HELD[name](options.ridgeline, one, options.every)
        else:
            print(f"\n{name}: not held against a prediction: {WITHOUT.get(name, 'no program of it is written here')}")
    targets = [one["spec"] for one in yaml.safe_load((PUBLISHED.parent.parent / "targets/tpu.yaml").read_text())["systems"]]
    published = " ".join(one.get("system", "") + " ".join(str(row[0]) for row in one["rows"]) for one in sets)
    print("\nno published measurement of: " + ", ".join(name for name in targets if name not in published))


if __name__ == "__main__":
    main()
