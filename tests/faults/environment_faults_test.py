"""Flags, devices, memory and old plugins: what the surroundings of a run can do to it (reports.md E1, E6, F3, F4).

usage: environment_faults_test.py RIDGELINE FAULTY_PLUGIN
"""
import subprocess
import sys
import unittest

import faulty

RIDGELINE, PLUGIN = sys.argv.pop(1), sys.argv.pop(1)
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute")


class EnvironmentFaults(unittest.TestCase):
    def setUp(self):
        self.place = faulty.Faulty(RIDGELINE, PLUGIN)
        self.addCleanup(self.place.close)

    # -- F3: flags -------------------------------------------------------------------------------

    def test_F3_the_users_flags_are_kept_and_recorded(self):
        flags = "--xla_cpu_multi_thread_eigen=false"
        outcome = self.place.run("kept", env={"XLA_FLAGS": flags, "LIBTPU_INIT_ARGS": "--some_tpu_flag=1"})
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(outcome.header["environment"]["XLA_FLAGS"], flags)
        self.assertEqual(outcome.header["environment"]["LIBTPU_INIT_ARGS"], "--some_tpu_flag=1")

    def test_F3_the_plugin_gets_the_users_flags_and_an_unknown_one_is_named(self):
        outcome = self.place.run("unknown", env={"XLA_FLAGS": "--xla_no_such_flag=1"})
        self.assertIn(outcome.code, (3, 4), outcome.err)
        said = outcome.err + " ".join(m["reason"] for m in outcome.records)
        self.assertIn("xla_no_such_flag", said)
        for m in outcome.records:
            if m["component"] != "host":
                self.assertEqual(m["status"], "failed", m["id"])

    def test_F3_a_flag_that_one_compile_aborts_on_costs_that_case(self):
        words = "Unknown flag in XLA_FLAGS: --xla_tpu_no_such_flag"
        outcome = self.place.run("one", f'Client_Compile#1 say fd=2 text="{words}" program=dot_general; '
                                 "Client_Compile#1 abort program=dot_general")
        self.assertEqual(outcome.code, 4, outcome.err)
        gemm, = outcome.by_bench("gemm")
        self.assertIn(words, gemm["reason"])
        self.assertEqual(sum(m["status"] in faulty.MEASURED for m in outcome.records), 2)

    # -- F4: old plugins -------------------------------------------------------------------------

    def test_F4_what_an_old_plugin_lacks_is_named_with_its_version(self):
        outcome = self.place.run("old", "api version value=0.38; LoadedExecutable_Execute missing")
        self.assertEqual(outcome.header["plugin"]["api_version"], "0.38")
        for m in outcome.by_bench("gemm") + outcome.by_bench("all_reduce"):
            self.assertEqual(m["status"], "unsupported")
            self.assertIn("plugin lacks PJRT_LoadedExecutable_Execute (API 0.38)", m["reason"])
        self.assertIn(outcome.by_bench("host_to_device")[0]["status"], faulty.MEASURED)

    # -- E1: memory ------------------------------------------------------------------------------

    def test_E1_out_of_memory_ends_the_large_sizes_and_keeps_the_small(self):
        outcome = self.place.run(
            "memory", 'Client_BufferFromHostBuffer error code=RESOURCE_EXHAUSTED text="out of HBM" min_bytes=1048576',
            cases="  - {bench: triad, bytes: {from: 4KiB, to: 4MiB, multiply: 16}}\n"
                  "  - {bench: host_to_device, bytes: [4KiB, 1MiB]}\n"
                  "  - {bench: device_to_host, bytes: [4KiB, 1MiB]}\n")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(len(outcome.records), 7)
        for m in outcome.records:
            if m["params"]["bytes"] < 1 << 20:
                self.assertIn(m["status"], faulty.MEASURED, m["reason"])
            else:
                self.assertEqual(m["status"], "skipped", m["id"])
                self.assertRegex(m["reason"], r"out of HBM; the case needs \d.* [KMG]iB")
                self.assertIsNone(m["time_s"])

    # -- E6: collectives that hang ------------------------------------------------------------------

    def test_E6_collectives_on_8_virtual_devices_finish_or_are_given_up(self):
        outcome = self.place.run("eight", "LoadedExecutable_Execute#2 hang program=all_to_all", devices=8,
                                 hang_timeout=3, cases=f"  - {{bench: [{', '.join(COLLECTIVES)}], bytes: 4KiB}}\n")
        self.assertEqual(outcome.code, 4, outcome.err)
        self.assertEqual(len(outcome.records), len(COLLECTIVES))
        for m in outcome.records:
            if m["bench"] == "all_to_all":
                self.assertEqual(m["status"], "failed")
                self.assertIn("no sign of life", m["reason"])
            else:
                self.assertIn(m["status"], faulty.MEASURED, m["reason"])
                self.assertEqual(m["check"]["status"], "passed")
                self.assertIn("shared memory, not a network", m["labels"])

    # -- devices that come and go --------------------------------------------------------------------

    def test_records_of_one_file_stand_for_one_set_of_devices(self):
        """A plugin that is named by its path chooses the devices itself."""
        script = "LoadedExecutable_Execute#3 abort program=dot_general; Client_Devices#3+ count n=2"
        outcome = self.place.run("by_path", script, args=("--plugin", PLUGIN), devices=0)
        self.assertEqual(outcome.code, 3, outcome.err)
        self.assertIn("the plugin's devices have changed during the run", outcome.err)
        self.assertEqual([m["bench"] for m in outcome.records], ["all_reduce", "gemm"])
        self.assertIn("go on with: ridgeline run", outcome.err)

    def test_a_script_that_cannot_be_read_is_said(self):
        outcome = self.place.run("bad", "Client_Compil abort")
        self.assertEqual(outcome.code, 3)
        self.assertIn("did you mean 'PJRT_Client_Compile'?", outcome.err)

    def test_devices_and_doctor_survive_a_plugin_that_dies(self):
        for words, code in ((["devices"], 3), (["doctor"], 3), (["devices", "--json"], 3)):
            done = subprocess.run([RIDGELINE, *words], capture_output=True, text=True, timeout=60,
                                  env=self.place.environment("dying", "Client_Create abort"))
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn("signal 6", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
