"""'exemplar bench' with peers that are missing, that answer and that do not, and what CMake says about the folders of
peers that are given as sources. The tool is copied to a folder of its own, because peers lie next to it."""
import os
import pathlib
import shutil
import subprocess
import sys

import harness

PROJECT = """cmake_minimum_required(VERSION 3.22)
project(peers LANGUAGES C)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_INSTALL_LIBEXECDIR libexec)
add_subdirectory("%s" bench)
"""
# CMake's variable, the file that must be in that folder, the peer's program
SOURCES = [("EX_BENCH_OZZ", "src/geometry/runtime/skinning_job.cc", "exemplar_peer_ozz"),
           ("EX_BENCH_DAQP", "src/daqp.c", "exemplar_peer_daqp"),
           ("EX_BENCH_LIBIGL", "include/igl/arap.h", "exemplar_peer_libigl")]


class Bench(harness.Case):
    def setUp(self):
        super().setUp()
        self.tool = shutil.copy2(harness.TOOL, self.folder / "exemplar")

    def bench(self, *words):
        process = subprocess.run([self.tool, "bench", *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(process.returncode, 0, process.stderr)
        return harness.Outcome(process)

    def add_peer(self, name, answer):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\nwhile read -r question; do echo '{answer}'; done\n", encoding="utf-8")
        path.chmod(0o755)

    def rows(self, group, peer):
        answer = self.bench(group, "--repeat", "1", "--json").json()
        return [row for row in answer["rows"] if row["peer"] and row["peer"].startswith(peer)]

    def test_machine(self):
        answer = self.bench("copy", "--repeat", "1", "--json").json()
        self.assertTrue(answer["machine"].strip())
        rates = {row["work"]: row for row in answer["rows"] if row["rate_unit"]}
        self.assertEqual(list(rates), ["clock", "multiply-adds of floats"])
        for row in rates.values():
            self.assertGreater(row["rate"], 0)
        self.assertEqual(rates["clock"]["rate_unit"], "GHz")
        first = self.bench("convex", "--repeat", "1").out.splitlines()[0]
        self.assertRegex(first, f"^exemplar [^,]+, {answer['simd']}, ")
        self.assertTrue(first.endswith(answer["machine"]), first)

    def test_missing_peers(self):
        for group, peer, variable in (("skin", "ozz", "EX_BENCH_OZZ"), ("convex", "DAQP", "EX_BENCH_DAQP")):
            rows = self.rows(group, peer)
            self.assertGreater(len(rows), 1)
            for row in rows:
                self.assertEqual((row["peer_ns"], row["ratio"], row["reached"]), (None, None, None))
                self.assertIn(f"not built: cmake -D{variable}=FOLDER", row["peer_note"])
                self.assertGreater(row["ns"], 0)
        self.assertIn("peer: DAQP (not built: cmake -DEX_BENCH_DAQP=FOLDER", self.bench("convex", "--repeat", "1").out)

    def test_peers_that_answer(self):
        self.add_peer("exemplar_peer_ozz", "70e9")
        self.add_peer("exemplar_peer_daqp", "no such question")
        skin, convex = self.rows("skin", "ozz"), self.rows("convex", "DAQP")
        self.assertGreater(min(len(skin), len(convex)), 0)
        for row in skin:
            self.assertEqual((row["peer_ns"], row["reached"]), (70e9, True))
            self.assertAlmostEqual(row["ratio"] * row["ns"], 70e9, delta=1e4)
            self.assertIn("positions differ by 1", row["peer_note"])  # it answers with a time
        for row in convex:
            self.assertEqual((row["peer_ns"], row["peer_note"]), (None, "does not answer"))

    def test_table(self):
        self.add_peer("exemplar_peer_daqp", "70e9")
        for name, group in (("a.json", "copy"), ("b.json", "convex")):
            (self.folder / name).write_bytes(self.bench(group, "--repeat", "1", "--json").bytes)
        both = b"a line of a log\n" + (self.folder / "b.json").read_bytes() * 2  # two runs, a line each
        (self.folder / "c.txt").write_bytes(both)
        script = pathlib.Path(harness.REPOSITORY) / "scripts" / "bench-table"
        lines = subprocess.run([sys.executable, "-B", script, "a.json", "c.txt"], cwd=self.folder, text=True, check=True,
                               stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines()
        self.assertIn("2 runs", lines[0])
        self.assertRegex("\n".join(lines), r"\nclock: [0-9.]+ GHz *\n")
        self.assertIn("| GB/s | 32 KiB | 512 KiB | 8 MiB | 128 MiB |", lines)
        row = next(line for line in lines if line.startswith("| weights of a driver among 12 keys, warm |"))
        self.assertRegex(row, r"\| [0-9.]+ (ns|µs|ms) \|  \| DAQP: 70 s \| [0-9]+ \| 1: reached \|$")
        self.assertEqual(len([line for line in lines if "keys, cold" in line]), 3)

    def configure(self, *words, **variables):
        source = self.folder / "peers"
        source.mkdir(exist_ok=True)
        (source / "CMakeLists.txt").write_text(PROJECT % (pathlib.Path(harness.REPOSITORY) / "bench").as_posix(),
                                               encoding="utf-8")
        build = self.folder / "build"
        shutil.rmtree(build, ignore_errors=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EX_BENCH_")}
        return subprocess.run(["cmake", "-S", source, "-B", build, *words], stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment | variables)

    def test_sources(self):
        if not shutil.which("cmake") or not shutil.which("c++"):
            self.skipTest("no cmake or no C++ compiler")
        outcome = self.configure()
        self.assertEqual(outcome.returncode, 0, outcome.stdout)
        for variable, _, _ in SOURCES:
            self.assertIn(f"-D{variable}=FOLDER", outcome.stdout)
        for variable, file, _ in SOURCES:
            wrong = str(self.folder / "elsewhere")
            for outcome in (self.configure(f"-D{variable}={wrong}"), self.configure(**{variable: wrong})):
                said = " ".join(outcome.stdout.split())
                self.assertNotEqual(outcome.returncode, 0)
                self.assertIn(f"{variable} is '{wrong}', but there is no {file} in it", said)
        words = []
        for variable, file, _ in SOURCES[:2]:
            path = self.folder / variable / file
            path.parent.mkdir(parents=True)
            path.write_text("", encoding="utf-8")
            words.append(f"-D{variable}={self.folder / variable}")
        outcome = self.configure(*words)
        self.assertEqual(outcome.returncode, 0, outcome.stdout)
        targets = subprocess.run(["cmake", "--build", self.folder / "build", "--target", "help"], text=True,
                                 stdout=subprocess.PIPE, check=True).stdout
        for _, _, program in SOURCES[:2]:
            self.assertIn(program, targets)
        self.assertNotIn("exemplar_peer_libigl", targets)


if __name__ == "__main__":
    harness.main()
