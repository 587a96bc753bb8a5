"""The program as a user meets it: exit codes, words, files, kills. Real CPU plugin, no times asserted."""
import csv
import io
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

RIDGELINE = sys.argv.pop(1)
SUITE = """version: 1
name: small
defaults: {precision: 0.5, block_seconds: 0.01, min_blocks: 3, max_blocks: 4, time_limit_s: 1}
cases:
  - {bench: all_reduce, bytes: [1KiB, 64KiB]}
  - {bench: gemm, m: [64, 128], n: 64, k: 64, dtype: [f32, bf16]}
  - {bench: triad, bytes: [64KiB, 1MiB]}
  - {bench: host_to_device, bytes: 64KiB}
  - {bench: attention, batch: 1, heads: 2, kv_heads: 1, q_len: 64, kv_len: 64, head_dim: 32}
"""
CASES = 10


def run(*args, env=None, stdin=None, cwd=None):
    merged = dict(os.environ, **(env or {}))
    return subprocess.run([RIDGELINE, *args], capture_output=True, text=True, env=merged, input=stdin, cwd=cwd, timeout=300)


def records(path):
    """Header and whole records of a result file; a half last line does not count."""
    lines = pathlib.Path(path).read_text().split("\n")
    whole = [json.loads(line) for line in lines[:-1]]
    return whole[0], whole[1:]


