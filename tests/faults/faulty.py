"""`ridgeline run` on the CPU plugin with the faulty plugin before it (plugins/faulty/script.h holds its scripts)."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile

SUITE = """version: 1
name: tiny
defaults: {precision: 0.5, block_seconds: 0.002, min_blocks: 2, max_blocks: 3, time_limit_s: 0.2}
cases:
"""
CASES = """  - {bench: all_reduce, bytes: 4KiB}
  - {bench: gemm, m: 64, n: 64, k: 64, dtype: f32}
  - {bench: host_to_device, bytes: 4KiB}
"""
MEASURED = ("ok", "unconverged", "suspect")


@dataclasses.dataclass
class Outcome:
    code: int
    out: str
    err: str
    report: dict  # of --json; empty when the run gave none
    header: dict
    records: list

    def by_bench(self, bench):
        return [m for m in self.records if m["bench"] == bench]


class Faulty:
    """One scratch folder: a plugin cache whose `cpu` plugin is the faulty one, suites and result files."""

    def __init__(self, ridgeline, plugin):
        self.ridgeline = ridgeline
        self.folder = tempfile.TemporaryDirectory()
        self.real = self._real_plugin()
        cache = self.path("cache/plugins/cpu")
        os.makedirs(cache)
        pathlib.Path(cache, "plugin.json").write_text(json.dumps({"name": "cpu", "library": os.path.abspath(plugin)}))

    @staticmethod
    def _real_plugin():
        folder = pathlib.Path(os.environ.get("RIDGELINE_CACHE") or ".cache", "plugins/cpu")
        manifest = json.loads(folder.joinpath("plugin.json").read_text())
        return str(folder.joinpath(manifest["library"]).resolve())

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def close(self):
        self.folder.cleanup()

    def environment(self, name, script="", extra=None):
        counts = self.path(name + ".counts")
        if os.path.exists(counts):
            os.unlink(counts)
        env = {k: v for k, v in os.environ.items()
               if k not in ("HOME", "PYTHONPATH", "VIRTUAL_ENV", "RIDGELINE_PLUGIN", "XLA_FLAGS")}
        env.update(RIDGELINE_CACHE=self.path("cache"), RIDGELINE_FAULTY_PLUGIN=self.real,
                   RIDGELINE_FAULTY_SCRIPT=script, RIDGELINE_FAULTY_COUNTS=counts, TF_CPP_MIN_LOG_LEVEL="2")
        env.update(extra or {})
        return env

    def suite(self, name, cases=CASES, head=SUITE):
        path = self.path(name + ".yaml")
        pathlib.Path(path).write_text(head + cases)
        return path

    def run(self, name, script="", cases=CASES, args=(), env=None, head=SUITE, devices=2, hang_timeout=0.5):
        """A whole run under `name` with --json; `script` is the fault."""
        out = self.path(name + ".jsonl")
        command = [self.ridgeline, "run", self.suite(name, cases, head), "--out", out, "--json",
                   *(("--devices", str(devices)) if devices else ()), "--hang-timeout", str(hang_timeout), *args]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                              env=self.environment(name, script, env))
        return Outcome(done.returncode, done.stdout, done.stderr, parse(done.stdout), *read_records(out))

    def show(self, name):
        done = subprocess.run([self.ridgeline, "show", self.path(name + ".jsonl")], capture_output=True, text=True,
                              timeout=60, env=self.environment("show"))
        return done.stdout + done.stderr


def parse(text):
    return json.loads(text, parse_constant=refuse_constant) if text.startswith("{") else {}


def refuse_constant(name):
    raise ValueError(f"{name} is no JSON")


def read_records(path):
    """Header and records of a result file, read strictly; empty when there is none."""
    if not os.path.exists(path):
        return {}, []
    text = pathlib.Path(path).read_text()
    assert text.endswith("\n"), f"{path} ends in half a line"
    lines = [json.loads(line, parse_constant=refuse_constant) for line in text.splitlines()]
    return lines[0], lines[1:]


def plain(words):
    """Blanks of any width as one, as tables wrap their lines."""
    return re.sub(r"\s+", " ", words)
