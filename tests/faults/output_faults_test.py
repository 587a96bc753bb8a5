"""Places that cannot be written to: no record is lost without a word (reports.md G6).

usage: output_faults_test.py RIDGELINE FAULTY_PLUGIN
"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import unittest

import faulty

RIDGELINE, PLUGIN = sys.argv.pop(1), sys.argv.pop(1)
SWEEP = "  - {bench: [copy, triad, scale], bytes: {from: 4KiB, to: 64KiB, multiply: 2}}\n"
CASES = 15


class OutputFaults(unittest.TestCase):
    def setUp(self):
        self.place = faulty.Faulty(RIDGELINE, PLUGIN)
        self.addCleanup(self.place.close)
        self.suite = self.place.suite("sweep", SWEEP)
        self.out = self.place.path("r.jsonl")

    def start(self, *args, **more):
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        return subprocess.run([RIDGELINE, "run", self.suite, "--devices", "2", *args], text=True, timeout=120,
                              env=self.place.environment("output"), **more)

    def complete(self):
        _, records = faulty.read_records(self.out)
        self.assertEqual(len({m["id"] for m in records}), CASES)
        self.assertEqual(len(records), CASES)

    # -- the result file ---------------------------------------------------------------------------

    def test_G6_a_file_that_cannot_grow_keeps_what_is_whole_and_resume_finishes(self):
        """RLIMIT_FSIZE stands for the full disk: the write that crosses it ends short, the next one fails."""
        self.start("--out", self.out, "--filter", "bytes=4096,")
        whole = pathlib.Path(self.out).read_bytes()
        header = whole.index(b"\n") + 1
        os.unlink(self.out)
        for room in (header // 2, header, header + 100, len(whole) + 1000):
            with self.subTest(room=room):
                full = self.start("--out", self.out,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
                self.assertEqual(full.returncode, 2, full.stderr)
                self.assertIn("r.jsonl", full.stderr)
                self.assertIn("File too large", full.stderr)
                if room < header:
                    self.assertFalse(os.path.exists(self.out), "half a header is no result file")
                    continue
                faulty.read_records(self.out)  # whole lines only
                resumed = self.start("--out", self.out, "--resume")
                self.assertEqual(resumed.returncode, 0, resumed.stderr)
                self.complete()
                os.unlink(self.out)

    def test_G6_a_full_disk_is_an_error(self):
        full = self.start("--out", "/dev/full")
        self.assertEqual(full.returncode, 2, full.stderr)
        self.assertIn("/dev/full: cannot write", full.stderr)
        self.assertIn("No space left on device", full.stderr)

    def test_G6_a_full_file_system_keeps_what_is_whole(self):
        folder = self.place.path("small")
        os.mkdir(folder)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12k", "tmpfs", folder], capture_output=True)
        if mount.returncode != 0:
            self.skipTest("may not mount a file system here")
        self.addCleanup(subprocess.run, ["umount", folder])
        out = os.path.join(folder, "r.jsonl")
        full = self.start("--out", out)
        self.assertEqual(full.returncode, 2, full.stderr)
        self.assertIn("No space left on device", full.stderr)
        header, records = faulty.read_records(out)
        self.assertTrue(header)
        self.assertLess(len(records), CASES)

    def test_G6_a_folder_that_takes_no_file_is_an_error(self):
        for path in ("/proc/r.jsonl", "/sys/r.jsonl", self.place.path("nowhere/r.jsonl"), self.suite + "/r.jsonl"):
            done = self.start("--out", path)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"{path}: cannot create the result file", done.stderr)

    # -- the terminal ------------------------------------------------------------------------------

    def test_G6_a_report_that_cannot_be_written_is_an_error_and_the_file_is_whole(self):
        with open("/dev/full", "w") as full:
            done = self.start("--out", self.out, stdout=full)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("cannot write the result: No space left on device", done.stderr)
        self.complete()

    def test_G6_a_reader_that_has_seen_enough_costs_nothing(self):
        read, write = os.pipe()
        os.close(read)
        done = self.start("--out", self.out, stdout=write)
        os.close(write)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.complete()

    def test_G6_closed_descriptors_do_not_let_words_into_the_result_file(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed=closed):
                done = self.start("--out", self.out, stdout=None if 1 in closed else subprocess.DEVNULL,
                                  stderr=None if 2 in closed else subprocess.DEVNULL,
                                  preexec_fn=lambda: [os.close(fd) for fd in closed])
                self.assertIn(done.returncode, (0, 2))  # 2: the report could not be written
                self.complete()
                os.unlink(self.out)

    def test_G6_records_are_strict_json_whatever_failed(self):
        outcome = self.place.run("strict", "Buffer_ToHostBuffer wrong how=nan; Client_Compile#2 abort", cases=SWEEP)
        self.assertEqual(outcome.code, 4)
        self.assertEqual(len(outcome.records), CASES)
        for m in outcome.records:
            self.assertIn(m["status"], ("failed", "wrong_result"))
            self.assertIsNone(m["time_s"])
            self.assertEqual(m["rates"], [])
            self.assertTrue(m["reason"])
        flat = subprocess.run([RIDGELINE, "export", self.place.path("strict.jsonl"), "--format", "json"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(len(json.loads(flat.stdout, parse_constant=faulty.refuse_constant)), CASES)

    def test_G6_the_worker_dies_with_its_parent(self):
        process = subprocess.Popen([RIDGELINE, "run", self.suite, "--out", self.out, "--devices", "2"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=self.place.environment("orphan", "LoadedExecutable_Execute#3 hang"))
        while not os.path.exists(self.out):
            self.assertIsNone(process.poll())
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.assertEqual(len(children), 1)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        stat = pathlib.Path(f"/proc/{children[0]}/stat")
        for _ in range(1000):
            # Nobody may be there to collect it: then it stays as a zombie.
            if not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return
            os.sched_yield()
            signal.sigtimedwait([], 0.01)
        self.fail("the worker outlived its parent")


if __name__ == "__main__":
    unittest.main()
