"""A body from scans, all steps: the quick demo, then 'scan run' after an interruption and with nothing left to do. Then
sessions with a fault: one sentence, and the work so far is kept."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import harness

MADE = ["found", "fit.json", "template", "maps", "changes", "masks", "figure", "cage.obj", "skeleton.glb", "body.json",
        "body.glb"]
REFERENCE = "shoulder_14"


class ScanRun(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="exemplar-body-"))
        process = subprocess.run([harness.TOOL, "demo", "body", "--quick", "-o", "body"], cwd=cls.made, timeout=280,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        cls.told = harness.Outcome(process)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made)

    def session(self, *removed):
        """A copy of the demo's folder without some of its files. Files are replaced, never changed, so links will
        do."""
        folder = self.folder / "s"
        shutil.copytree(self.made / "body", folder, copy_function=os.link)
        for name in removed:
            path = folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        return folder

    def unlabel(self, folder):
        for path in (folder / "labels").iterdir():
            if path.stem != REFERENCE:
                path.unlink()

    def replace(self, path, data):
        path.unlink()
        path.write_bytes(data)

    def test_the_demo(self):
        self.assertEqual(self.told.code, 0, self.told.err)
        for word in ("Try next", "scan report body", "elbow.L=90", "girth=0.3", "--motion"):
            self.assertIn(word, self.told.out)
        self.assertEqual(harness.without_progress(self.told.err), "")
        self.session()
        report = self.succeed("scan", "report", "s", "--json").json()
        self.assertEqual(report["scans"], 11)
        self.succeed("pose", "s/body.glb", "elbow.L=90", "girth=0.3", "-o", "posed.obj", "-q")
        # A motion of another person, with the usual joint names.
        (self.folder / "wave.bvh").write_text(
            "HIERARCHY\nROOT Hips\n{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT LeftArm\n{\n"
            "OFFSET 0.2 0.5 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT LeftForeArm\n{\nOFFSET 0.3 0 0\n"
            "CHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0.2 0 0\n}\n}\n}\n}\nMOTION\nFrames: 1\n"
            "Frame Time: 0.04\n0 0 0 30 0 0 0 0 60\n")
        whole = json.loads((self.folder / "s/motion_map.json").read_text())["joints"]
        (self.folder / "map.json").write_text(json.dumps({"joints": {
            name: whole[name] for name in ("hips", "shoulder.L", "elbow.L")}}))
        self.succeed("bake", "s/body.glb", "--motion", "wave.bvh", "--map", "map.json", "-o", "wave.pc2", "-q")
        # Nothing is left to do except the report.
        before = {path: path.stat().st_mtime_ns for path in (self.folder / "s").rglob("*")}
        again = self.run_tool("scan", "run", "s")
        self.assertEqual(again.code, 0, again.err)
        self.assertEqual(again.err.count("exemplar: "), 1, again.err)
        self.assertEqual({path: path.stat().st_mtime_ns for path in (self.folder / "s").rglob("*")}, before)

    def test_interrupted(self):
        folder = self.session(*MADE)
        self.unlabel(folder)
        process = subprocess.Popen([harness.TOOL, "scan", "run", "s", "--threads", "2"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not (folder / "found").is_dir() or len(os.listdir(folder / "found")) < 3:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted", said)
        kept = {path.name: path.stat().st_mtime_ns for path in (folder / "found").iterdir()}
        self.assertGreater(len(kept), 0)
        self.assertFalse((folder / "body.glb").exists())
        outcome = self.run_tool("scan", "run", "s")
        self.assertEqual(outcome.code, 0, outcome.err)
        for name, when in kept.items():
            self.assertEqual((folder / "found" / name).stat().st_mtime_ns, when, name)
        for name in ("fit.json", "body.json", "body.glb"):
            self.assertEqual((folder / name).read_bytes(), (self.made / "body" / name).read_bytes(), name)

    def test_interrupted_demo(self):
        """The session left behind can be continued with 'scan run'."""
        process = subprocess.Popen([harness.TOOL, "demo", "body", "--quick", "-o", "b", "--threads", "2"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not (self.folder / "b/found").is_dir() or not os.listdir(self.folder / "b/found"):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("scan run b' continues from there", said)
        self.assertTrue((self.folder / "b/scan.json").exists())
        self.assertFalse((self.folder / "b/body.json").exists())
        self.assertEqual([name for name in self.listing() if "tmp" in name or "~" in name], [])

    def stops(self, folder, *fragments):
        """Stops at a step with one sentence, besides the line that names the step; at least found/ is unchanged."""
        outcome = self.run_tool("scan", "run", "s")
        self.assertEqual(outcome.code, 1, outcome.err)
        lines = [line for line in harness.without_progress(outcome.err).splitlines()
                 if line not in ("exemplar: find painted markers on the scans of a session",
                                 "exemplar: name markers of scans, or click landmarks",
                                 "exemplar: find bones, axes and poses from named markers")
                 and "is part of it missing?" not in line]
        self.assertEqual(len(lines), 1, outcome.err)
        for fragment in fragments:
            self.assertIn(fragment, lines[0])
        self.assertFalse((folder / "body.glb").exists())
        self.assertGreaterEqual(len(os.listdir(folder / "found")), 10)

    def test_no_labels(self):
        folder = self.session(*MADE[1:], f"labels/{REFERENCE}.csv")
        self.unlabel(folder)
        self.stops(folder, REFERENCE, "no labels")

    def test_no_faces(self):
        folder = self.session(*MADE[1:], "labels/arm_13.csv", "found/arm_13.csv")
        self.replace(folder / "scans/arm_13_2.ply",
                     b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
                     b"property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n0 1 0 200 150 130\n")
        self.stops(folder, "arm_13_2.ply", "no faces")

    def test_truncated(self):
        folder = self.session(*MADE[1:], "labels/torso_15.csv", "found/torso_15.csv")
        path = folder / "scans/torso_15_1.ply"
        self.replace(path, path.read_bytes()[:30000])
        self.stops(folder, "torso_15_1.ply")

    def test_nothing_in_common(self):
        folder = self.session(*MADE[1:], "labels/torso_15.csv")
        self.replace(folder / "found/torso_15.csv",
                     b"x,y,z,r,g,b\n5,5,5,10,20,200\n5,6,5,200,20,20\n7,5,5,20,200,20\n")
        self.stops(folder, "torso_15", REFERENCE, "no marker in common")


if __name__ == "__main__":
    harness.main()
