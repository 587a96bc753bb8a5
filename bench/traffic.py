#!/usr/bin/env python3
"""Our interval of memory traffic beside the bytes of a target's own compiler, for the programs of the corpus that run on one device.

usage: bench/traffic.py RIDGELINE CORPUS_TABLE FOLDER [--target tpu-v5p] [--limit SECONDS]

CORPUS_TABLE is build/dev/tools/corpus_table, FOLDER its programs (build/dev/tests/corpus/files/programs). Each program goes through `ridgeline predict`; what
the compiler refuses, or does not finish within the limit (45 s), is left out with its reason. Needs libtpu (`./dev plugins tpu`).
"""
import argparse
import json
import os
import statistics
import subprocess


def compiled_bytes(ridgeline, program, target, limit_s):
    command = [ridgeline, "predict", program, "--target", target, "--json"]
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return None, "not compiled in time"
    if not out.stdout:
        return None, out.stderr.strip().splitlines()[0]
    prediction = json.loads(out.stdout)["targets"][0]
    return prediction["hbm_bytes"], (prediction["reason"] or prediction["status"]).split("\n")[0][:60]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("ridgeline", "corpus_table", "folder"):
        parser.add_argument(name)
    parser.add_argument("--target", default="tpu-v5p")
    parser.add_argument("--limit", type=float, default=45)
    args = parser.parse_args()
    table = json.loads(subprocess.run([args.corpus_table, args.folder, "--json"], capture_output=True, text=True).stdout)
    with open(os.path.join(args.folder, "index.json")) as index:
        single = {one["name"] for one in json.load(index)["workloads"] if one["devices"] == 1}
    ratios, inside = [], 0
    print(f"{'program':40} {'fused':>10} {'compiler':>10} {'unfused':>10} {'compiler/fused':>15}")
    for row in table["workloads"]:
        if row["name"] not in single:
            continue
        least, most = row["hbm_bytes"]["fused"], row["hbm_bytes"]["unfused"]
        traffic, reason = compiled_bytes(args.ridgeline, os.path.join(args.folder, row["file"]), args.target, args.limit)
        if not traffic or not least:
            print(f"{row['name']:40} {reason}", flush=True)
            continue
        ratios.append(traffic / least)
        inside += 0.99 * least <= traffic <= 1.01 * most
        print(f"{row['name']:40} {least:10.4g} {traffic:10.4g} {most:10.4g} {traffic / least:15.2f}", flush=True)
    near = sum(0.5 <= ratio <= 2 for ratio in ratios)
    print(f"{len(ratios)} programs on {args.target}: median compiler/fused {statistics.median(ratios):.2f}, {near} within a factor of 2, {inside} inside the interval")


main()
