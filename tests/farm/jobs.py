"""Shared by the tests of 'exemplar farm': small jobs, engines that run them, and comparison with one process.

A test is a method of a Case, in a folder of its own with a garment that follows a bar (tests/cli/drive.py). The first test
that needs Slurm starts a cluster, and main() ends it. Files are called as NAME.py TOOL REPOSITORY FOLDER.
"""
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]
import drive
import harness
import slurm

MESHES = ["--driver-mesh", "bar.obj", "--driven-mesh", "sleeve.obj"]
STATES = ("left", "done", "running", "failed", "lost")
_cluster = None


def cluster():
    """The cluster of this file of tests. Skips the test on a machine without Slurm."""
    global _cluster
    if not _cluster:
        try:
            _cluster = slurm.Slurm().__enter__()
        except slurm.Missing as sentence:
            raise unittest.SkipTest(str(sentence)) from None
    return _cluster


def main():
    global _cluster
    harness.TOOL = os.path.abspath(sys.argv[1])
    harness.REPOSITORY = pathlib.Path(sys.argv[2])
    harness.SANITIZED = b"__asan_init" in pathlib.Path(harness.TOOL).read_bytes()
    try:
        result = unittest.main(module="__main__", argv=[sys.argv[0], "-v", *sys.argv[4:]], exit=False).result
        if not result.wasSuccessful() and _cluster:
            print(_cluster.logs())
    finally:
        if _cluster:
            _cluster.__exit__(None, None, None)
    harness.finish(result)


# ---- animations ----

def swing(seed, frame):
    t = frame / 25
    return (0.9 * (1 - math.cos(2.3 * t + seed)), 0.5 * math.sin(4.1 * t + 2 * seed), 0.2 * math.sin(1.7 * t))


def bars(seed, frames, start=0.0, step=0.04):
    """A cache of the bar that moves."""
    return drive.pc2([drive.bar(*swing(seed, f)) for f in range(frames)], start, step)


def sleeves(seed, frames):
    """A cache of its sleeve, which lags."""
    return drive.pc2([drive.sleeve(*swing(seed, max(f - 3, 0))) for f in range(frames)])


def repeated(data, times):
    """A cache that plays another one several times over."""
    frames = struct.unpack_from("<i", data, 28)[0]
    return data[:28] + struct.pack("<i", frames * times) + data[32:] * times


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        self.write("bar.obj", drive.tube(drive.bar(0, 0, 0), drive.RINGS, drive.SIDES, True, ["low", "high"]))
        self.write("sleeve.obj", drive.tube(drive.sleeve(0, 0, 0), drive.SLEEVE_RINGS, drive.SLEEVE_SIDES, False,
                                            ["cuff", "arm"]))
        self.write("bar_a.pc2", bars(0.3, 60))
        self.write("sleeve_a.pc2", sleeves(0.3, 60))
        self.succeed("drive", "learn", "--driver", "bar_a.pc2", "--driven", "sleeve_a.pc2", *MESHES, "--keys", "5", "-o",
                     "s.glb", "-q")

    def tearDown(self):
        if _cluster:
            subprocess.run(["scancel", "--quiet", "--user", str(os.getuid())], env=_cluster.environment)
            _cluster.wait_jobs()
        super().tearDown()

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    # ---- running the tool ----

    def call(self, *words, env=None, **how):
        """Runs the tool in any way and returns its Outcome."""
        return harness.Outcome(subprocess.run([harness.TOOL, *[str(word) for word in words]], cwd=self.folder,
                                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                              timeout=300, env=env, **how))

    def fine(self, *words, **how):
        outcome = self.call(*words, **how)
        self.assertEqual(outcome.code, 0, (words, outcome.out, outcome.err))
        return outcome

    def refused(self, *words, says=(), code=1, **how):
        """Expects a failure with these fragments."""
        outcome = self.call(*words, **how)
        self.assertEqual(outcome.code, code, (words, outcome.out, outcome.err))
        self.assertNotRegex(outcome.err, r"\(null\)|runtime error|Sanitizer")
        for fragment in says:
            self.assertIn(fragment, outcome.err)
        return outcome

    # ---- plans ----

    def plan(self, *words, folder="plan", **job):
        """Plans a job, without sample unless the words say how to cut it."""
        self.write(f"{folder}.json", json.dumps(job))
        self.fine("farm", "plan", f"{folder}.json", "-o", folder, "-q", *words)
        return self.folder / folder

    def tasks(self, folder="plan"):
        return [json.loads(line) for line in (self.folder / folder / "tasks.jsonl").read_text().splitlines()]

    def pieces(self, folder="plan"):
        """Names of the finished ones, without files that are being written."""
        return {path.stem for path in (self.folder / folder / "pieces").glob("*.piece")}

    def piece(self, number, folder="plan"):
        """The path of a task's piece, counting from 1."""
        return self.folder / folder / "pieces" / f"{self.tasks(folder)[number - 1]['piece']}.piece"

    def status(self, folder="plan"):
        told = self.fine("farm", "status", folder, "--json").json()
        self.assertEqual(sum(told[state] for state in STATES), told["tasks"])
        return told

    def counts(self, folder="plan"):
        """Numbers of tasks by state, without those that are zero."""
        told = self.status(folder)
        return {state: told[state] for state in STATES if told[state]}

    def remains(self, folder="plan"):
        """Whatever a finished plan should not have: marks, private folders, temporary files."""
        folder = self.folder / folder
        return [str(path.relative_to(folder)) for path in folder.rglob("*")
                if path.parent.name in ("running", "scratch") or ".new" in path.name or path.name.startswith(".")]

    # ---- engines ----

    def local(self, folder="plan", **how):
        self.fine("farm", "submit", folder, "-q", "--jobs", "2", **how)

    def to_slurm(self, folder="plan", *words, verb="submit"):
        return self.fine("farm", verb, folder, "--to", "slurm", *words, env=cluster().environment)

    def slurm(self, folder="plan"):
        self.to_slurm(folder)
        cluster().wait_jobs(240)

    def parallel(self, folder="plan"):
        """GNU parallel, or a shell without it."""
        self.fine("farm", "submit", folder, "--to", "list", "-o", "commands.txt", "-q")
        program = ["parallel", "-j2", "--will-cite"] if shutil.which("parallel") else ["sh", "-e"]
        with open(self.folder / "commands.txt") as lines:
            done = subprocess.run(program, stdin=lines, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def merge(self, folder="plan", *words):
        return self.fine("farm", "merge", folder, *words)

    # ---- results ----

    def made(self, folder):
        """Names and bytes of all files below a folder."""
        folder = self.folder / folder
        return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

    def same(self, folder, wanted):
        """Two folders have the same files with the same bytes."""
        got, wanted = self.made(folder), self.made(wanted)
        self.assertTrue(wanted)
        self.assertEqual(sorted(got), sorted(wanted))
        self.assertEqual([name for name in wanted if got[name] != wanted[name]], [])
