"""Whatever engine runs a plan, and however it is cut: the results have the bytes of one process.

usage: test_farm_bytes.py TOOL REPOSITORY FOLDER
"""
import json
import math
import pathlib
import unittest

import sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import jobs

LONG = 300  # more than two blocks of frames


class Garments(jobs.Case):
    """drive apply."""

    def apply(self, folder, driver, name, *words, rig="s.glb"):
        """One process does it all."""
        (self.folder / folder).mkdir(exist_ok=True)
        self.fine("drive", "apply", rig, "--driver", driver, "-q", "-o", f"{folder}/{name}", *words)

    def test_forty_shirts_by_every_engine(self):
        for i in range(40):
            self.write(f"caches/walk_{i:02}.pc2", jobs.bars(0.1 * i, 5 + 7 * i % 31 if i else LONG, 0.1 * i, 1 / 30))
            self.apply("wanted", f"caches/walk_{i:02}.pc2", f"s-walk_{i:02}.pc2")
        for engine in (self.slurm, self.local, self.parallel):
            with self.subTest(engine=engine.__name__):
                made = f"made-{engine.__name__}"
                self.plan("--no-sample", "--pieces", "16", folder=engine.__name__, work="drive apply", garments="s.glb",
                          drivers="caches/*.pc2", output=made + "/{garment}-{driver}.pc2")
                tasks = self.tasks(engine.__name__)
                self.assertGreater(len(tasks), 8)
                self.assertLessEqual(len(tasks), 16)
                self.assertTrue(any(len(task["commands"]) > 1 for task in tasks), "tasks of several animations")
                self.assertEqual(self.counts(engine.__name__), {"left": len(tasks)})
                engine(engine.__name__)
                self.assertEqual(self.counts(engine.__name__), {"done": len(tasks)})
                self.assertFalse((self.folder / made).exists())
                self.merge(engine.__name__)
                self.same(made, "wanted")
                self.assertEqual(self.remains(engine.__name__), [])

    def test_every_format_and_option(self):
        """Cut in the middle of blocks, into single frames, at blocks, and not at all."""
        self.write("walk.pc2", jobs.bars(0.7, LONG, 0.3, 1 / 30))
        self.fine("drive", "learn", "--method", "motion", "--driver", "bar_a.pc2", "--driven", "sleeve_a.pc2", *jobs.MESHES,
                  "-o", "m.glb", "-q")
        for number, (rig, ending, options, frames, pieces) in enumerate((
                ("s.glb", "pc2", {"group": "cuff"}, "7:290", 5),
                ("s.glb", "mdd", {"fps": 29.97, "driven-scale": 0.01}, None, 7),
                ("s.glb", "mdd", {"fps": "29.97", "driven-scale": "0.01"}, None, 3),
                ("s.glb", "abc", {"group": "arm", "fps": 25}, "2:", 3),
                ("s.glb", "abc", {"untangle": True, "no-settle": False}, None, 1),
                ("s.glb", "obj", {"group": "cuff"}, "5:14", 10),
                ("s.glb", "obj", {"driven-scale": 0.5}, ":120", 4),
                ("s.glb", "pc2", {"untangle": True, "over": ["over.pc2"], "over-mesh": "sleeve.obj"}, None, 6),
                ("m.glb", "mdd", {}, None, 9),
                ("m.glb", "pc2", {"fps": 500}, "40:", 4))):
            with self.subTest(ending=ending, options=options, frames=frames, pieces=pieces):
                if "over" in options:
                    self.apply(".", "walk.pc2", "over.pc2")
                words = ["--frames", frames] if frames else []
                for key, value in options.items():
                    for one in value if isinstance(value, list) else [value]:
                        words += [] if one is False else [f"--{key}"] if one is True else [f"--{key}", str(one)]
                self.apply(f"wanted{number}", "walk.pc2", f"a.{ending}", *words, rig=rig)
                job = {"frames": frames} if frames else {}
                self.plan("--no-sample", "--pieces", pieces, folder=f"plan{number}", work="drive apply", garments=rig,
                          drivers=["walk.pc2"], output=f"made{number}/a.{ending}", options=options, **job)
                self.assertEqual(len(self.tasks(f"plan{number}")), pieces)
                self.local(f"plan{number}")
                self.merge(f"plan{number}")
                self.same(f"made{number}", f"wanted{number}")

    def test_drivers_of_every_format(self):
        """Also numbered files by their common name, and one mesh of an Alembic file."""
        self.write("walk.pc2", jobs.bars(0.7, 40))
        forms = [jobs.drive.tube(jobs.drive.bar(*jobs.swing(0.7, f)), jobs.drive.RINGS, jobs.drive.SIDES, True, ["low", "high"])
                 for f in range(12)]
        for f, form in enumerate(forms):
            self.write(f"form_{f + 1:04}.obj", form)
        self.fine("drive", "learn", "--driver", "sleeve_a.pc2", "--driven", "bar_a.pc2", "--driver-mesh", "sleeve.obj",
                  "--driven-mesh", "bar.obj", "--keys", "4", "-o", "back.glb", "-q")
        for ending in ("mdd", "abc"):  # the bar again, from its sleeve
            self.fine("drive", "apply", "back.glb", "--driver", "sleeve_a.pc2", "-o", f"other.{ending}", "-q")
        for number, driver in enumerate(("walk.pc2", "other.mdd", "other.abc", "form_0001.obj", "form.obj",
                                         "other.abc:/other/otherShape")):
            with self.subTest(driver=driver):
                self.apply(f"wanted{number}", driver, "a.mdd")
                self.plan("--no-sample", "--pieces", "5", folder=f"plan{number}", work="drive apply", garments="s.glb",
                          drivers=[driver], output=f"made{number}/a.mdd")
                self.local(f"plan{number}")
                self.merge(f"plan{number}")
                self.same(f"made{number}", f"wanted{number}")

    def test_measured_plans(self):
        """A plan that times a sample gives the same bytes, and says what to expect."""
        self.write("walk.pc2", jobs.bars(0.7, 100))
        self.apply("wanted", "walk.pc2", "a.pc2")
        self.plan("--minutes", "0.0001", work="drive apply", garments=["s.glb"], drivers="walk.pc2", output="made/a.pc2",
                  threads=2)
        plan = json.loads((self.folder / "plan/plan.json").read_text())
        stage = plan["stages"][0]
        self.assertGreater(min(stage["seconds"], stage["memory"], stage["disk"]), 0)
        self.local()
        self.merge()
        self.same("made", "wanted")

    def test_another_plan_keeps_pieces(self):
        """A second plan of the same job has nothing left to do; of a changed one, all."""
        self.write("walk.pc2", jobs.bars(0.7, 60))
        job = {"work": "drive apply", "garments": "s.glb", "drivers": "walk.pc2", "output": "made/a.pc2"}
        self.plan("--no-sample", "--pieces", "4", **job)
        self.local()
        self.plan("--no-sample", "--pieces", "4", **job)
        self.assertEqual(self.counts(), {"done": 4})
        self.write("walk.pc2", jobs.bars(0.8, 60))
        self.plan("--no-sample", "--pieces", "4", **job)
        self.assertEqual(self.counts(), {"left": 4})
        self.apply("wanted", "walk.pc2", "a.pc2")
        self.slurm()
        self.merge("plan", "--clean")
        self.same("made", "wanted")
        self.assertEqual(self.counts(), {"left": 4})


