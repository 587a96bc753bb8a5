#!/usr/bin/env python3
"""The pictures and the table of docs/roofline.md: three kinds of workload on one measured machine and three sheets.

usage: tools/pictures.py RIDGELINE [FOLDER]      writes FOLDER (default docs/pictures) and the table of docs/roofline.md
       tools/pictures.py RIDGELINE --check       compares with what is kept; exit code 1 and the differing names

The measured machine is docs/pictures/cpu.jsonl: `ridgeline run bench/roofs.yaml` on two cores, four virtual devices.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs/pictures"
PAGE = ROOT / "docs/roofline.md"
BEGIN, END = "<!-- tools/pictures.py writes from here -->\n", "<!-- to here -->\n"
MACHINES = {"cpu": ["docs/pictures/cpu.jsonl"], "tpu-v5e": ["--spec", "tpu-v5e:4x4"], "tpu-v5p": ["--spec", "tpu-v5p:4x4x4"],
            "a100": ["--spec", "a100-sxm-80:4"]}
WORKLOADS = ["llama3-8b-prefill", "llama3-8b-decode", "docs/pictures/gradients-4.yaml"]


def write(ridgeline, folder):
    """All pictures into the folder; the table's text."""
    rows = ["| workload | machine | bound | time | verdict |\n", "|---|---|---|---|---|\n"]
    for workload in WORKLOADS:
        for machine, args in MACHINES.items():
            name = f"{pathlib.Path(workload).stem}-{machine}.svg"
            out = subprocess.run([ridgeline, "roofline", *args, "--workload", workload, "--json", "--svg", os.path.join(folder, name)],
                                 cwd=ROOT, capture_output=True, text=True)
            if out.returncode != 0:
                sys.exit(out.stderr)
            limit = json.loads(out.stdout)["workloads"][0]
            time = f"{limit['time_s']['lower']:.3g} s"
            rows.append(f"| {limit['name']} | [{machine}](pictures/{name}) | {limit['label']} | {time} | {limit['sentence']} |\n")
    return "".join(rows)


def page(table):
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    return head + BEGIN + "\n" + table + "\n" + END + rest.split(END)[1]


def check(ridgeline):
    with tempfile.TemporaryDirectory() as folder:
        differing = [] if page(write(ridgeline, folder)) == PAGE.read_text() else [PAGE.name]
        for path in sorted(pathlib.Path(folder).iterdir()):
            kept = KEPT / path.name
            if not kept.exists() or kept.read_bytes() != path.read_bytes():
                differing.append(path.name)
    if differing:
        sys.exit(f"not as `tools/pictures.py RIDGELINE` writes them: {', '.join(differing)}")


def main(args):
    if not args or len(args) > 2:
        sys.exit(__doc__)
    ridgeline = os.path.abspath(args[0])
    if args[1:] == ["--check"]:
        check(ridgeline)
        return
    folder = os.path.abspath(args[1]) if len(args) == 2 else str(KEPT)
    os.makedirs(folder, exist_ok=True)
    PAGE.write_text(page(write(ridgeline, folder)))


main(sys.argv[1:])