def workers(parent):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == parent:
            found.append(int(stat.parent.name))
    return found


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.suite = self.path("small.yaml")
        pathlib.Path(self.suite).write_text(SUITE)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, out, *more):
        return subprocess.Popen([RIDGELINE, "run", self.suite, "--out", out, *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def wait_for_records(self, out, count):
        for _ in range(3000):
            if os.path.exists(out) and pathlib.Path(out).read_bytes().count(b"\n") > count:
                return
            time.sleep(0.01)
        self.fail(f"{out} never held {count} records")

    # -- words and exit codes -------------------------------------------------------------------

    def test_help_of_every_command_has_examples(self):
        self.assertEqual(run("--help").returncode, 0)
        for command in ("run", "show", "export", "roofline", "specs", "list", "devices", "doctor"):
            result = run(command, "--help")
            self.assertEqual(result.returncode, 0, command)
            self.assertIn("Examples:", result.stdout, command)
            self.assertIn("--json", result.stdout, command)

    def test_unknown_words_end_in_2_and_the_nearest_name(self):
        for args, words in (
            (["rnu"], "did you mean 'run'?"),
            (["run", "quikc"], "did you mean 'quick'?"),
            (["run", "quick", "--only", "netwrok"], "did you mean 'network'?"),
            (["run", "quick", "--mesh", "x=0"], "is not a mesh axis"),
            (["run", "quick", "--devices", "4", "--mesh", "x=3"], "the mesh holds 3 devices but 4 are used"),
            (["run", "quick", "--time-limit", "soon"], "is not a time"),
            (["run", "quick", "--filter", "no_such_case"], "no_such_case"),
            (["show", "nowhere.jsonl"], "nowhere.jsonl"),
            (["export", "nowhere.jsonl"], "nowhere.jsonl"),
            ([], "subcommand"),
        ):
            result = run(*args)
            self.assertEqual(result.returncode, 2, (args, result.stderr))
            self.assertIn(words, result.stderr, args)
            self.assertEqual(result.stdout, "", args)

    def test_a_bad_suite_names_its_place(self):
        bad = self.path("bad.yaml")
        pathlib.Path(bad).write_text("version: 1\ncases:\n  - {bench: gemm, dtype: bf61}\n")
        result = run("run", bad)
        self.assertEqual(result.returncode, 2)
        self.assertIn("bad.yaml:3:", result.stderr)
        self.assertIn("bf16", result.stderr)

    def test_no_plugin_ends_in_3_and_says_what_to_do(self):
        result = run("run", "quick", "--plugin", "nosuch")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("next:", result.stderr)
        broken = self.path("broken.so")
        pathlib.Path(broken).write_text("no library")
        result = run("devices", "--plugin", broken)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("broken.so", result.stderr)

    def test_network_on_one_device_is_an_error_of_its_own(self):  # reports.md A4
        result = run("run", "quick", "--devices", "1", "--only", "network")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("needs 2 devices", result.stderr)

    def test_libtpu_away_from_a_tpu_answers_soon(self):  # reports.md F1, F2
        if "tpu" not in [p["name"] for p in json.loads(run("list", "--json").stdout)["plugins"]]:
            self.skipTest("libtpu is not here")
        start = time.monotonic()
        result = run("devices", "--plugin", "tpu")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("TPU_SKIP_MDS_QUERY", result.stderr)
        self.assertLess(time.monotonic() - start, 60, "it must give up by itself")

    # -- reading commands ------------------------------------------------------------------------

    def test_devices_list_and_doctor_speak_json(self):
        devices = json.loads(run("devices", "--devices", "3", "--json").stdout)
        self.assertEqual(len(devices["devices"]), 3)
        self.assertEqual(devices["plugin"]["platform"], "cpu")
        self.assertEqual(devices["schema"], "ridgeline.devices/1")
        listed = json.loads(run("list", "--json").stdout)
        workloads = run("list", "workloads").stdout
        self.assertTrue(listed["workloads"])
        for one in listed["workloads"]:
            self.assertRegex(workloads, rf"(?m)^{one['name']} +\w.*\.$")
            self.assertIn(one["description"], workloads)
        self.assertEqual(listed["schema"], "ridgeline.list/1")
        self.assertIn("gemm", [b["name"] for b in listed["benchmarks"]])
        self.assertIn("quick", [s["name"] for s in listed["suites"]])
        for suite in listed["suites"]:
            self.assertNotIn(":", suite["description"].split(" ")[0], suite)
        doctor = run("doctor", "--json")
        self.assertEqual(doctor.returncode, 0)
        for line in json.loads(doctor.stdout)["lines"]:
            self.assertIn(line["state"], ("ok", "warning", "missing"))
            self.assertTrue(line["detail"], line)

    def test_dry_run_measures_nothing(self):
        result = run("run", self.suite, "--dry-run", "--json", cwd=self.folder.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(json.loads(result.stdout)["cases"]), CASES)
        # --only takes one word, so that the suite may follow it.
        only = run("run", "--only", "network", self.suite, "--dry-run", "--json", cwd=self.folder.name)
        self.assertEqual(len(json.loads(only.stdout)["cases"]), 2)
        self.assertEqual(os.listdir(self.folder.name), ["small.yaml"])

    # -- a whole run -------------------------------------------------------------------------------

    def test_run_show_export(self):
        out = self.path("r.jsonl")
        result = run("run", self.suite, "--out", out, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("\x1b", result.stdout + result.stderr, "no bar and no colour away from a terminal")
        report = json.loads(result.stdout)
        self.assertEqual(len(report["measurements"]), CASES)
        for m in report["measurements"]:
            self.assertIn(m["status"], ("ok", "unconverged", "suspect"), m["reason"])
            self.assertEqual(m["check"]["status"], "passed", m["id"])
            self.assertGreater(m["time_s"]["value"], 0)
            self.assertGreaterEqual(m["fit"]["blocks"], 3)
            self.assertEqual(len(m["fit"]["counts"]), 5)
            if m["component"] != "host":
                self.assertTrue(m["audit"], m["id"])
                self.assertNotIn("refused", [a["level"] for a in m["audit"]])
            if m["component"] == "network":
                self.assertIn("shared memory, not a network", m["labels"])  # reports.md E6
            if m["component"] == "host":
                self.assertIn("host RAM, not a link", m["labels"])
        header, written = records(out)
        self.assertEqual(header["schema"], "ridgeline.result/1.1")
        self.assertEqual(header["plugin"]["sha256"][:4], "1319")
        self.assertIn("libfmt-dev", header["ridgeline"]["packages"])
        self.assertEqual({m["id"] for m in written}, {m["id"] for m in report["measurements"]})
        shown = run("show", out)
        self.assertEqual(shown.returncode, 0)
        self.assertNotIn("\x1b", shown.stdout)
        for component in ("network", "compute", "hbm", "host", "attention"):
            self.assertIn(component, shown.stdout)
        rows = list(csv.reader(io.StringIO(run("export", out, "--format", "csv").stdout)))
        self.assertEqual(len(rows), CASES + 1)
        self.assertEqual({len(r) for r in rows}, {len(rows[0])})
        flat = json.loads(run("export", out, "--format", "json").stdout)
        self.assertEqual(len(flat), CASES)
        piped = run("show", "-", "--json", stdin=pathlib.Path(out).read_text())
        self.assertEqual(len(json.loads(piped.stdout)["measurements"]), CASES)
        scored = json.loads(run("show", out, "--baseline", out, "--json").stdout)
        for m in scored["measurements"]:  # a file against itself: every usable figure is all of its reference
            for rate in m["rates"] if m["status"] in ("ok", "unconverged") else []:
                self.assertAlmostEqual(rate["of_spec"], 1.0)
        self.damage_shows(out)
        again = run("run", self.suite, "--out", out)
        self.assertEqual(again.returncode, 2, "a run never writes over a file")
        self.assertIn("r.jsonl", again.stderr)
        done = run("run", self.suite, "--out", out, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing left to run", done.stderr)
        other = run("run", self.suite, "--out", out, "--resume", "--seed", "9")
        self.assertEqual(other.returncode, 2)
        self.assertIn("--seed 1", other.stderr)

    def damage_shows(self, out):
        lines = pathlib.Path(out).read_bytes().splitlines()
        start = 0
        for line in lines:  # the checksums as another program computes them
            stated = json.loads(line)["crc"]
            self.assertEqual(stated, f"{zlib.crc32(line[:-18], start):08x}")
            start = start or int(stated, 16)
        edited = self.path("edited.jsonl")
        lines[2] = lines[2].replace(b'"value":', b'"value":9', 1)
        pathlib.Path(edited).write_bytes(b"\n".join(lines) + b"\n")
        for command in (["show", edited], ["export", edited], ["show", out, "--baseline", edited],
                        ["roofline", edited, "--flops", "1"], ["run", self.suite, "--out", edited, "--resume"],
                        ["run", self.suite, "--dry-run", "--baseline", edited]):
            refused = run(*command)
            self.assertEqual(refused.returncode, 2, command)
            self.assertIn("edited.jsonl:3: its checksum is", refused.stderr)
            self.assertIn("--salvage", refused.stderr)
        good = run("export", edited, "--salvage", "--format", "jsonl")
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertIn("edited.jsonl:3: dropped", good.stderr)
        shown = run("show", "-", "--json", stdin=good.stdout)
        self.assertEqual(len(json.loads(shown.stdout)["measurements"]), CASES - 1, shown.stderr)
        self.assertEqual(json.loads(shown.stdout)["header"]["salvaged"]["from"], edited)
        salvaged = run("show", edited, "--salvage")
        self.assertEqual(salvaged.returncode, 0)
        self.assertIn(f"{CASES - 1} records salvaged, 1 lines dropped", salvaged.stderr)

    def test_a_read_only_folder_fails_at_once(self):
        result = run("run", self.suite, "--out", "/proc/nowhere/r.jsonl")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/proc/nowhere/r.jsonl", result.stderr)

    def test_what_does_not_fit_is_skipped_and_the_rest_runs(self):  # reports.md E1
        suite = self.path("huge.yaml")
        pathlib.Path(suite).write_text(SUITE.split("cases:")[0] + "cases:\n  - {bench: triad, bytes: [64KiB, 1TiB]}\n")
        out = self.path("h.jsonl")
        result = run("run", suite, "--out", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        states = {m["params"]["bytes"]: m for m in records(out)[1]}
        self.assertEqual(states[1 << 40]["status"], "skipped")
        self.assertRegex(states[1 << 40]["reason"], r"needs \d TiB, .* free")
        self.assertIsNone(states[1 << 40]["time_s"])
        self.assertNotEqual(states[1 << 16]["status"], "skipped")

    def test_odd_element_counts_are_right(self):  # reports.md A11, A12
        suite = self.path("odd.yaml")
        pathlib.Path(suite).write_text(
            SUITE.split("cases:")[0]
            + "cases:\n  - {bench: [all_reduce, all_gather, reduce_scatter, all_to_all], bytes: [4, 4000012]}\n")
        out = self.path("o.jsonl")
        result = run("run", suite, "--out", out, "--devices", "8")
        self.assertEqual(result.returncode, 0, result.stderr)
        for m in records(out)[1]:
            if m["status"] == "skipped":
                self.assertIn("32 B", m["reason"])
                self.assertEqual(m["params"]["bytes"], 4)
            else:
                self.assertEqual(m["check"]["status"], "passed", m["id"])

    # -- kills -------------------------------------------------------------------------------------

    def test_a_killed_worker_costs_one_case(self):
        out = self.path("w.jsonl")
        process = self.start(out)
        self.wait_for_records(out, 3)
        for pid in workers(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=120)
        _, written = records(out)
        self.assertEqual(len(written), CASES)
        self.assertEqual(len({m["id"] for m in written}), CASES)
        failed = [m for m in written if m["status"] == "failed"]
        self.assertLessEqual(len(failed), 1)
        for m in failed:
            self.assertIn("signal 9", m["reason"])
        self.assertEqual(process.returncode, 4 if failed else 0)

    def test_a_killed_parent_loses_nothing_and_resume_finishes(self):
        rng = random.Random(3)
        out = self.path("p.jsonl")
        process = self.start(out)
        kept = set()
        for count in sorted(rng.sample(range(0, CASES - 2), 3)):
            self.wait_for_records(out, count)
            process.kill()
            process.communicate(timeout=60)
            _, written = records(out)
            self.assertLessEqual(kept, {m["id"] for m in written}, "a record was lost")
            kept = {m["id"] for m in written}
            process = self.start(out, "--resume")
            # The worker dies with its parent.
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, errors)
        _, written = records(out)
        self.assertEqual(len(written), CASES)
        self.assertEqual(len({m["id"] for m in written}), CASES)

    def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(self):
        out = self.path("c.jsonl")
        process = self.start(out)
        self.wait_for_records(out, 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(workers(process.pid), [])
        self.assertEqual(run("run", self.suite, "--out", out, "--resume").returncode, 0)
        self.assertEqual(len(records(out)[1]), CASES)

    def test_a_time_limit_leaves_the_rest_for_resume(self):
        out = self.path("t.jsonl")
        result = run("run", self.suite, "--out", out, "--time-limit", "0.5s")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("--resume", result.stdout)
        result = run("run", self.suite, "--out", out, "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(records(out)[1]), CASES)


if __name__ == "__main__":
    unittest.main()