class Motions(jobs.Case):
    """bake."""

    def setUp(self):
        super().setUp()
        self.fine("demo", "arm", "-q")
        self.fine("demo", "shoulder", "-q")
        for number in range(3):
            rows = [f"{t / 10},{60 * (0.5 + 0.4 * math.sin(t + number))}" for t in range(40)]
            self.write(f"m{number}.csv", "time,elbow\n" + "\n".join(rows) + "\n")
        turns = [f"{t / 10},0,0,{math.sin(0.02 * t):.6f},{math.cos(0.02 * t):.6f}" for t in range(40)]
        self.write("turn.csv", "time," + ",".join(f"shoulder.{c}" for c in "xyzw") + "\n" + "\n".join(turns) + "\n")

    def bake(self, engine, number, name, rig, motion, options, frames=None, pieces=6):
        words = ["--motion", motion] if motion else []
        for key, value in {**options, **({"frames": frames} if frames else {})}.items():
            words += [f"--{key}"] if value is True else [f"--{key}", str(value)]
        (self.folder / f"wanted{number}").mkdir()
        self.fine("bake", rig, "-q", "-o", f"wanted{number}/{name}", *words)
        job = {"motions": motion} if motion else {}
        job.update({"frames": frames} if frames else {})
        self.plan("--no-sample", "--pieces", pieces, folder=f"plan{number}", work="bake", rigs=rig, options=options,
                  output=f"made{number}/{name}", **job)
        count = len(self.tasks(f"plan{number}"))
        self.assertEqual(count, 1 if name.endswith(".glb") else pieces)
        engine(f"plan{number}")
        self.merge(f"plan{number}")
        self.same(f"made{number}", f"wanted{number}")

    def test_rigs_and_motions(self):
        for number, (name, rig, motion, options, frames, engine) in enumerate((
                ("a.pc2", "arm/arm.glb", "m0.csv", {}, None, self.slurm),
                ("a.glb", "arm/arm.glb", "m0.csv", {"fps": 12}, None, self.slurm),
                ("a.pc2", "arm/arm.glb", "m1.csv", {"fps": 29.97, "start": 0.31, "end": 3.1}, "4:50", self.local),
                ("a.mdd", "arm/arm.glb", "m1.csv", {"fps": "60", "start": "1.5"}, None, self.local),
                ("a.abc", "shoulder/shoulder.glb", "turn.csv", {"level": "limit", "fps": 24}, "3:80", self.local),
                ("a.obj", "arm/arm.glb", "m2.csv", {"end": "2"}, None, self.parallel),
                ("a.glb", "arm/arm.glb", "m2.csv", {"thin": "0.1%"}, "3:30", self.parallel))):
            with self.subTest(name=name, options=options, frames=frames):
                self.bake(engine, number, name, rig, motion, options, frames)

    def test_clips(self):
        """A rig's own clips, by name, by number, and by a text with the rig's name."""
        self.fine("bake", "arm/arm.glb", "--motion", "m0.csv", "-o", "clip.glb", "-q")
        self.fine("init", "clip.glb", "-o", "own", "-q")
        project = next((self.folder / "own").glob("*.json"))
        self.fine("build", project, "-o", "own.glb", "-q")
        clips = [clip["name"] for clip in self.fine("info", "own.glb", "--json").json()["clips"]]
        self.bake(self.local, 1, "a.mdd", "own.glb", None, {"clip": clips[0]})
        self.bake(self.local, 2, "a.mdd", "own.glb", None, {"clip": 1, "fps": 50})
        self.bake(self.local, 3, "a.mdd", "own.glb", None, {"clip": "1", "start": 0.5})

    def test_all_rigs_with_all_motions(self):
        self.plan("--no-sample", "--pieces", "5", work="bake", rigs=["arm/arm.glb"], motions="m*.csv",
                  output="made/{rig}/{motion}.pc2")
        (self.folder / "wanted/arm").mkdir(parents=True)
        for number in range(3):
            self.fine("bake", "arm/arm.glb", "--motion", f"m{number}.csv", "-o", f"wanted/arm/m{number}.pc2", "-q")
        self.slurm()
        self.merge()
        self.same("made", "wanted")


class Paths(jobs.Case):
    """warp."""

    def test_pairs(self):
        self.fine("demo", "arm", "-q")
        forms = [path.name for path in sorted((self.folder / "arm").glob("*_male.obj"))]
        self.assertGreater(len(forms), 2)
        (self.folder / "wanted").mkdir()
        first = "straight_male"
        for form in forms:
            if form != f"{first}.obj":
                self.fine("warp", f"arm/{first}.obj", f"arm/{form}", "--correctors", "1", "-o",
                          f"wanted/{first}-{form.removesuffix('.obj')}.glb", "-q")
        pairs = [[f"arm/{first}.obj", f"arm/{form}"] for form in forms if form != f"{first}.obj"]
        for name, job in (("product", {"from": f"arm/{first}.obj", "to": "arm/*_male.obj"}), ("listed", {"pairs": pairs})):
            self.plan("--no-sample", "--pieces", "2", folder=name, work="warp", options={"correctors": 1},
                      output=f"made-{name}/{{from}}-{{to}}.glb", **job)
            (self.slurm if name == "product" else self.parallel)(name)
            self.merge(name)
            self.same(f"made-{name}", "wanted")


jobs.main()
