"""10 000 tasks: planned, submitted to Slurm as arrays that its limits allow, counted, and joined.

usage: test_farm_many.py TOOL REPOSITORY FOLDER
"""
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import jobs

MANY = 10000
ARRAY = 1000  # MaxArraySize - 1


class Many(jobs.Case):
    def setUp(self):
        super().setUp()
        self.write("walk.pc2", jobs.repeated(jobs.bars(0.7, 100), MANY // 100))
        self.plan("--no-sample", "--pieces", MANY, work="drive apply", garments="s.glb", drivers="walk.pc2",
                  output="made/a.pc2")

    def hold(self):
        """Submits and keeps everything waiting; returns numbers of elements by array."""
        self.to_slurm("plan", "--sbatch", "hold", "-q")
        counts = {}
        for name, state in jobs.cluster().jobs().items():
            if state == "PENDING":
                array = name.split("_")[0]
                counts[array] = counts.get(array, 0) + 1
        jobs.cluster().run("scancel", *counts)
        jobs.cluster().wait_jobs()
        return sorted(counts.values())

    def lists(self):
        """All commands that were submitted, by list."""
        return [path.read_text().splitlines() for path in sorted((self.folder / "plan/submitted").glob("slurm-*.txt"))]

    def test_submitted(self):
        tasks = self.tasks()
        self.assertEqual(len(tasks), MANY)
        self.assertEqual(len({task["piece"] for task in tasks}), MANY)
        self.assertEqual(self.counts(), {"left": MANY})
        self.assertEqual(len((self.folder / "plan/stage-1.txt").read_text().splitlines()), MANY)
        self.assertEqual(self.hold(), [ARRAY] * (MANY // ARRAY))
        lines = [line for lines in self.lists() for line in lines]
        self.assertEqual(sorted(line.split()[-1] for line in lines), sorted(task["piece"] for task in tasks))
        # Of some that are there, the others are submitted.
        for path in (self.folder / "plan/submitted").iterdir():
            path.unlink()
        for task in tasks[:MANY - 1501]:
            self.write(f"plan/pieces/{task['piece']}.piece", b"")
        self.assertEqual(self.counts(), {"done": MANY - 1501, "left": 1501})
        self.assertEqual(self.hold(), [501, ARRAY])

    def test_states(self):
        """All states at once."""
        tasks = self.tasks()
        for number, task in enumerate(tasks):
            name = task["piece"]
            if number % 5 == 0:
                self.write(f"plan/pieces/{name}.piece", b"")
            if number % 5 == 1 or number % 50 == 0:
                self.write(f"plan/failed/{name}", '{"how": "a test", "host": "there", "lines": ["one", "two"]}')
            if number % 5 == 2:
                self.write(f"plan/running/{name}.elsewhere.17", b"")
            if number % 5 == 3 and number % 2:
                path = self.write(f"plan/running/{name}.elsewhere.18", b"")
                jobs.os.utime(path, (1e9, 1e9))
        lost = len(range(3, MANY, 10))
        fifth = MANY // 5
        self.assertEqual(self.counts(), {"left": MANY - 3 * fifth - lost, "done": fifth, "running": fifth, "failed": fifth,
                                         "lost": lost})
        text = self.fine("farm", "status", "plan").out
        self.assertIn(f"{fifth} of {MANY} tasks done", text)
        self.assertEqual(len(re.findall(r"^task \d+ \(s x walk, frames \d+:\d+\): ", text, re.M)), 5)
        self.assertIn(f"and {fifth + lost - 5} more", text)
        self.fine("farm", "retry", "plan", "--to", "list", "-o", "again.txt", "-q")
        self.assertEqual(len((self.folder / "again.txt").read_text().splitlines()), fifth + lost)


class Joined(jobs.Case):
    def test_merged(self):
        """Pieces of one frame each."""
        frames = 400
        self.write("walk.pc2", jobs.bars(0.7, frames))
        self.fine("drive", "apply", "s.glb", "--driver", "walk.pc2", "-o", "a.pc2", "-q")
        self.plan("--no-sample", "--pieces", frames, work="drive apply", garments="s.glb", drivers="walk.pc2",
                  output="made/a.pc2")
        self.assertEqual(len(self.tasks()), frames)
        self.local()
        self.merge()
        self.assertEqual((self.folder / "made/a.pc2").read_bytes(), (self.folder / "a.pc2").read_bytes())
        self.assertEqual(struct.unpack_from("<i", (self.folder / "made/a.pc2").read_bytes(), 28)[0], frames)


jobs.main()
