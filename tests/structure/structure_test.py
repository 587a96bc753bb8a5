"""Walks the sources: includes follow the data's way, every list row has its file, nothing names a machine."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
SRC = ROOT / "src"
# The order of CMakeLists.txt: a folder includes only from itself and those before it.
ORDER = re.search(r"foreach\(folder ([a-z ]+)\)\n  add_subdirectory\(src", (ROOT / "CMakeLists.txt").read_text()).group(1).split()
INCLUDE = re.compile(r'^#include "([a-z_]+)/', re.M)


def sources():
    return sorted(p for p in SRC.rglob("*") if p.suffix in (".h", ".cc"))


class Structure(unittest.TestCase):
    def test_every_folder_is_in_the_order(self):
        self.assertEqual(sorted(ORDER), sorted(p.name for p in SRC.iterdir() if p.is_dir()))

    def test_includes_follow_the_order(self):
        self.assertGreater(len(sources()), 50)
        for path in sources():
            here = ORDER.index(path.relative_to(SRC).parts[0])
            for folder in INCLUDE.findall(path.read_text()):
                self.assertIn(folder, ORDER, f"{path}: {folder}")
                self.assertLessEqual(ORDER.index(folder), here, f"{path} includes from {folder}")

    def test_only_pjrt_sees_the_pjrt_header(self):
        for path in sources():
            if "pjrt_c_api.h" in path.read_text():
                self.assertEqual(path.relative_to(SRC).parts[0], "pjrt", path)

    def test_only_cli_prints_or_exits(self):
        # _exit in the worker ends a process that holds a plugin; snprintf and friends print nowhere.
        allowed = {SRC / "engine/worker.cc", SRC / "engine/supervisor.cc"}
        word = re.compile(r"std::cout|std::cerr|\bprintf\(|fmt::print\(|\bexit\(|\babort\(")
        for path in sources():
            if path.relative_to(SRC).parts[0] != "cli" and path not in allowed:
                self.assertIsNone(word.search(path.read_text()), path)

    def rows(self, path):
        return re.findall(r"^RL_[A-Z_]+\(([A-Za-z0-9_]+)", path.read_text(), re.M)

    def test_every_row_has_its_file(self):
        for name in self.rows(SRC / "benchmarks/benchmarks.def"):
            self.assertTrue((SRC / f"benchmarks/{name}.cc").is_file(), name)
        for name in self.rows(SRC / "cli/commands.def"):
            self.assertTrue((SRC / f"cli/{name}.cc").is_file(), name)

    def test_every_benchmark_file_has_its_row(self):
        rows = self.rows(SRC / "benchmarks/benchmarks.def")
        self.assertEqual(len(rows), len(set(rows)))
        for path in (SRC / "benchmarks").glob("*.cc"):
            if re.search(r"^Benchmark \w+_benchmark\(\)", path.read_text(), re.M):
                self.assertIn(path.stem, rows)

    def test_files_stay_readable(self):
        for path in sources():
            self.assertLess(len(path.read_text().splitlines()), 700, path)


if __name__ == "__main__":
    unittest.main()
