"""An arm in the simulated scanner: the files of a session, the same for any number of threads, continued after an
interruption. Then everything that cannot be scanned: one sentence, and nothing written."""
import csv
import json
import math
import os
import signal
import struct
import subprocess
import time

import harness

COARSE = ("--pitch", "10mm,8mm", "--marker-size", "24mm")
POSES = "name,part,elbow,gender\nstraight,arm,0,0\nbent,arm,90,0\nhalf,held,45,0\n"
PART = ("--part", "arm=forearm,hand:shoulder,forearm,hand")


def ply(path):
    """Vertices of a binary PLY with x y z as float and red green blue as bytes."""
    head, body = path.read_bytes().split(b"end_header\n", 1)
    count = int(head.split(b"element vertex ")[1].split()[0])
    return [struct.unpack_from("<fffBBB", body, 15 * i) for i in range(count)]


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class ScanSimulate(harness.Case):
    def setUp(self):
        super().setUp()
        self.succeed("demo", "arm", "-o", "arm", "-q")
        (self.folder / "poses.csv").write_text(POSES)

    def simulate(self, *words):
        return self.run_tool("scan", "simulate", "arm/arm.glb", "--poses", "poses.csv", *COARSE, *words)

    def test_a_session(self):
        told = self.succeed("scan", "simulate", "arm/arm.glb", "--poses", "poses.csv", "-o", "s", *COARSE, *PART,
                            "--json").json()
        self.assertEqual((told["scans"], told["held"], told["reference"]), (2, 1, "straight"))
        folder = self.folder / "s"
        session = json.loads((folder / "scan.json").read_text())
        self.assertEqual([scan["name"] for scan in session["scans"]], ["straight", "bent"])
        self.assertEqual(session["parts"], [{"name": "arm", "joints": ["forearm", "hand"],
                                             "covers": ["shoulder", "forearm", "hand"]}])
        self.assertEqual((folder / "truth/poses.csv").read_text(), POSES)
        frames = json.loads((folder / "truth/frames.json").read_text())
        fore = frames["joints"].index("forearm")
        turned = frames["poses"][1]["rotations"][fore]
        self.assertAlmostEqual(2 * math.degrees(math.acos(abs(turned[3]))), 90, delta=1e-3)
        self.assertTrue((folder / "truth/surface/half.ply").exists())
        self.assertFalse((folder / "scans/half_1.ply").exists())
        colours = {row["marker"]: [int(row[c]) for c in "rgb"] for row in table(folder / "markers.csv")}
        self.assertEqual(len(colours), told["markers"])
        views = [ply(folder / f"scans/bent_{i}.ply") for i in (1, 2, 3, 4)]
        seen = [row for row in table(folder / "truth/markers/bent.csv") if row["visible"] == "1"]
        self.assertGreater(len(seen), 10)
        for row in seen:  # a sample near its middle has its colour
            at = [float(row[k]) for k in "xyz"]
            nearest = [min(view, key=lambda v: math.dist(v[:3], at)) for view in views]
            self.assertLess(min(max(abs(a - b) for a, b in zip(v[3:], colours[row["marker"]])) for v in nearest
                                if math.dist(v[:3], at) < 0.012), 15)
        for row in table(folder / "labels/straight.csv"):
            truth = next(r for r in table(folder / "truth/markers/straight.csv") if r["marker"] == row["marker"])
            self.assertAlmostEqual(math.dist([float(row[k]) for k in "xyz"], [float(truth[k]) for k in "xyz"]), 0.001,
                                   delta=1e-5)

    def test_threads_and_going_on(self):
        self.assertEqual(self.simulate("-o", "a", *PART, "--threads", "1", "-q").code, 0)
        self.assertEqual(self.simulate("-o", "b", *PART, "--threads", "3", "-q").code, 0)
        files = self.listing()
        for name in [name for name in files if name.startswith("a/")]:
            self.assertEqual(files[name], files["b" + name[1:]], name)
        (self.folder / "b/scans/bent_2.ply").unlink()
        (self.folder / "b/scan.json").unlink()
        self.assertIn("(1 kept)", self.simulate("-o", "b", *PART).out)
        self.assertEqual(self.listing(), files)
        self.sentence(self.simulate("-o", "b", *PART, "--noise", "2mm"), 1, "other options", "--force")
        self.assertEqual(self.simulate("-o", "b", *PART, "--noise", "2mm", "--force", "--merged", "-q").code, 0)
        self.assertTrue((self.folder / "b/scans/bent.ply").exists())

    def test_interrupted(self):
        rows = "".join(f"s{i},arm,{i % 90},0\n" for i in range(400))
        (self.folder / "poses.csv").write_text("name,part,elbow,gender\n" + rows)
        process = subprocess.Popen([harness.TOOL, "scan", "simulate", "arm/arm.glb", "--poses", "poses.csv", "-o", "s",
                                    "--pitch", "4mm,4mm", *PART, "--threads", "2"], cwd=self.folder,
                                   stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while not (self.folder / "s/truth/markers").is_dir() or not os.listdir(self.folder / "s/truth/markers"):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 130)
        self.assertIn("continues from there", said)
        self.assertFalse((self.folder / "s/scan.json").exists())
        self.assertEqual([name for name in self.listing() if "tmp" in name or "~" in name], [])

    def test_what_is_wrong(self):
        before = self.listing()
        for words, code, *fragments in (
                ((), 2, "-o"),
                (("-o", "s", "--part", "arm"), 2, "NAME=JOINT"),
                (("-o", "s", "--part", "arm=a:"), 2, "NAME=JOINT"),
                (("-o", "s", *PART, *PART), 2, "twice"),
                (("-o", "s", "--seed", "x"), 2, "--seed"),
                (("-o", "s", "--missing", "2"), 2, "--missing"),
                (("-o", "s"), 1, "'straight'", "--part arm="),
                (("-o", "s", "--part", "arm=forarm:hand"), 1, "no joint 'forarm'", "did you mean 'forearm'?"),
                (("-o", "s", *PART, "--part", "base=forearm:hand"), 1, "'base' cannot be the name of a part"),
                (("-o", "s", "--part", "arm=hand,hand:hand"), 1, "part 'arm' names the joint 'hand' twice"),
                (("-o", "s", *PART, "--reference", "strait"), 1, "did you mean 'straight'?"),
                (("-o", "s", *PART, "--reference", "half"), 1, "held back"),
                (("-o", "s", *PART, "--level", "7"), 1, "no level '7'"),
                (("-o", "s", *PART, "--markers", "none.csv"), 1, "none.csv"),
                (("-o", "poses.csv", *PART), 1, "a file has that name")):
            with self.subTest(words=words):
                self.sentence(self.simulate(*words), code, *fragments)
        self.sentence(self.run_tool("scan", "simulate", "arm/arm.glb", "--poses", "poses.csv", "-o", "s", "--pitch",
                                    "0,2mm"), 2, "--pitch")
        self.sentence(self.run_tool("scan", "simulate", "arm/arm.glb", "-o", "s"), 2, "--poses")
        self.assertEqual(self.listing(), before)
        for text, *fragments in (("name,ellbow\na,1\n", "elbow"), ("name,elbow\na,1\na,2\n", ":3:", "already a scan 'a'"),
                                 ("name,elbow\na/b,1\n", ":2:", "name"), ("name,elbow\na,90\n", "--reference")):
            with self.subTest(text=text):
                (self.folder / "poses.csv").write_text(text)
                self.sentence(self.simulate("-o", "s"), 1, *fragments)
        self.assertFalse((self.folder / "s").exists())


if __name__ == "__main__":
    harness.main()
