"""build --watch: sees changes of every watched file, survives failures, ends with Ctrl-C; and damped vertices."""
import json
import os
import queue
import signal
import subprocess
import threading

import harness
import scenes

PATIENCE = 60


class Watched(harness.Case):
    """The tool watching; lines of both streams appear in self.lines."""

    def start(self, *words):
        self.process = subprocess.Popen([harness.TOOL, "build", "band.json", "--watch", *words], cwd=self.folder,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.readers = [threading.Thread(target=self.read, args=(stream, name), daemon=True)
                        for stream, name in ((self.process.stdout, "out"), (self.process.stderr, "err"))]
        for reader in self.readers:
            reader.start()

    def read(self, stream, name):
        for line in stream:
            self.lines.put((name, line.decode()))

    def next(self, stream, fragment):
        name, line = self.lines.get(timeout=PATIENCE)
        self.assertEqual(name, stream, line)
        self.assertIn(fragment, line)
        return line

    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.process = None

    def tearDown(self):
        if self.process:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            for reader in self.readers:
                reader.join()
            self.process.stdout.close()
            self.process.stderr.close()
        super().tearDown()

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)

    def test_changes_failures_and_the_end(self):
        self.start()
        streams = dict(sorted(self.lines.get(timeout=PATIENCE) for _ in range(2)))  # in any order
        line = streams["out"]
        self.assertIn("band.glb: 8 vertices, 1 layer, 4 examples", line)
        self.assertRegex(streams["err"], r"^\d\d:\d\d:\d\d exemplar: watching band\.json and the 4 files it is made from, "
                                         r"until Ctrl-C\n$")
        self.assertRegex(line, r"^\d\d:\d\d:\d\d band\.glb: ")
        first = (self.folder / "band.glb").read_bytes()
        # An example, replaced as editors do it: a new file takes the name.
        (self.folder / "new").write_text(harness.obj_text(harness.bent(2, 0)))
        os.replace(self.folder / "new", self.folder / "bent.obj")
        self.next("out", "4 examples")
        self.assertNotEqual((self.folder / "band.glb").read_bytes(), first)
        # The same size and time, but different contents.
        text = (self.folder / "bent.obj").read_text()
        (self.folder / "new").write_text(text.replace("v 1 0", "v 2 0", 1))
        status = os.stat(self.folder / "bent.obj")
        os.utime(self.folder / "new", ns=(status.st_atime_ns, status.st_mtime_ns))
        self.assertEqual(os.stat(self.folder / "new").st_size, status.st_size)
        os.replace(self.folder / "new", self.folder / "bent.obj")
        self.next("out", "4 examples")
        # A file goes and comes back.
        os.rename(self.folder / "thick.obj", self.folder / "kept")
        line = self.next("err", "thick.obj")
        self.assertRegex(line, r"^\d\d:\d\d:\d\d exemplar: band\.json: layers\[0\]\.examples\[2\] 'thick': ")
        os.rename(self.folder / "kept", self.folder / "thick.obj")
        self.next("out", "4 examples")
        # The project: broken, repaired, and with a new file in it, which is watched from then on.
        (self.folder / "band.json").write_text("{")
        self.next("err", "band.json:1")
        description = harness.project()
        description["layers"][0]["mask"] = {"file": "mask.txt"}
        (self.folder / "mask.txt").write_text("0 1\n")
        (self.folder / "band.json").write_text(json.dumps(description))
        self.next("out", "4 examples")
        (self.folder / "mask.txt").write_text("0 2\n")
        self.next("err", "mask.txt")
        # The old rig is still there: a rig is written completely or not at all.
        self.succeed("info", "band.glb", "-q")
        self.assertEqual(self.stop(), 130)
        self.next("err", "interrupted")

    def test_quiet_json_and_where_it_goes(self):
        self.start("--json", "-q", "-o", "other.glb")
        answer = json.loads(self.next("out", '"rig"'))
        self.assertEqual((answer["rig"], answer["damped"]), ("other.glb", []))
        self.assertEqual(self.stop(signal.SIGTERM), 143)

    def test_wrong_words(self):
        self.sentence(self.run_tool("build", "band.json", "--watch", "-o", "-"), 2, "--watch needs a file to write to")


class Targets(harness.Case):
    def test_a_rig_does_not_replace_what_it_is_made_from(self):
        harness.write_project(self.folder)
        description = harness.project()
        self.succeed("build", "band.json", "-o", "straight.glb", "-q")
        description["mesh"] = "straight.glb"
        (self.folder / "band.json").write_text(json.dumps(description))
        before = self.listing()
        for name in ("straight.glb", "./straight.glb"):
            self.sentence(self.run_tool("build", "band.json", "-o", name), 1,
                          "'straight.glb' is a file that the project uses", "-o")
        self.assertEqual(self.listing(), before)


class Damped(harness.Case):
    def test_damped_vertices_are_told(self):
        """A strip twisted by 180 degrees: linear skinning collapses its middle onto the axis."""
        scene, places = scenes.Scene(), range(12)
        root = scene.node(name="root", children=[1])
        tip = scene.node(shown=False, name="tip")
        skin = scene.skin([root, tip])
        half = [([0, 1, 0, 0], [0.5, 0.5, 0, 0])] * 11 + [([0, 1, 0, 0], [1, 0, 0, 0])]
        scene.node(mesh=scene.mesh("m", positions=[[i, 1, 0] for i in places], influences=half), skin=skin)
        scene.write(self.folder / "it.gltf")
        self.succeed("init", "it.gltf", "-o", ".", "-q")
        description = json.loads((self.folder / "it.json").read_text())
        description["layers"] = [{
            "name": "twist", "shape": "unposed",
            "space": [{"name": "turn", "joint": "tip", "angle": "x", "min": 0, "max": 180}],
            "examples": [{"name": "flat", "mesh": "mesh.obj", "at": {"turn": 0}},
                         {"name": "twisted", "mesh": "mesh.obj", "at": {"turn": 180}}]}]
        (self.folder / "it.json").write_text(json.dumps(description))
        outcome = self.run_tool("build", "it.json", "-o", "a.glb")
        # The middle is on the axis, a metre away from the example's form.
        self.assertEqual((outcome.code, outcome.err),
                         (0, "exemplar: example 'twisted': 11 vertices damped (0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1 more), "
                             "worst off by 1 m\n"))
        answer = self.run_tool("build", "it.json", "-o", "a.glb", "--json", "-q").json()
        found, = answer["damped"]
        self.assertEqual((found["layer"], found["example"], found["vertices"]), ("twist", "twisted", list(range(11))))
        self.assertAlmostEqual(found["worst"], 1, delta=1e-6)


if __name__ == "__main__":
    harness.main()
