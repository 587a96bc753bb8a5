"""`ridgeline roofline` as a user meets it: machines and workloads in, verdict, JSON and pictures out. Real CPU plugin."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

RIDGELINE = sys.argv.pop(1)
PROGRAM = """module @step attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%a: tensor<256x512xf32>, %b: tensor<512x128xf32>) -> tensor<256x128xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x128xf32>) -> tensor<256x128xf32>
    %1 = stablehlo.tanh %0 : tensor<256x128xf32>
    return %1 : tensor<256x128xf32>
  }
}
"""


def run(*args):
    return subprocess.run([RIDGELINE, *args], capture_output=True, text=True, timeout=300)


class Roofline(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        pathlib.Path(path).write_text(text)
        return path

    def roofline(self, *args):
        result = run("roofline", *args, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_numbers_against_a_sheet(self):
        out = self.roofline("--spec", "tpu-v5e", "--flops", "1.97e14", "--bytes", "8.19e10")
        self.assertEqual(out["schema"], "ridgeline.roofline/1")
        one = out["workloads"][0]
        self.assertEqual(one["bound"], "compute")
        self.assertAlmostEqual(one["roofs"]["compute_s"], 1.0)
        self.assertAlmostEqual(one["roofs"]["memory_s"], 0.1)
        self.assertAlmostEqual(one["time_s"]["upper"], 1.1)
        self.assertIsNone(one["measured_s"])
        self.assertIsNone(one["intensity"]["network"])  # nothing on the wire: no number
        self.assertTrue(one["predicted"])
        self.assertEqual(one["counted"], "exact")

    # Renewed with `tools/pictures.py RIDGELINE`.
    def test_the_three_kinds_of_the_docs_are_what_comes_out(self):
        root = pathlib.Path(__file__).resolve().parent.parent.parent
        result = subprocess.run([sys.executable, root / "tools/pictures.py", RIDGELINE, "--check"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_verdict_is_a_sentence(self):
        result = run("roofline", "--spec", "a100-sxm-80", "--intensity", "20", "--no-plot")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("is memory-bound", result.stdout)
        self.assertIn("under the ridge at 153", " ".join(result.stdout.split()))

    def test_errors_name_what_is_wrong_and_what_is_allowed(self):
        for args, words in (
            (["--flops", "1"], "--spec NAME"),
            (["--spec", "tpu-v5x", "--flops", "1"], "did you mean 'tpu-v5"),
            (["--spec", "tpu-v5e:3x3x3", "--flops", "1"], "3x3x3"),
            (["--spec", "tpu-v5e", "--workload", "llama3-8b-trian"], "did you mean 'llama3-8b-train'?"),
            (["--spec", "tpu-v5e", "--flops", "1", "--dtype", "bf61"], "did you mean 'bf16'?"),
            (["--spec", "tpu-v5e", "--flops", "1", "--pattern", "random"], "allowed: sequential"),
            (["--spec", "tpu-v5e", "--flops", "-1"], "--flops"),
            (["--spec", "tpu-v5e", "--workload", self.write("w.yaml", "version: 1\nflop: 3\n")], "w.yaml:2:1"),
            (["--spec", "tpu-v5e", "--flops", "1", "--execute"], "is no StableHLO program"),
            (["--spec", "tpu-v5e", "--workload", "llama3-8b-decode", "--execute"], "is no StableHLO program"),
            (["--spec", "tpu-v5e", "--flops", "1", "--time-limit", "soon"], "is not a time"),
            (["--spec", "tpu-v5e", "--intensity", "inf"], "what needs no bytes is --flops alone"),
            (["--spec", "tpu-v5e", "--bytes", "many"], "'many' is no number from 0 to 1e30"),
            (["nowhere.jsonl", "--flops", "1"], "nowhere.jsonl"),
            ([self.write("step.mlir", PROGRAM)], "goes with --workload"),
        ):
            result = run("roofline", *args)
            self.assertEqual(result.returncode, 2, (args, result.stderr))
            self.assertIn(words, result.stderr, args)
            self.assertEqual(result.stdout, "", args)

    def test_a_program_is_counted_and_runs(self):
        path = self.write("step.mlir", PROGRAM)
        one = self.roofline("--spec", "tpu-v5e", "--workload", path)["workloads"][0]
        flops = 2 * 256 * 512 * 128
        self.assertEqual(one["work"]["flops"]["matrix"], {"f32": flops})
        self.assertEqual(one["work"]["flops"]["transcendental"], 256 * 128)
        self.assertEqual(one["work"]["hbm_bytes"], 4 * (256 * 512 + 512 * 128 + 256 * 128))
        suite = self.write("small.yaml", "version: 1\ndefaults: {precision: 0.5, block_seconds: 0.01, max_blocks: 3}\n"
                           "cases:\n  - {bench: gemm, m+n+k: 256, dtype: f32}\n  - {bench: triad, bytes: [1MiB, 2MiB]}\n")
        result_file = os.path.join(self.folder.name, "r.jsonl")
        self.assertEqual(run("run", suite, "--devices", "1", "--out", result_file).returncode, 0)
        out = self.roofline(result_file, "--spec", "tpu-v5e", "--workload", path, "--execute")
        self.assertEqual([m["name"] for m in out["machines"]], [result_file, "tpu-v5e"])
        # A noisy machine may leave no figure that is fit for a roof.
        gemm = next(m for m in json.loads(run("show", result_file, "--json").stdout)["measurements"] if m["bench"] == "gemm")
        roof = out["machine"]["peaks"].get("matrix", {}).get("f32", {}).get("kind")
        self.assertEqual(roof, "measured" if gemm["status"] in ("ok", "unconverged") else None)
        measured, nominal = out["workloads"]
        self.assertGreater(measured["measured_s"], 0)
        self.assertIsNone(nominal["measured_s"])  # it did not run there

    def test_the_picture_in_the_docs_is_what_comes_out(self):
        svg = os.path.join(self.folder.name, "roofline.svg")
        result = run("roofline", "--spec", "tpu-v5e", "--workload", "llama3-8b-prefill", "--workload", "llama3-8b-decode", "--svg", svg)
        self.assertEqual(result.returncode, 0, result.stderr)
        here = pathlib.Path(__file__).parents[2] / "docs/pictures/roofline.svg"
        self.assertEqual(pathlib.Path(svg).read_text(), here.read_text(), "renew it with the command in docs/roofline.md")

    def test_pictures_stand_alone(self):
        svg, html = (os.path.join(self.folder.name, name) for name in ("p.svg", "p.html"))
        name = '</script><b>"&'
        work = self.write("w.yaml", "version: 1\nname: '" + name + "'\ndtype: bf16\nflops: 1e12\nbytes: 1e9\n")
        result = run("roofline", "--spec", "tpu-v5e", "--workload", work, "--svg", svg, "--html", html)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(name, "".join(xml.etree.ElementTree.parse(svg).getroot().itertext()))
        page = pathlib.Path(html).read_text()
        self.assertNotIn("</script><b>", page)
        self.assertIn("default-src 'none'", page)
        full = run("roofline", "--spec", "tpu-v5e", "--flops", "1", "--svg", "/dev/full")
        self.assertEqual(full.returncode, 2, full.stderr)
        self.assertIn("/dev/full", full.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
