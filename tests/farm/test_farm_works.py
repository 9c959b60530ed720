"""Kinds of work whose pieces are joined by a task: learning, sheets, figures. Their results have the bytes of one process.

usage: test_farm_works.py TOOL REPOSITORY FOLDER
"""
import json
import pathlib
import shutil
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import jobs


class Learning(jobs.Case):
    """drive learn: every sequence is gathered on its own."""

    def setUp(self):
        super().setUp()
        for name, seed, frames in (("b", 0.9, 40), ("c", 1.7, 30)):
            self.write(f"bar_{name}.pc2", jobs.bars(seed, frames))
            self.write(f"sleeve_{name}.pc2", jobs.sleeves(seed, frames))

    def learn(self, options, words, sequences=(("a", {}), ("b", {"range": "3:30", "fps": 25}), ("c", {})), **how):
        """The same rig from caches, by one process, and from a plan."""
        pairs = []
        for name, more in sequences:
            pairs += ["--driver", f"bar_{name}.pc2", "--driven", f"sleeve_{name}.pc2"]
            for key, value in more.items():
                pairs += [f"--{key}", value]
        self.fine("drive", "learn", *pairs, *jobs.MESHES, *words, "-o", "one.glb", "-q")
        self.plan(work="drive learn", output="many.glb",
                  sequences=[{"driver": f"bar_{name}.pc2", "driven": f"sleeve_{name}.pc2", **more}
                             for name, more in sequences],
                  options={"driver-mesh": "bar.obj", "driven-mesh": "sleeve.obj", **options})
        self.assertEqual([task["stage"] for task in self.tasks()], [0] * len(sequences) + [1])
        (self.local if how.get("engine") != "slurm" else self.slurm)()
        self.merge()
        self.assertEqual((self.folder / "many.glb").read_bytes(), (self.folder / "one.glb").read_bytes())

    def test_keys(self):
        self.learn({"keys": 6, "thickness": "3mm", "at": "1,70", "frames": 1},
                   ["--keys", "6", "--thickness", "3mm", "--at", "1,70", "--frames", "1"], engine="slurm")

    def test_databases(self):
        self.learn({"keys": 4, "residual": "none"}, ["--keys", "4", "--residual", "none"],
                   sequences=(("a", {"database": "stiff=0"}), ("b", {"database": "stiff=1"})))

    def test_motion(self):
        self.learn({"method": "motion", "forms": 6, "landmarks": 20, "frames": 2},
                   ["--method", "motion", "--forms", "6", "--landmarks", "20", "--frames", "2"])

    def test_refusals(self):
        for sequences, says in (([], '"sequences" is required'), ([{"driver": "bar_a.pc2"}], '"driven" is required'),
                                ([{"driver": "bar_a.pc2", "driven": "sleeve_a.pc2", "rnage": "1:2"}], '"range"')):
            self.write("job.json", json.dumps(
                {"work": "drive learn", "sequences": sequences, "output": "many.glb", "options": {"keys": 3}}))
            self.refused("farm", "plan", "job.json", "-o", "refused", says=[says])
            self.assertFalse((self.folder / "refused").exists())


class Pictures(jobs.Case):
    def test_sheet(self):
        self.fine("demo", "blob", "-q")
        for rig in ("thin", "thick"):
            shutil.copy(self.folder / "blob/blob.glb", self.folder / f"{rig}.glb")
        (self.folder / "wanted").mkdir()
        for rig in ("thin", "thick"):
            self.fine("sheet", f"{rig}.glb", "--axes", "bend", "--grid", "5", "--cell", "48", "--title", "a title", "-q",
                      "thickness=0.5", "-o", f"wanted/{rig}.png")
        self.plan("--pieces", "4", work="sheet", rigs=["thin.glb", "thick.glb"], output="made/{rig}.png",
                  at={"thickness": 0.5}, options={"axes": "bend", "grid": "5", "cell": 48, "title": "a title"})
        self.assertEqual([task["stage"] for task in self.tasks()], [0] * 4 + [1] * 2)
        self.local()
        self.merge()
        self.same("made", "wanted")

    def test_figures(self):
        """Each figure is a task; only measured speeds differ."""
        self.plan("--no-sample", work="figures", output="made", options={"cell": 48})
        tasks = self.tasks()
        names = self.fine("figures", "--list").out.split()
        self.assertEqual([task["name"] for task in tasks], [*names, "the page"])
        self.assertEqual(tasks[-1]["needs"], list(range(len(names))))
        number = names.index("pose-space-2") + 1
        self.fine("farm", "do", "plan", number)
        self.fine("figures", "--only", "pose-space-2", "--cell", "48", "-o", "one", "-q")
        data = self.piece(number).read_bytes()
        self.assertIn((self.folder / "one/pose-space-2.png").read_bytes(), data)
        self.assertEqual(struct.unpack("<8s", data[-8:])[0], b"EXPIECE.")
        self.refused("farm", "merge", "plan", says=["task 1 (", f"{len(tasks) - 1} of {len(tasks)} pieces are missing"])


if __name__ == "__main__":
    jobs.main()
