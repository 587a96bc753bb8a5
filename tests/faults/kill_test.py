"""Kills parent or worker of a run at random moments (SIGKILL) and goes on with --resume, until so many kills are done.

usage: kill_test.py RIDGELINE [--kills N] [--seed S] [--passes P]

After every kill: the file holds whole lines (a half last one at most), no record twice, and every record that was
there before is still there, unchanged. At the end of each file: the same cases as an undisturbed run.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SUITE = """version: 1
name: kills
defaults: {precision: 0.5, block_seconds: 0.002, min_blocks: 2, max_blocks: 3, time_limit_s: 0.2}
cases:
  - {bench: [all_reduce, all_gather], bytes: [4KiB, 16KiB]}
  - {bench: gemm, m: [32, 64], n: 64, k: 64, dtype: [f32, bf16]}
  - {bench: [copy, triad], bytes: [16KiB, 64KiB]}
  - {bench: [host_to_device, device_to_host], bytes: [4KiB, 64KiB]}
"""


def whole_lines(path):
    """Lines that end, as they stand; what follows the last line end does not count."""
    return pathlib.Path(path).read_text().split("\n")[:-1] if os.path.exists(path) else []


def workers(parent):
    """Children of a process, from /proc."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == parent:
            found.append(int(stat.parent.name))
    return found


class Kills:
    def __init__(self, ridgeline, folder, seed, passes):
        self.ridgeline = ridgeline
        self.passes = passes
        self.folder = folder
        self.random = random.Random(seed)
        self.suite = os.path.join(folder, "kills.yaml")
        pathlib.Path(self.suite).write_text(SUITE)
        self.count = collections.Counter()

    def start(self, out, resume):
        command = [self.ridgeline, "run", self.suite, "--out", out, "--devices", "2", "--passes", str(self.passes)]
        command += ["--resume"] * resume
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def undisturbed(self):
        out = os.path.join(self.folder, "undisturbed.jsonl")
        begin = time.monotonic()
        process = self.start(out, False)
        _, errors = process.communicate(timeout=120)
        if process.returncode != 0:
            raise SystemExit(f"the undisturbed run failed: {errors}")
        self.duration = time.monotonic() - begin
        return {json.loads(line)["id"] for line in whole_lines(out)[1:]}

    def kill_one(self, process):
        """The parent or its worker, at a random moment. Returns what was hit, or None: it was over before."""
        time.sleep(self.random.uniform(0.0, 0.7 * self.duration))
        target = self.random.choice(("parent", "worker"))
        victims = [process.pid] if target == "parent" else workers(process.pid)
        if process.poll() is not None or not victims:
            return None
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return None
        return target

    def check(self, out, before):
        lines = whole_lines(out)
        if lines[:len(before)] != before:
            raise SystemExit(f"{out}: a record that was there is lost or changed")
        ids = [json.loads(line)["id"] for line in lines[1:]]
        twice = [i for i, n in collections.Counter(ids).items() if n > 1]
        if twice:
            raise SystemExit(f"{out}: records stand there twice: {twice}")
        return lines, ids

    def one_file(self, number, expected, kills):
        """One result file from its first run to its last record; returns the number of kills it took."""
        out = os.path.join(self.folder, f"{number}.jsonl")
        before, done, resume = [], 0, False
        for _ in range(200):
            process = self.start(out, resume)
            while done < kills:
                hit = self.kill_one(process)
                if hit is None:
                    break
                self.count[hit] += 1
                done += 1
                if hit == "parent":
                    break
            _, errors = process.communicate(timeout=120)
            before, ids = self.check(out, before)
            self.count[f"exit {process.returncode}"] += 1
            # A kill before the header was written leaves nothing to resume.
            resume = bool(before)
            if not resume and os.path.exists(out):
                self.count["killed at the header"] += 1
                os.unlink(out)
            if process.returncode in (0, 4) and set(ids) == expected:
                break
            if process.returncode not in (-signal.SIGKILL, 3, 4):
                raise SystemExit(f"{out}: exit code {process.returncode}: {errors}")
        else:
            raise SystemExit(f"{out}: not finished after 200 starts")
        states = collections.Counter(json.loads(line)["status"] for line in before[1:])
        for line in before[1:]:
            record = json.loads(line)
            if record["status"] == "failed" and "signal 9" not in record["reason"]:
                raise SystemExit(f"{out}: failed by something else than a kill: {record['reason']}")
        self.count["records"] += len(before) - 1
        self.count["records lost to a killed worker (failed, with the reason)"] += states["failed"]
        self.count["files"] += 1
        return done


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ridgeline")
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--passes", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kills = Kills(args.ridgeline, folder, args.seed, args.passes)
        expected = kills.undisturbed()
        done, number = 0, 0
        while done < args.kills:
            number += 1
            most = min(kills.random.randint(1, 6), args.kills - done)
            done += kills.one_file(number, expected, most)
            if number > 20 * args.kills:
                raise SystemExit("the runs end before they can be killed")
        print(f"{done} kills (seed {args.seed}, {args.passes} passes), {len(expected)} cases a file: "
              + ", ".join(f"{n} {what}" for what, n in sorted(kills.count.items())))
        print("every finished record present exactly once, every file equal in cases to the undisturbed run")


if __name__ == "__main__":
    sys.exit(main())
