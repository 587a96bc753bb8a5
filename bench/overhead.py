#!/usr/bin/env python3
"""What the audit and the check of the answer cost of a run: their share of its cases' time, from a result file.

usage: bench/overhead.py RESULT.jsonl [--most SHARE]

A case's `wall_s` holds everything from building its program to reading its result back, in all passes; `audit_s` and `check_s` are parts of it. The starts
of the worker processes are in no case, so that the share of the whole run is smaller than the one printed. The exit code is 1 when the share is above
--most, and 2 when the file has no case with these times.
"""
import argparse
import collections
import json
import sys

PARTS = ("compile_s", "timed_s", "audit_s", "check_s")


def add(sums, record):
    sums["cases"] += 1
    sums["wall_s"] += record["wall_s"]
    for part in PARTS:
        sums[part] += record.get(part) or 0


def row(name, sums):
    share = (sums["audit_s"] + sums["check_s"]) / sums["wall_s"]
    parts = "".join(f"{sums[part]:10.1f}" for part in ("wall_s", *PARTS))
    return f"{name:<10}{sums['cases']:>6}{parts}{100 * share:9.1f} %", share


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--most", type=float, help="share from which the exit code is 1, e.g. 0.1")
    args = parser.parse_args()
    whole, components, worst = collections.Counter(), collections.defaultdict(collections.Counter), []
    with open(args.result, encoding="utf-8") as lines:
        next(lines)  # the header
        for line in lines:
            record = json.loads(line)
            if not record.get("wall_s"):
                continue
            add(whole, record)
            add(components[record["component"]], record)
            worst.append(((record.get("audit_s") or 0) + (record.get("check_s") or 0), record["id"]))
    if not whole:
        print(f"{args.result}: no case has a wall time", file=sys.stderr)
        return 2
    print(f"{'':<10}{'cases':>6}" + "".join(f"{part:>10}" for part in ("wall_s", *PARTS)) + "  audit+check")
    for component, sums in sorted(components.items()):
        print(row(component, sums)[0])
    text, share = row("all", whole)
    print(text)
    print("compile_s is the first pass's alone. Largest audit + check:")
    for seconds, case in sorted(worst, reverse=True)[:3]:
        print(f"  {seconds:8.2f} s  {case!r}")
    return 1 if args.most is not None and share > args.most else 0


if __name__ == "__main__":
    sys.exit(main())
