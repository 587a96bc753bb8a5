"""Faults of time, injected inside the plugin. Only that what was injected is seen; never that anything is fast.

usage: time_faults_test.py RIDGELINE FAULTY_PLUGIN
"""
import sys
import unittest

import faulty

RIDGELINE, PLUGIN = sys.argv.pop(1), sys.argv.pop(1)
GEMM = "  - {bench: gemm, m: 64, n: 64, k: 64, dtype: f32}\n"
# Enough blocks for thirds.
STEADY = faulty.SUITE.replace("min_blocks: 2, max_blocks: 3", "min_blocks: 9, max_blocks: 9")
RUNS_A_BLOCK = 6  # one warm-up and five counts


class TimeFaults(unittest.TestCase):
    def setUp(self):
        self.place = faulty.Faulty(RIDGELINE, PLUGIN)
        self.addCleanup(self.place.close)

    def measure(self, script, cases=GEMM, code=0, **more):
        self.runs = getattr(self, "runs", 0) + 1
        outcome = self.place.run(f"run{self.runs}", script, cases=cases, hang_timeout=30, **more)
        self.assertEqual(outcome.code, code, outcome.err)
        for m in outcome.records:
            if m["status"] in faulty.MEASURED:
                # What is imported has no known answer.
                self.assertEqual(m["check"]["status"], "none" if m["bench"] == "imported" else "passed", m["id"])
        return outcome

    # -- C1: a call returns before its work is done ------------------------------------------------

    def test_C1_work_that_ends_late_is_waited_for(self):
        m, = self.measure("LoadedExecutable_Execute late ms=50").records
        self.assertGreaterEqual(m["launch_s"]["value"], 0.05)
        self.assertTrue(m["launch_s"]["resolved"])

    def test_C1_every_round_that_ends_late_is_in_the_time(self):
        m, = self.measure("LoadedExecutable_Execute late round_us=2000").records
        self.assertGreaterEqual(m["time_s"]["value"], 0.002 * 0.95)

    def test_C1_calls_back_to_back_are_waited_for(self):
        program = self.place.path("double.mlir")
        with open(program, "w") as file:
            file.write("module @double { func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
                       "  %y = stablehlo.add %x, %x : tensor<8xf32>\n  return %y : tensor<8xf32> } }\n")
        m, = self.measure("LoadedExecutable_Execute late ms=5", f"  - {{bench: imported, file: {program}}}\n").records
        self.assertGreaterEqual(m["time_s"]["value"], 0.005 * 0.95)

    def test_C1_transfers_that_end_late_are_waited_for(self):
        for bench, entry in (("host_to_device", "Client_BufferFromHostBuffer"), ("device_to_host", "Buffer_ToHostBuffer")):
            m, = self.measure(f"{entry} late ms=3", f"  - {{bench: {bench}, bytes: 4KiB}}\n").records
            self.assertGreaterEqual(m["time_s"]["value"], 0.003 * 0.95, bench)

    def test_C1_the_slowest_device_makes_the_time(self):
        for device in (0, 1):
            m, = self.measure(f"LoadedExecutable_Execute late round_us=2000 device={device}",
                              "  - {bench: all_reduce, bytes: 4KiB}\n").records
            self.assertGreaterEqual(m["time_s"]["value"], 0.002 * 0.95, f"device {device}")

    def test_C1_a_slow_pair_is_seen_and_only_it(self):
        pairs = "  - {bench: pair, bytes: 4KiB, pairs: all}\n"
        slow = self.measure('LoadedExecutable_Execute late round_us=2000 program="dense<[[1, 2]]>"', pairs, devices=3).records
        self.assertEqual(len(slow), 6)
        for m in slow:
            is_slow = (m["params"]["source"], m["params"]["target"]) == (1, 2)
            self.assertEqual(m["time_s"]["value"] >= 0.002 * 0.95, is_slow, m["id"])

    # -- C2: a slow copy to the host is no work of the device ----------------------------------------

    def test_C2_a_slow_copy_to_the_host_is_not_in_the_time_of_the_device(self):
        outcome = self.measure("Buffer_ToHostBuffer late ms=500; LoadedExecutable_Execute late round_us=1000",
                               "  - {bench: triad, bytes: 16KiB}\n")
        m, = outcome.records
        self.assertGreaterEqual(m["time_s"]["value"], 0.001 * 0.95)
        # 500 ms in any sample would make the time at least 500 ms / the largest count.
        self.assertLess(m["timed_s"], 0.5 * m["fit"]["blocks"] * 5)
        self.assertGreaterEqual(m["wall_s"], 0.5)
        m, = self.measure("Buffer_ToHostBuffer late ms=50", "  - {bench: device_to_host, bytes: 4KiB}\n",
                          head=faulty.SUITE.replace("max_blocks: 3", "max_blocks: 2")).records
        self.assertGreaterEqual(m["time_s"]["value"], 0.05 * 0.95)

    # -- C3: compile time and the first run ---------------------------------------------------------------

    def test_C3_compile_time_has_a_field_of_its_own(self):
        m, = self.measure("Client_Compile sleep ms=1000; LoadedExecutable_Execute#1 late ms=300; "
                          "LoadedExecutable_Execute late round_us=1000").records
        self.assertGreaterEqual(m["compile_s"], 1.0)
        self.assertGreaterEqual(m["time_s"]["value"], 0.001 * 0.95)
        # The first run's 300 ms are in no sample: fifteen rounds a block and its launches are all.
        self.assertGreaterEqual(m["wall_s"], 1.3)
        self.assertLess(m["launch_s"]["lo"], 0.3)

    # -- C13: throttling and drift ------------------------------------------------------------------------

    def test_C13_throttling_is_drift_in_both_directions(self):
        half = 10 + 4 * RUNS_A_BLOCK
        for script, sign in ((f"LoadedExecutable_Execute late round_us=1000; LoadedExecutable_Execute#{half}+ late round_us=350", "+"),
                             (f"LoadedExecutable_Execute late round_us=1000; LoadedExecutable_Execute#1-{half} late round_us=350", "-")):
            m, = self.measure(script, head=STEADY).records
            self.assertEqual(m["status"], "suspect", m)
            self.assertRegex(m["reason"], rf"drift: the last third took \{sign}[23]\d(\.\d)? % against the first")
            self.assertEqual(m["state"]["drift"] > 0, sign == "+")

    def test_C13_steady_drift_is_seen_and_strict_refuses_it(self):
        outcome = self.measure("LoadedExecutable_Execute late round_us=1000 drift=0.01", head=STEADY, args=("--strict",), code=1)
        self.assertIn("drift", outcome.records[0]["reason"])

    def test_C13_what_throttles_always_has_no_nan(self):
        # Every run is slower than the one before: nothing repeats.
        m, = self.measure("LoadedExecutable_Execute late round_us=500 drift=0.2").records
        self.assertIn(m["status"], ("suspect", "unconverged"))

    # -- C14: noise ------------------------------------------------------------------------------------------

    def test_C14_noise_stops_inside_its_budget_and_says_how_wide_it_is(self):
        head = faulty.SUITE.replace("precision: 0.5", "precision: 0.005").replace("max_blocks: 3", "max_blocks: 30")
        m, = self.measure("LoadedExecutable_Execute late round_us=1000 noise=0.3", head=head).records
        self.assertIn(m["status"], ("unconverged", "suspect"), m["reason"])
        if m["status"] == "unconverged":
            self.assertRegex(m["reason"], r"interval ± [\d.]+ %, asked ± 0.5\d* %, after \d+ blocks")
        width = (m["time_s"]["hi"] - m["time_s"]["lo"]) / 2 / m["time_s"]["value"]
        self.assertGreater(width, 0.005)
        # time_limit_s is 0.2; the block that was under way may end.
        self.assertLess(m["timed_s"], 0.2 + 10 * m["timed_s"] / m["fit"]["blocks"])


if __name__ == "__main__":
    unittest.main()
