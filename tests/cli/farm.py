"""'exemplar farm' on one machine: planned, run, counted, joined. Then all refusals of its commands and of jobs: one
sentence, and nothing left behind. tests/farm has engines, failures and large plans."""
import json
import os
import shutil
import signal
import subprocess
import time

import harness
from drive import FRAMES, Driven, bar, motion, pc2

APPLY = {"work": "drive apply", "garments": "s.glb", "drivers": "bar_?.pc2", "output": "made/{garment}-{driver}.pc2"}


class Farm(Driven):
    def setUp(self):
        super().setUp()
        self.learn("--keys", "4", "-q")

    def job(self, description=None, **changes):
        description = {key: value for key, value in {**(description or APPLY), **changes}.items() if value is not None}
        self.write("job.json", json.dumps(description))

    def plan(self, *words, **changes):
        self.job(**changes)
        return self.succeed("farm", "plan", "job.json", "-o", "p", "--no-sample", "--pieces", "3", *words)


class Surroundings(Farm):
    """Things that are not the plan's own: parents, clocks, files beside files."""

    def test_parents_that_ignore_their_children(self):
        """A daemon that ignores SIGCHLD hands that on: failures must still be seen."""
        self.write("rest.obj", "no form")
        self.write("kick.obj", "no form either")
        self.job({"work": "warp", "from": "rest.obj", "to": "kick.obj", "output": "made/{to}.glb"})
        self.succeed("farm", "plan", "job.json", "-o", "p", "-q")
        for words in (["do", "p", "1"], ["submit", "p", "-q"]):
            done = subprocess.run([harness.TOOL, "farm", *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                                  preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
            self.assertEqual(done.returncode, 1, done)
        self.assertEqual(self.succeed("farm", "status", "p", "--json").json()["failed"], 1)

    def test_clocks_of_other_machines(self):
        self.plan("-q")
        piece = json.loads((self.folder / "p/tasks.jsonl").read_text().splitlines()[0])["piece"]
        mark = self.folder / f"p/running/{piece}.elsewhere-1.77"
        mark.touch()
        for ahead, state in ((30, "running"), (-30, "running"), (-90, "lost")):
            os.utime(mark, (time.time() + ahead,) * 2)
            told = self.succeed("farm", "status", "p", "--json").json()
            self.assertEqual((told[state], told["left"]), (1, 2), ahead)

    def test_retry_of_what_never_began(self):
        self.plan("-q")
        self.assertEqual(self.succeed("farm", "retry", "p").out, "No task has failed; 3 tasks have not begun: 'exemplar farm "
                         "submit p' submits what is left.\n")

    def test_files_of_files(self):
        """The bytes of a .gltf file are in another one."""
        self.succeed("demo", "blob", "-q")
        for name, bend in (("rest", 0), ("bent", 1)):
            self.succeed("pose", "blob/blob.glb", f"bend={bend}", "-o", f"{name}.gltf", "-q")
        pieces = set()
        for _ in range(2):
            self.job({"work": "warp", "from": "rest.gltf", "to": "bent.gltf", "output": "made/{to}.glb"})
            self.succeed("farm", "plan", "job.json", "-o", "p", "-q")
            pieces.add(json.loads((self.folder / "p/tasks.jsonl").read_text())["piece"])
            path = self.folder / "bent.bin"
            data = path.read_bytes()
            path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        self.assertEqual(len(pieces), 2)

    def test_outputs_as_options(self):
        self.write("s.obj", "v 0 0 0\n")
        self.write("t.obj", "v 0 0 0\n")
        self.job({"work": "warp", "from": "s.obj", "to": "t.obj", "output": "made/{to}.glb", "options": {"picture": "p.png"}})
        self.sentence(self.run_tool("farm", "plan", "job.json", "-o", "p"), 1, "\"picture\" is set by the plan")


class EndToEnd(Farm):
    def test_a_job(self):
        self.assertEqual(self.plan().out, "p: 3 tasks in 1 stage, for 2 results\n  1 apply       3 tasks\n"
                         "Next: exemplar farm submit p\n")
        self.assertIn("0 of 3 tasks done", self.succeed("farm", "status", "p").out)
        self.assertEqual(self.succeed("farm", "submit", "p", "--jobs", "2").out, "3 tasks done: exemplar farm merge p\n")
        self.assertIn("Next: exemplar farm merge p", self.succeed("farm", "status", "p").out)
        self.assertEqual(self.succeed("farm", "submit", "p").out,
                         "All tasks are done: 'exemplar farm merge' makes the results.\n")
        self.assertEqual(self.succeed("farm", "retry", "p").out, "No task has failed.\n")
        self.assertRegex(self.succeed("farm", "merge", "p").out, r"^2 results from 3 pieces, 80 frames, .*\n"
                         r"  made/s-bar_a\.pc2\n  made/s-bar_b\.pc2\nThe tasks took ")
        for name in "ab":
            self.succeed("drive", "apply", "s.glb", "--driver", f"bar_{name}.pc2", "-o", "one.pc2", "-q")
            self.assertEqual((self.folder / f"made/s-bar_{name}.pc2").read_bytes(), (self.folder / "one.pc2").read_bytes())
        report = json.loads((self.folder / "p/report.json").read_text())
        self.assertEqual((report["tasks"], report["results"], report["frames"]), (3, 2, 80))
        self.assertEqual([name for name in self.listing() if name.startswith(("p/running/", "p/scratch/", "p/failed/"))], [])
        told = self.succeed("farm", "merge", "p", "--json", "--clean").json()
        self.assertEqual((told["results"], told["frames"]), (2, 80))
        self.assertEqual(self.succeed("farm", "status", "p", "--json").json()["left"], 3)

    def test_one_task(self):
        self.plan("-q")
        first = json.loads((self.folder / "p/tasks.jsonl").read_text().splitlines()[0])
        self.succeed("farm", "do", "p", "1")
        again = self.run_tool("farm", "do", "p", first["piece"])
        self.assertEqual((again.code, again.err), (0, f"exemplar: task 1 ({first['name']}) is done already\n"))
        self.assertEqual(self.succeed("farm", "status", "p", "--json").json()["done"], 1)
        lines = (self.folder / "p/stage-1.txt").read_text().splitlines()
        self.assertTrue(lines[0].endswith(f" farm do '{self.folder}/p' {first['piece']}"), lines[0])

    def test_odd_folders(self):
        """Spaces, quotes and other letters in names of folders, rigs and caches."""
        odd = "it's \"odd\" & 50% $HOME;"
        (self.folder / odd).mkdir()
        for name in ("s.glb", "bar_a.pc2"):
            shutil.copy(self.folder / name, self.folder / odd / f"ü{name}")
        self.write(f"{odd}/job.json", json.dumps({**APPLY, "garments": "ü*.glb", "drivers": "ü*.pc2"}))
        self.succeed("farm", "plan", f"{odd}/job.json", "-o", f"{odd}/a plan", "--no-sample", "--pieces", "2", "-q")
        lines = self.succeed("farm", "submit", f"{odd}/a plan", "--to", "list", "-o", "-").out.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertEqual(os.system(lines[0]), 0)
        self.sentence(self.run_tool("farm", "submit", f"{odd}/a plan", "--to", "slurm"), 1, "Slurm would misread", odd)
        self.succeed("farm", "submit", f"{odd}/a plan", "-q")
        self.succeed("farm", "merge", f"{odd}/a plan", "-q")
        self.succeed("drive", "apply", "s.glb", "--driver", "bar_a.pc2", "-o", "one.pc2", "-q")
        self.assertEqual((self.folder / odd / "made/üs-übar_a.pc2").read_bytes(), (self.folder / "one.pc2").read_bytes())

    def test_long_names(self):
        """Names of tasks are cut between characters."""
        name = "ü" * 120
        shutil.copy(self.folder / "bar_a.pc2", self.folder / f"{name}.pc2")
        self.plan("-q", garments="s.glb", drivers=f"{name}.pc2", output="made/{driver}.pc2")
        self.succeed("farm", "submit", "p", "-q")
        self.succeed("farm", "merge", "p", "-q")
        self.assertTrue((self.folder / f"made/{name}.pc2").exists())

    def test_a_plan_with_fewer_stages(self):
        self.plan("-q")
        self.write("p/stage-2.txt", "an old one\n")
        self.plan("-q")
        self.assertFalse((self.folder / "p/stage-2.txt").exists())


class Refusals(Farm):
    def refuse(self, says, *words, code=1, **how):
        """One sentence, and the folder is as before."""
        before = self.listing()
        outcome = self.run_tool(*words, **how)
        self.sentence(outcome, code, *([says] if isinstance(says, str) else says))
        self.assertEqual(outcome.out, "")
        self.assertEqual(self.listing(), before)

    def test_jobs(self):
        self.write("rig.glb", b"glTF")
        (self.folder / "empty").mkdir()
        self.succeed("demo", "arm", "-q")
        for says, changes in (
                ('"work" must be one of', {"work": None}),
                ('there is no work "drive aply": did you mean "drive apply"?', {"work": "drive aply"}),
                ('"work" must be one of', {"work": 3}),
                ('there is no "driver" here: did you mean "drivers"?', {"driver": "bar_a.pc2"}),
                ('there is no "pairs" in a job of this kind', {"pairs": []}),
                ('"garments" is required', {"garments": None}),
                ('"drivers" is required', {"drivers": None}),
                ('"output" is required', {"output": None}),
                ('"output" is required', {"output": ""}),
                ("\"drivers\": no file matches 'none_*.pc2'", {"drivers": "none_*.pc2"}),
                ("\"drivers\": no file matches 'none.pc2'", {"drivers": ["bar_a.pc2", "none.pc2"]}),
                ('"drivers" names no file', {"drivers": []}),
                ('"drivers" must be a', {"drivers": 7}),
                ('"drivers" must be a list of files', {"drivers": [7]}),
                ("two results would be", {"output": "made/{garment}.pc2"}),
                ("two results would be", {"drivers": ["bar_a.pc2", "bar_a.pc2"]}),
                ("{body}, which is not known for this work", {"output": "made/{body}.pc2"}),
                ('"output" must end in .pc2, .mdd, .abc or .obj', {"output": "made/{driver}.glb"}),
                ('"output" must end in .pc2, .mdd, .abc or .obj', {"output": "made/{driver}"}),
                ("is also an input and would be overwritten", {"output": "{driver}.pc2"}),
                ("is also an input and would be overwritten", {"output": "made/../{driver}.pc2"}),
                ("'drive apply' has no option \"fsp\": did you mean \"fps\"?", {"options": {"fsp": 3}}),
                ('the option "frames" is set by the plan: leave it out', {"options": {"frames": "1:3"}}),
                ('the option "driver" is set by the plan', {"options": {"driver": "bar_a.pc2"}}),
                ('the option "untangle" is true or false', {"options": {"untangle": 3}}),
                ('the option "fps" needs a value', {"options": {"fps": True}}),
                ('the option "group" must be a text', {"options": {"group": {}}}),
                ('"options" must be an object', {"options": ["fps"]}),
                ("over.pc2", {"options": {"over": "over.pc2"}}),
                ('"frames" must be "A:B"', {"frames": "0:3"}),
                ('"frames" must be "A:B"', {"frames": "9:3"}),
                ('"frames" must be "A:B"', {"frames": "3"}),
                ('"frames" must be "A:B"', {"frames": 3}),
                (f"has {FRAMES} frames: there is no frame 99", {"frames": "3:99"}),
                ('"threads" must be a whole number', {"threads": 0}),
                ('"threads" must be a whole number', {"threads": "2"}),
                ("does not follow a driver", {"garments": "arm/arm.glb"}),
                ("rig.glb", {"garments": "rig.glb"}),
                ("directory", {"garments": "empty"}),
                ("s.glb", {"drivers": "s.glb"})):
            with self.subTest(changes=changes):
                self.job(**changes)
                self.refuse(["job.json" if "job.json" in says else "", says], "farm", "plan", "job.json", "-o", "p",
                            "--no-sample", "--pieces", "3")

    def test_other_kinds_of_jobs(self):
        self.succeed("demo", "arm", "-q")
        self.write("m.csv", "time,elbow\n0,0\n1,90\n")
        bake = {"work": "bake", "rigs": "arm/arm.glb", "motions": "m.csv", "output": "made/a.pc2"}
        warp = {"work": "warp", "from": "arm/up_male.obj", "to": "arm/bent_male.obj", "output": "made/a.glb"}
        for says, job in (
                ('"output" must end in .glb, .pc2', {**bake, "output": "made/a.fbx"}),
                ('the option "motion" is set by the plan', {**bake, "options": {"motion": "m.csv"}}),
                ('"frames" must be', {**bake, "frames": "x"}),
                ("there is no frame 9", {**bake, "frames": "1:9"}),
                ("m.csv", {**bake, "motions": "*.bvh m.csv"}),
                ("no clip", {**bake, "motions": None}),
                ("give either \"pairs\" or \"from\" and \"to\"", {**warp, "pairs": [["a", "b"]]}),
                ('"pairs" must be a list of pairs', {**warp, "from": None, "to": None, "pairs": [["arm/up_male.obj"]]}),
                ('"pairs" must be a list of pairs', {**warp, "from": None, "to": None, "pairs": "arm/up_male.obj"}),
                ("there is nothing to do", {**warp, "from": None, "to": None, "pairs": []}),
                ("there is nothing to do", {**warp, "to": "arm/up_male.obj"}),
                ("no file matches", {**warp, "to": "arm/none.obj"}),
                ('"sessions" is required', {"work": "scan"}),
                ("arm", {"work": "scan", "sessions": "arm"})):
            with self.subTest(job=job):
                self.job(job)
                self.refuse(says, "farm", "plan", "job.json", "-o", "p", "--no-sample")

    def test_files_of_jobs(self):
        for says, text in (("line 1, column", "{"), ("a job is an object", "[]"), ("", ""),
                           ("duplicate", '{"work": "warp", "work": "bake"}'), ("", b"\xff\xfe")):
            self.write("job.json", text)
            self.refuse(["job.json", says], "farm", "plan", "job.json", "-o", "p")
        self.refuse("none.json", "farm", "plan", "none.json", "-o", "p")

    def test_a_sample_that_fails(self):
        self.job(options={"group": "nothing"})
        self.refuse(["a sample of the work failed", "nothing"], "farm", "plan", "job.json", "-o", "p")

    def test_folders(self):
        self.job()
        plan = ["farm", "plan", "job.json", "--no-sample", "--pieces", "3", "-o"]
        (self.folder / "full").mkdir()
        self.write("full/notes.txt", b"")
        self.refuse("'full' is in use and has no plan: choose another folder with -o", *plan, "full")
        self.refuse("s.glb", *plan, "s.glb")
        for verb in (["do", "full", "1"], ["submit", "full"], ["retry", "full"], ["status", "full"], ["merge", "full"]):
            self.refuse("'full' has no plan: 'exemplar farm plan JOB.json -o full' makes one", "farm", *verb)
            self.refuse("nowhere", "farm", verb[0], "nowhere", *verb[2:])
        os.chmod(self.folder, 0o555)
        if harness.can_obey_modes():
            self.refuse("p", *plan, "p", modes=True)
        os.chmod(self.folder, 0o755)

    def test_plans(self):
        self.plan("-q")
        for says, words, code in (
                ("has no task '4': it has tasks 1 to 3", ["do", "p", "4"], 1),
                ("has no task '0'", ["do", "p", "0"], 1),
                ("has no task '0123456789abcdef'", ["do", "p", "0123456789abcdef"], 1),
                ("has no task 'x'", ["do", "p", "x"], 1),
                ("there is no engine 'slrum': did you mean 'slurm'?", ["submit", "p", "--to", "slrum"], 2),
                ("--to needs local, slurm or list, not 'x'", ["retry", "p", "--to", "x"], 2),
                ("--jobs", ["submit", "p", "--jobs", "0"], 2),
                ("--jobs", ["submit", "p", "--jobs", "x"], 2),
                ("nowhere", ["submit", "p", "--to", "list", "-o", "nowhere/list.txt"], 1),
                ("is no list of commands", ["submit", "p", "--to", "list", "-o", "p/plan.json"], 1),
                ("--partition does not go with --to local", ["submit", "p", "--partition", "x"], 2),
                ("--output does not go with --to slurm", ["submit", "p", "--to", "slurm", "-o", "l.txt"], 2),
                ("--jobs does not go with --to list", ["submit", "p", "--to", "list", "--jobs", "2"], 2),
                ("", ["submit"], 2),
                ("", ["do", "p"], 2),
                ("", ["merge", "p", "q"], 2),
                ("did you mean 'farm merge'?", ["marge", "p"], 2),
                ("use plan, submit, status, retry, merge or do", ["p"], 2)):
            with self.subTest(words=words):
                self.refuse(says, "farm", *words, code=code)
        outcome = self.run_tool("farm", "merge", "p")
        self.assertEqual(outcome.code, 1)
        self.assertEqual(outcome.err.count("\n"), 4)
        self.assertIn("3 of 3 pieces are missing, so nothing was merged: 'exemplar farm status p' says more", outcome.err)
        self.assertFalse((self.folder / "made").exists())

    def test_planning(self):
        self.job()
        for says, words in (("-o DIR is required", []), ("--pieces", ["-o", "p", "--pieces", "0"]),
                            ("--minutes needs a number above 0", ["-o", "p", "--minutes", "0"]),
                            ("--minutes needs a number above 0", ["-o", "p", "--minutes", "soon"]),
                            ("--peices", ["-o", "p", "--peices", "3"])):
            self.refuse(says, "farm", "plan", "job.json", *words, code=2)
        self.refuse("", "farm", "plan", "-o", "p", code=2)

    def test_without_slurm(self):
        self.plan("-q")
        task = json.loads((self.folder / "p/tasks.jsonl").read_text().splitlines()[0])
        self.write(f"p/failed/{task['piece']}", '{"how":"exit code 1","host":"there","lines":["one"]}')
        path, os.environ["PATH"] = os.environ["PATH"], "/nonexistent"
        try:
            for verb in ("submit", "retry"):
                self.refuse("sbatch cannot be started: install Slurm's client, or use --to local or --to list", "farm", verb,
                            "p", "--to", "slurm")
        finally:
            os.environ["PATH"] = path


if __name__ == "__main__":
    harness.main()
