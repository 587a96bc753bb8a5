#!/usr/bin/env python3
"""Llama-3-8B on accelerators that are not here: one table of fit, time, bound, wire and money, every figure predicted.

usage: bench/llama_table.py RIDGELINE [--corpus FOLDER] [--only TEXT] [--keep FOLDER] [--markdown]

Each program is compiled for each target by `ridgeline predict` in a process of its own, whose wall time and largest memory are shown too. The programs
are those of the corpus (tests/corpus; a build unpacks them under build/dev/tests/corpus/files), which ask for 1 or 16 devices. A target is the smallest slice with as many devices as the program asks for.
--keep holds each answer in a file: a second call compiles only what is missing. Compiling all takes about an hour on two cores, and up to 5 GB.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# The smallest slice of each system with 1 and 16 devices.
TARGETS = {
    "TPU v5e": {1: "tpu-v5e:1x1", 16: "tpu-v5e:4x4"},
    "TPU v5p": {1: "tpu-v5p:2x2x1", 16: "tpu-v5p:2x2x4"},
    "TPU v6e": {1: "tpu-v6e:1x1", 16: "tpu-v6e:4x4"},
    "TPU 7x": {1: "tpu-7x:2x2x1", 16: "tpu-7x:2x2x2"},
    "H100 SXM": {1: "h100-sxm:1", 16: "h100-sxm:16"},
    "A100 SXM 80": {1: "a100-sxm-80:1", 16: "a100-sxm-80:16"},
}
# file of the corpus: (devices, what it is)
CORPUS = {
    "llama3_8b_train": (1, "train, unsharded, no remat"),
    "llama3_8b_train_remat_dots": (1, "train, unsharded, remat: dots kept"),
    "llama3_8b_train_remat_dots_no_batch": (1, "train, unsharded, remat: dots kept but attention"),
    "llama3_8b_train_remat_full": (1, "train, unsharded, full remat"),
    "llama3_8b_train_fsdp_shardy": (16, "train, FSDP 16, no remat"),
    "llama3_8b_train_tp_shardy": (16, "train, data 4 x TP 4, no remat"),
    "llama3_8b_train_fsdp_tp_shardy": (16, "train, FSDP 4 x TP 4, no remat"),
    "llama3_8b_decode_b1_ctx8192": (1, "decode, batch 1, 8192 cached"),
    "llama3_8b_decode_b64_ctx8192": (1, "decode, batch 64, 8192 cached"),
    "llama3_8b_decode_b64_tp8": (16, "decode, batch 64, data 2 x TP 8"),
    "llama3_8b_prefill_8192": (1, "prefill, 8192 tokens"),
}

def compiled(ridgeline, program, target, keep):
    """The target's part of `predict --json`, with the seconds and the largest memory of the processes."""
    kept = keep and pathlib.Path(keep) / f"{program.stem}@{target.replace(':', '-')}.json"
    if kept and kept.exists():
        return json.loads(kept.read_text())
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([ridgeline, "predict", str(program), "--target", target, "--json"], stdout=out, stderr=err)
        _, _, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        text = out.read()
        if not text:
            sys.exit(f"llama_table.py: {program.name} for {target}: {err.read().strip()}")
    one = json.loads(text)["targets"][0]
    one["ops"] = one.get("ops", [])[:10]
    answer = {"prediction": one, "wall_s": seconds, "peak_rss_bytes": usage.ru_maxrss * 1024}
    if kept:
        kept.write_text(json.dumps(answer, indent=1))
    return answer


def seconds_text(one):
    return "-" if not one["time_s"] else f"{1e3 * one['time_s']['lower']:.4g} .. {1e3 * one['time_s']['upper']:.4g}"


def share(interval):
    return "-" if not interval else f"{100 * interval['lower']:.0f} .. {100 * interval['upper']:.0f} %"


def wire_share(one):
    """Of the parts' sum: what collectives take, at the middle of the interval."""
    parts = {name: (value["lower"] + value["upper"]) / 2 for name, value in one.get("parts_s", {}).items()}
    return f"{100 * parts.get('wire', 0) / sum(parts.values()):.0f} %" if sum(parts.values()) else "-"


def money(one):
    cost = one["cost_per_step"]
    return "-" if not cost else f"{cost['lower']:.3g} .. {cost['upper']:.3g}"


def cells(system, target, answer):
    one = answer["prediction"]
    peak = f"{one['peak_memory_bytes'] / 2**30:.1f}" if one["peak_memory_bytes"] else "-"
    capacity = f"{one['capacity_bytes'] / 2**30:.1f}" if one["capacity_bytes"] else "-"
    fits = {True: "yes", False: "no", None: "?"}[one["fits"]] if one["status"] in ("predicted", "does not fit") else one["status"]
    by = "" if one["by"] == "compiler" else " (roofs)"
    return [system, target.split(":")[1] + by, fits, f"{peak} of {capacity}", seconds_text(one), one["bound"] or "-", wire_share(one), share(one["mfu"]), money(one),
            f"{answer['wall_s']:.0f}", f"{answer['peak_rss_bytes'] / 1e9:.1f}"]


HEADER = ["system", "slice", "fits", "peak of capacity, GiB", "time a step, ms", "bound", "wire", "MFU (executed)", "USD a step", "compile, s", "GB"]


def show(name, rows, markdown):
    print(f"\n### {name}\n" if markdown else f"\n{name}")
    if markdown:
        print("| " + " | ".join(HEADER) + " |\n|" + "---|" * len(HEADER))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(row[i]) for row in [HEADER, *rows]) for i in range(len(HEADER))]
    for row in [HEADER, *rows]:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ridgeline")
    parser.add_argument("--corpus", default=str(HERE.parent / "build/dev/tests/corpus/files/programs"))
    parser.add_argument("--only", default="", help="regular expression: programs whose file name or target matches it")
    parser.add_argument("--keep", help="folder for the answers")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
    compilers = set()
    programs = [(pathlib.Path(options.corpus) / f"{name}.mlir", *what) for name, what in CORPUS.items()]
    for program, devices, what in programs:
        rows = []
        for system, slices in TARGETS.items():
            target = slices[devices]
            if not re.search(options.only, f"{program.stem} {target}"):
                continue
            answer = compiled(options.ridgeline, program, target, options.keep)
            compilers.add(answer["prediction"]["compiler"].split(";")[0])
            rows.append(cells(system, target, answer))
        if rows:
            show(what, rows, options.markdown)
            sys.stdout.flush()
    print("\npredicted with " + ", ".join(sorted(compilers)))


if __name__ == "__main__":
    main()
