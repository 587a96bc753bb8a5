"""`ridgeline targets`, `compile` and `predict` as a user meets them. No TPU compiler is needed: tests/predict and tests/aot have those."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RIDGELINE = sys.argv.pop(1)
PROGRAM = """module @step attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
    return %0 : tensor<1024x1024xbf16>
  }
}
"""


def run(*args):
    return subprocess.run([RIDGELINE, *args], capture_output=True, text=True, timeout=300)


class Predict(unittest.TestCase):
    def predict(self, *args, code=0):
        result = run("predict", *args, "--json")
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def program(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "step.mlir"
        path.write_text(PROGRAM)
        return str(path)

    def test_targets_say_what_a_device_is(self):
        result = run("targets", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        targets = {one["name"]: one for one in json.loads(result.stdout)["targets"]}
        self.assertEqual(targets["tpu-7x"]["device"], "core")
        self.assertEqual(targets["tpu-v5e"]["device"], "chip")
        self.assertEqual(targets["tpu-v5e"]["predicted_by"], "compiler")
        self.assertEqual(targets["h100-sxm"]["predicted_by"], "compiler")
        self.assertEqual(targets["mi300x"]["predicted_by"], "roofs")
        self.assertIn("16x16", targets["tpu-v6e"]["slices"])

    def test_one_target_lists_its_slices(self):
        result = run("targets", "tpu-v4")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("tpu-v4:4x4x8", result.stdout)
        self.assertIn("chip_config_name=megacore", result.stdout)

    def test_a_description_is_predicted_by_the_roofs(self):
        out = self.predict("llama3-8b-train", "--target", "h100-sxm:64", "--target", "tpu-v5p:4x4x4")
        self.assertEqual(out["schema"], "ridgeline.predict/1")
        for one in out["targets"]:
            self.assertTrue(one["predicted"])
            self.assertEqual(one["by"], "roofs")
            self.assertLess(0, one["time_s"]["lower"])
            self.assertLessEqual(one["time_s"]["lower"], one["time_s"]["upper"])
            self.assertLessEqual(one["mfu"]["upper"], 1.0001)
            self.assertGreater(one["cost_per_step"]["upper"], 0)
        self.assertEqual(out, self.predict("llama3-8b-train", "--target", "h100-sxm:64", "--target", "tpu-v5p:4x4x4"))

    def test_without_the_compiler_the_roofs_stand_in_and_it_is_said(self):
        out = self.predict(self.program(), "--target", "tpu-v5e:1x1", "--plugin", "nosuch")
        one = out["targets"][0]
        self.assertEqual(one["by"], "roofs")
        self.assertIn("./dev plugins tpu", " ".join(one["notes"]))
        self.assertAlmostEqual(one["time_s"]["lower"], 2 * 1024**3 / 1.97e14)

    def test_compile_without_the_compiler_says_how_to_get_it(self):
        empty = tempfile.TemporaryDirectory()
        self.addCleanup(empty.cleanup)
        environment = {"PATH": "/nowhere", "RIDGELINE_CACHE": empty.name, "HOME": empty.name}
        result = subprocess.run([RIDGELINE, "compile", "--target", "tpu-v5e:2x2"], capture_output=True, text=True, timeout=60, env=environment)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("./dev plugins tpu", result.stderr)

    def test_errors_name_what_is_allowed(self):
        for args, words in [
            (["--target", "tpu-v5x:2x2"], "did you mean 'tpu-v5"),
            (["--target", "tpu-v5e:3x3"], "allowed: 1x1, 2x2"),
            (["--target", "tpu-v5e:2x2", "--target", "v5e:2x2"], "named twice"),
            (["--target", "h100-sxm:2x2"], "give the number of chips"),
        ]:
            with self.subTest(args=args):
                result = run("predict", "llama3-8b-train", *args)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(words, result.stderr)
                self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main()
