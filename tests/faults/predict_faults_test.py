"""What the surroundings can do to `ridgeline predict` through libtpu: each ends in words.

usage: predict_faults_test.py RIDGELINE

Without libtpu the test is skipped; with RIDGELINE_REQUIRE_TPU_PLUGIN=1 it fails.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

RIDGELINE = sys.argv.pop(1)
PLUGINS = pathlib.Path(os.environ.get("RIDGELINE_CACHE") or ".cache", "plugins").resolve()
PROGRAM = """module @product {
  func.func public @main(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
    %v = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
    return %v : tensor<1024x1024xbf16>
  }
}
"""


class PredictFaults(unittest.TestCase):
    def setUp(self):
        if not (PLUGINS / "tpu/plugin.json").exists():
            if os.environ.get("RIDGELINE_REQUIRE_TPU_PLUGIN") == "1":
                self.fail("RIDGELINE_REQUIRE_TPU_PLUGIN is set, and there is no libtpu")
            print("libtpu is not here")
            self.skipTest("libtpu is not here")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "product.mlir"
        self.program.write_text(PROGRAM)
        self.cache = self.folder / "cache"
        self.cache.mkdir()
        (self.cache / "plugins").symlink_to(PLUGINS)
        # No word of a TPU machine: what libtpu needs, `predict` says to it.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("TPU_", "ALLOW_MULTIPLE"))}
        self.environment["RIDGELINE_CACHE"] = str(self.cache)

    def start(self, *args, **more):
        return subprocess.Popen([RIDGELINE, "predict", str(self.program), "--target", "tpu-v5e:1x1", *args], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment, **more)

    def finish(self, process, code=0):
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, err)
        return out, err

    def predict(self, *args, code=0, **more):
        return self.finish(self.start(*args, **more), code)

    def kept(self):
        return sorted((self.cache / "compiles").glob("*.compile"))

    def test_two_at_once_and_a_stale_lock_file(self):
        """libtpu's lock file of a process that is gone, and no metadata server, as on every machine without a TPU."""
        lock = pathlib.Path(tempfile.gettempdir(), "libtpu_lockfile")
        if not lock.exists():
            lock.touch()
            self.addCleanup(lock.unlink, missing_ok=True)
        both = [self.start("--json") for _ in range(2)]
        outs = [self.finish(one)[0] for one in both]
        self.assertEqual(outs[0], outs[1])
        self.assertEqual(json.loads(outs[0])["targets"][0]["status"], "predicted")
        self.assertEqual(len(self.kept()), 1)
        self.assertEqual(list((self.cache / "compiles").glob(".partial-*")), [])

    def test_what_is_kept_gives_the_same_bytes(self):
        first, err = self.predict("--json")
        self.assertNotIn("cached", err)
        again, err = self.predict("--json")
        self.assertEqual(first, again)
        self.assertIn("1 compile cached", err)
        anew, err = self.predict("--json", "--no-cache")
        self.assertEqual(first, anew)
        self.assertNotIn("cached", err)
        entry, = self.kept()
        entry.write_bytes(entry.read_bytes()[:-100])
        damaged, err = self.predict("--json")
        self.assertEqual(first, damaged)
        self.assertIn("is damaged: compiled anew", err)
        self.assertIn("1 compile cached", self.predict("--json")[1])

    def test_a_full_disk_and_a_cache_that_is_no_folder_are_warnings(self):
        expected, _ = self.predict("--json", "--no-cache")
        out, err = self.predict("--json", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)))
        self.assertEqual(out, expected)
        self.assertIn("File too large: the compile is not kept", err)
        self.assertEqual(self.kept(), [])
        (self.cache / "compiles").rmdir()
        (self.cache / "compiles").write_text("")
        out, err = self.predict("--json")
        self.assertEqual(out, expected)
        self.assertIn("compiles are not kept", err)

    def test_a_plugin_of_another_kind_is_named(self):
        _, err = self.predict("--plugin", "cpu", code=3)
        self.assertIn("Topology not supported", err)
        broken = self.folder / "libtpu.so"
        broken.write_bytes(b"no library")
        _, err = self.predict("--plugin", str(broken), code=3)
        self.assertIn("cannot load plugin", err)
        self.assertIn("--plugin", err)

    def test_flags_are_swept_and_an_unknown_one_is_named(self):
        out, _ = self.predict("--json", "--sweep-flags", "xla_tpu_scoped_vmem_limit_kib=16384,65536")
        targets = json.loads(out)["targets"]
        self.assertEqual([one["flags"] for one in targets],
                         [{}, {"xla_tpu_scoped_vmem_limit_kib": "16384"}, {"xla_tpu_scoped_vmem_limit_kib": "65536"}])
        self.assertTrue(all(one["predicted"] and "libtpu" in one["compiler"] for one in targets))
        out, _ = self.predict("--flag", "xla_tpu_no_such_flag=1", code=1)
        self.assertIn("No such compile option: 'xla_tpu_no_such_flag'", out)
        _, err = self.predict("--flag", "xla_tpu_no_value", code=2)
        self.assertIn("expected FLAG=VALUE", err)


if __name__ == "__main__":
    unittest.main()
