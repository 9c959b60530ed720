"""Sessions of scans through a farm: stages that need each other, on Slurm and here, give the files of 'scan run'.

usage: test_farm_scan.py TOOL REPOSITORY FOLDER
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import jobs

MADE = ["found", "fit.json", "template", "maps", "changes", "masks", "figure", "cage.obj", "skeleton.glb", "body.json",
        "body.glb", "base.ply", "sides", "poses.csv", "truth"]
REFERENCE = "shoulder_14"


class Scans(jobs.Case):
    """Each test has the scans of the quick demo and the labels of its reference, and the files that one process makes."""

    @classmethod
    def setUpClass(cls):
        cls.there = pathlib.Path(tempfile.mkdtemp(prefix="exemplar-scans-"))
        cls.addClassCleanup(shutil.rmtree, cls.there)
        call = lambda *words: subprocess.run([jobs.harness.TOOL, *words, "-q"], cwd=cls.there, check=True, timeout=300,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        call("demo", "body", "--quick", "-o", "bare")
        for name in MADE:
            path = cls.there / "bare" / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for path in (cls.there / "bare/labels").iterdir():
            if path.stem != REFERENCE:
                path.unlink()
        shutil.copytree(cls.there / "bare", cls.there / "whole")
        call("scan", "run", "whole")

    def setUp(self):
        super().setUp()
        shutil.copytree(self.there / "bare", self.folder / "anna")
        (self.folder / "whole").symlink_to(self.there / "whole")
        self.plan("--no-sample", "--pieces", "4", work="scan", sessions=["a*a"])
        self.stages = [task["stage"] for task in self.tasks()]

    def do(self, number):
        return subprocess.Popen([jobs.harness.TOOL, "farm", "do", "plan", str(number)], cwd=self.folder,
                                stderr=subprocess.PIPE, text=True)

    def test_slurm(self):
        self.slurm()
        self.assertEqual(self.counts(), {"done": len(self.stages)})
        self.assertFalse((self.folder / "anna/body.glb").exists())
        for _ in range(2):  # joined twice
            self.merge()
            self.same("anna", "whole")
        self.assertEqual(self.remains(), [])

    def test_what_others_need(self):
        tasks = self.tasks()
        second = self.stages.index(1) + 1
        needs = [need + 1 for need in tasks[second - 1]["needs"]]
        self.assertGreater(len(needs), 2)
        # A task that starts too early waits for pieces that appear late.
        late = self.do(second)
        for number in needs:
            self.fine("farm", "do", "plan", number)
        said = late.communicate(timeout=120)[1]
        self.assertEqual(late.returncode, 0, said)
        self.assertEqual(self.counts(), {"done": len(needs) + 1, "left": len(tasks) - len(needs) - 1})
        # If one of them is damaged, it says so, and both have failed.
        need = needs[1]
        whole = self.piece(need).read_bytes()
        self.piece(need).write_bytes(whole[:300] + bytes([whole[300] ^ 1]) + whole[301:])
        self.piece(second).unlink()
        self.refused("farm", "do", "plan", second, says=[str(self.piece(need)), "its bytes have changed"])
        self.assertEqual({failure["task"] for failure in self.status()["failures"]}, {need, second})
        # A task does not wait for one that failed.
        self.refused("farm", "do", "plan", second, says=[f"task {need} ", "comes first, and its piece is not there"])
        # If one cannot be made, those behind it do not run.
        inputs = json.loads((self.folder / "plan/plan.json").read_text())["inputs"]
        alone = set(tasks[need - 1]["inputs"]).difference(*(tasks[other - 1]["inputs"] for other in needs if other != need))
        path = pathlib.Path(inputs[min(alone)]["path"])
        path.rename(f"{path}.away")
        self.refused("farm", "retry", "plan", "-q", says=[f"task {need} ", "cannot read", path.name])
        self.assertEqual(self.counts(), {"done": len(needs) - 1, "failed": 1, "left": len(tasks) - len(needs)})
        path.with_name(path.name + ".away").rename(path)
        # All of them run again, and so does one that was never made.
        self.piece(needs[0]).unlink()
        last = self.folder / "plan/failed" / tasks[-1]["piece"]
        last.write_text(json.dumps({"task": "body", "how": "killed", "host": "there", "time": 0, "lines": []}))
        self.fine("farm", "retry", "plan", "--to", "list", "-o", "again.txt", "-q")
        self.assertEqual(len((self.folder / "again.txt").read_text().splitlines()), len(tasks) - len(needs) + 2)
        self.fine("farm", "submit", "plan", "-q")
        self.merge()
        self.same("anna", "whole")


jobs.main()
