"""Whatever happens to the files of a plan: 'farm merge' names it and writes nothing wrong, and 'farm retry' mends it.

usage: test_farm_damage.py TOOL REPOSITORY FOLDER
"""
import json
import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import jobs

PIECES = 5


def xxh64(data):
    """xxHash of 64 bits, seed 0, after its specification."""
    mask = (1 << 64) - 1
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                          0x27D4EB2F165667C5)

    def turn(x, bits):
        return (x << bits | x >> (64 - bits)) & mask

    def take(lane, x):
        return turn((lane + x * p2) & mask, 31) * p1 & mask
    lanes, at = [(p1 + p2) & mask, p2, 0, -p1 & mask], 0
    while len(data) - at >= 32:
        lanes = [take(lane, x) for lane, x in zip(lanes, struct.unpack_from("<4Q", data, at))]
        at += 32
    x = p5
    if at:
        x = sum(turn(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & mask
        for lane in lanes:
            x = ((x ^ take(0, lane)) * p1 + p4) & mask
    x = (x + len(data)) & mask
    while len(data) - at >= 8:
        x = (turn(x ^ take(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & mask
        at += 8
    if len(data) - at >= 4:
        x = (turn(x ^ struct.unpack_from("<I", data, at)[0] * p1 & mask, 23) * p2 + p3) & mask
        at += 4
    for byte in data[at:]:
        x = turn(x ^ byte * p5 & mask, 11) * p1 & mask
    x = (x ^ x >> 33) * p2 & mask
    x = (x ^ x >> 29) * p3 & mask
    return x ^ x >> 32


class Damage(jobs.Case):
    def setUp(self):
        super().setUp()
        self.write("walk.pc2", jobs.bars(0.7, 60))
        (self.folder / "wanted").mkdir()
        self.fine("drive", "apply", "s.glb", "--driver", "walk.pc2", "-o", "wanted/a.pc2", "-q")
        self.job = {"work": "drive apply", "garments": "s.glb", "drivers": "walk.pc2", "output": "made/a.pc2"}

    def start(self):
        self.plan("--no-sample", "--pieces", PIECES, **self.job)

    def run_all(self):
        self.start()
        self.local()

    def mends(self, verb="retry"):
        self.fine("farm", verb, "plan", "-q")
        self.assertEqual(self.counts(), {"done": PIECES})
        self.merge()
        self.same("made", "wanted")
        self.assertEqual(self.remains(), [])

    def change_plan(self, **keys):
        path = self.folder / "plan/plan.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))


class Pieces(Damage):
    def spoil(self, how):
        path = self.piece(3)
        data = path.read_bytes()
        if how == "renamed":
            shutil.copy(self.piece(2), path)
        elif how == "gone":
            path.unlink()
        else:
            at = {"half": len(data) // 2, "last byte": len(data) - 1, "empty": 0, "in the end": len(data) - 10,
                  "begin": 3, "payload": 200, "record": len(data) - 60}[how]
            cut = how in ("half", "last byte", "empty")
            path.write_bytes(data[:at] if cut else data[:at] + bytes([data[at] ^ 16]) + data[at + 1:])

    def test_damaged_pieces(self):
        for how in ("half", "last byte", "empty", "in the end", "begin", "payload", "record", "renamed"):
            with self.subTest(how=how):
                self.run_all()
                self.spoil(how)
                said = self.refused("farm", "merge", "plan", says=[str(self.piece(3)), "task 3 ", "farm retry plan"]).err
                self.assertEqual(len(said.splitlines()), 2, said)
                self.assertFalse((self.folder / "made").exists() and any((self.folder / "made").iterdir()))
                self.assertEqual(self.counts(), {"done": PIECES - 1, "failed": 1})
                told = self.status()["failures"][0]
                self.assertEqual((told["task"], told["how"]), (3, "damaged"))
                self.mends()
                shutil.rmtree(self.folder / "made")
                shutil.rmtree(self.folder / "plan")

    def test_pieces_without_their_files(self):
        """A sound piece that lacks what its task makes is refused, and made again."""
        self.run_all()
        path = self.piece(3)
        data = path.read_bytes()
        size = struct.unpack_from("<Q", data, len(data) - 24)[0]
        record = json.loads(data[-24 - size:-24])
        payload = sum(file["size"] for file in record["files"])
        record["files"] = [{**file, "name": file["name"].replace("a.pc2", "b.pc2")} for file in record["files"]]
        text = json.dumps(record, separators=(",", ":")).encode()
        path.write_bytes(data[:8 + payload] + text + struct.pack("<QQ", len(text), xxh64(text)) + data[-8:])
        self.refused("farm", "merge", "plan", says=["has no '", "task 3 ("])
        self.assertFalse((self.folder / "made").exists() and list((self.folder / "made").iterdir()))
        self.mends()

    def test_missing_pieces(self):
        self.run_all()
        self.spoil("gone")
        self.refused("farm", "merge", "plan", says=["the piece of task 3 ", "1 of 5 pieces are missing"])
        self.assertFalse((self.folder / "made").exists())
        self.mends("submit")

    def test_every_byte_counts(self):
        """A flipped bit in any byte is noticed, or changes nothing."""
        self.run_all()
        path = self.piece(2)
        whole = path.read_bytes()
        for at in range(0, len(whole), max(len(whole) // 60, 1)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            self.refused("farm", "merge", "plan", says=["task 2 "])
            for aside in (self.folder / "plan/failed").iterdir():
                aside.unlink()
        path.write_bytes(whole)
        self.mends()


class Inputs(Damage):
    def test_changed_inputs(self):
        """Of another size, and of the same size: tasks refuse, and merge refuses pieces that are there."""
        walk, other = self.folder / "walk.pc2", jobs.bars(0.8, 60)
        for name, data in (("longer", jobs.bars(0.7, 61)), ("same size", other)):
            with self.subTest(name=name):
                self.run_all()
                self.piece(2).unlink()
                original = walk.read_bytes()
                walk.write_bytes(data)
                says = [str(walk), "has changed since the plan was made: plan again"]
                self.refused("farm", "do", "plan", "2", says=says)
                self.refused("farm", "submit", "plan", "-q", says=says[1:])
                self.assertEqual(self.counts(), {"done": PIECES - 1, "failed": 1})
                walk.write_bytes(original)  # with another time, but the same bytes
                self.fine("farm", "retry", "plan", "-q")
                walk.write_bytes(data)
                self.refused("farm", "merge", "plan", says=says)
                self.assertFalse((self.folder / "made").exists())
                walk.write_bytes(original)
                self.mends()
                shutil.rmtree(self.folder / "made")

    def test_missing_input(self):
        self.start()
        (self.folder / "walk.pc2").rename(self.folder / "away.pc2")
        started = subprocess.Popen([jobs.harness.TOOL, "farm", "do", "plan", "1"], cwd=self.folder)
        time.sleep(1)  # it waits for a file that a network shows late
        (self.folder / "away.pc2").rename(self.folder / "walk.pc2")
        self.assertEqual(started.wait(60), 0)
        self.mends("submit")

    def test_plan_of_another_program(self):
        self.start()
        plan = (self.folder / "plan/plan.json").read_text()
        for keys, says in (({"version": "0.0.1"}, "another build of exemplar (version 0.0.1"),
                           ({"build": "0123456789abcdef"}, "another build of exemplar"),
                           ({"machine": "pdp11"}, "the plan was made on pdp11"),
                           ({"simd": "mmx"}, "the instruction set mmx")):
            self.change_plan(**keys)
            self.refused("farm", "do", "plan", "1", says=[says])
            self.refused("farm", "submit", "plan", "-q", says=[says])
            self.assertEqual(list((self.folder / "plan" / "pieces").iterdir()), [])
            (self.folder / "plan/plan.json").write_text(plan)
        self.mends()

    def test_another_instruction_set(self):
        """A plan made with an instruction set gives its bytes, whatever the machine that runs it prefers."""
        apply = ["drive", "apply", "s.glb", "--driver", "walk.pc2", "-o", "wanted/a.pc2", "-q"]
        self.write("plan.json", json.dumps(self.job))
        self.fine("farm", "plan", "plan.json", "-o", "usual", "--no-sample", "--pieces", PIECES, "-q")
        usual = json.loads((self.folder / "usual/plan.json").read_text())["simd"]
        for name in ("sse2", "avx2", "neon", usual):  # on some machines there is but one
            other = {**os.environ, "EX_SIMD": name}
            if (name != usual or not (self.folder / "plan").exists()) and self.call(*apply, env=other).code == 0:
                self.fine("farm", "plan", "plan.json", "-o", "plan", "--no-sample", "--pieces", PIECES, "-q", env=other)
                self.assertEqual(json.loads((self.folder / "plan/plan.json").read_text())["simd"], name)
                self.assertEqual([task["piece"] for task in self.tasks()] == [task["piece"] for task in self.tasks("usual")],
                                 name == usual)
                self.mends("submit")

    def test_copied_program(self):
        """A copy of the program is the same build; a changed one is not, unless the plan allows it."""
        other = self.folder / "other"
        shutil.copy(jobs.harness.TOOL, other)
        self.start()
        do = lambda task: subprocess.run([other, "farm", "do", "plan", str(task)], cwd=self.folder, stderr=subprocess.PIPE,
                                         text=True)
        self.assertEqual(do(1).returncode, 0)
        with open(other, "ab") as file:
            file.write(b"\0")
        self.assertIn("another build", do(2).stderr)
        self.plan("--no-sample", "--pieces", PIECES, "--any-build", **self.job)
        self.assertEqual(do(2).returncode, 0)
        self.mends("submit")

    def test_damaged_plan(self):
        self.start()
        for name in ("tasks.jsonl", "plan.json"):
            path = self.folder / "plan" / name
            whole = path.read_bytes()
            path.write_bytes(whole[:len(whole) // 2])
            for verb in (["do", "plan", "1"], ["status", "plan"], ["submit", "plan"], ["retry", "plan"], ["merge", "plan"]):
                self.refused("farm", *verb, says=[f"{name}' is damaged: plan again"])
            path.write_bytes(whole)
        self.mends("submit")


class Disks(Damage):
    def small(self, command, megabytes, place):
        """Runs a shell command with a small disk at a place, in a namespace of its own."""
        script = f"mount -t tmpfs -o size={megabytes}m none {place} && {command}"
        return subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", script], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def full(self, place, says):
        self.write("walk.pc2", jobs.repeated(jobs.bars(0.7, 60), 100))
        self.fine("drive", "apply", "s.glb", "--driver", "walk.pc2", "-o", "wanted/a.pc2", "-q")
        self.start()
        if self.small("true", 1, "plan").returncode:
            self.skipTest("no disk can be mounted here")
        tool = shlex.quote(jobs.harness.TOOL)
        said = self.small(f"{tool} farm submit plan -q; code=$?; {tool} farm status plan --json; {tool} farm merge plan; "
                          f"ls -A plan/pieces plan/scratch; exit $code", 1, place)
        self.assertEqual(said.returncode, 1, said.stdout)
        self.assertIn("No space left on device", said.stdout)
        self.assertIn(says, said.stdout)
        self.assertRegex(said.stdout, r"pieces are missing, so nothing was merged")
        self.assertNotIn(".new", said.stdout)
        self.assertFalse((self.folder / "made").exists())
        self.mends("submit")

    def test_no_room_for_pieces(self):
        self.full("plan/pieces", '"how":"it could not write its piece"')

    def test_no_room_to_work(self):
        self.full("plan/scratch", '"how":"exit code 1"')

    def test_no_room_for_results(self):
        """The result is written whole or not at all."""
        self.write("walk.pc2", jobs.repeated(jobs.bars(0.7, 60), 100))
        self.fine("drive", "apply", "s.glb", "--driver", "walk.pc2", "-o", "wanted/a.pc2", "-q")
        self.start()
        self.local()
        (self.folder / "made").mkdir()
        if self.small("true", 1, "made").returncode:
            self.skipTest("no disk can be mounted here")
        said = self.small(f"{shlex.quote(jobs.harness.TOOL)} farm merge plan; code=$?; ls -A made; exit $code", 1, "made")
        self.assertEqual(said.returncode, 1)
        self.assertIn("No space left on device", said.stdout)
        self.assertEqual(len(said.stdout.splitlines()), 1, said.stdout)
        self.mends("submit")


jobs.main()
