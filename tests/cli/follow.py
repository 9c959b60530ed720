"""A sleeve that follows the motion of its bar: unpacked, changed, combined with other layers and built again; what
other commands say about it; and refusals."""
import json

import editing
import harness
from drive import FRAMES, RINGS, SIDES, SLEEVE_RINGS, SLEEVE_SIDES, Driven, apart, bar, motion, pc2, sleeve, tube

FORMS = 5


class Follow(Driven):
    def setUp(self):
        super().setUp()
        self.learn("--method", "motion", "--forms", str(FORMS), "--frames", "3", "--landmarks", "30", "-q")

    def unpacked(self):
        self.succeed("unpack", "s.glb", "-o", "u")
        return json.loads((self.folder / "u/s.json").read_text())

    def rewrite(self, project, name="u/s.json"):
        self.write(name, json.dumps(project))

    def refuse(self, project, *fragments):
        """Neither build nor check takes the project, and both say the same."""
        self.rewrite(project)
        before = self.listing()
        self.sentence(self.run_tool("build", "u/s.json"), 1, *fragments)
        outcome = self.run_tool("check", "u/s.json")
        self.assertEqual(outcome.code, 1)
        for fragment in fragments:
            self.assertIn(fragment, outcome.out + outcome.err)
        self.assertEqual(self.listing(), before)

    def rebuild(self, name):
        """Unpacks a rig and builds it again; returns both files."""
        self.succeed("unpack", f"u/{name}.glb", "-o", "again", "--force")
        self.succeed("build", f"again/{name}.json", "-o", "again.glb")
        return (self.folder / f"u/{name}.glb").read_bytes(), (self.folder / "again.glb").read_bytes()

    def bent(self, name="u/bent.obj", frame=7):
        self.write(name, tube(bar(*motion(0.3, frame)), RINGS, SIDES, True, ["low", "high"]))

    def vertices(self, name):
        return [[float(word) for word in line.split()[1:4]] for line in (self.folder / name).read_text().splitlines()
                if line.startswith("v ")]


class Project(Follow):
    def test_the_same_bytes_again(self):
        project = self.unpacked()
        layer, = project["layers"]
        self.assertEqual(layer["weigh"], {"kind": "motion", "predictor": "layer1.predictor"})
        self.assertEqual([e["name"] for e in layer["examples"]], ["mean"] + [f"form_{i:02}" for i in range(1, FORMS + 1)])
        self.assertTrue(all(e["posed"] is False and "at" not in e for e in layer["examples"]))
        self.assertEqual(project["driver"]["frames"]["count"], 3)
        self.assertFalse(list(self.folder.glob("u/*.driver.obj")))
        self.succeed("build", "u/s.json", "-o", "again.glb")
        self.assertEqual((self.folder / "s.glb").read_bytes(), (self.folder / "again.glb").read_bytes())
        self.assertIn("the same bytes", self.succeed("diff", "s.glb", "again.glb").out)
        self.assertIn("0 errors, 0 warnings", self.succeed("check", "u/s.json").out)
        self.sentence(self.run_tool("unpack", "s.glb", "-o", "u"), 1, "exists already")

    def test_tiny_numbers(self):
        """Far from the origin, forms have numbers that vanish beside the mesh's positions."""
        def far(points):
            return [[x + 3000, y + 3000, z + 3000] for x, y, z in points]
        self.write("bar.obj", tube(far(bar(0, 0, 0)), RINGS, SIDES, True, ["low", "high"]))
        self.write("sleeve.obj", tube(far(sleeve(0, 0, 0)), SLEEVE_RINGS, SLEEVE_SIDES, False, ["cuff", "arm"]))
        self.write("bar_a.pc2", pc2([far(bar(*motion(0.3, f))) for f in range(FRAMES)]))
        self.write("sleeve_a.pc2", pc2([far(sleeve(*motion(0.3, f))) for f in range(FRAMES)]))
        self.learn("--method", "motion", "--forms", "20", "--frames", "3", "-q")
        self.unpacked()
        self.succeed("build", "u/s.json", "-o", "again.glb")
        self.assertEqual((self.folder / "s.glb").read_bytes(), (self.folder / "again.glb").read_bytes())

    def test_frames_that_were_chosen_automatically(self):
        self.learn("--method", "motion", "--forms", "3", "-q")
        self.assertNotEqual(self.unpacked()["driver"]["frames"]["count"], "auto")
        self.succeed("build", "u/s.json", "-o", "again.glb")
        self.assertEqual((self.folder / "s.glb").read_bytes(), (self.folder / "again.glb").read_bytes())

    def test_weights_of_the_driver_come_along(self):
        self.write("w.txt", "".join(f"{v} {1 + v % 3}\n" for v in range(RINGS * SIDES)))
        self.learn("--method", "motion", "--forms", "3", "--frames", "3", "--weights", "w.txt", "-q")
        self.assertIn("driver_weights", self.unpacked()["layers"][0]["weigh"])
        self.succeed("build", "u/s.json", "-o", "again.glb")
        self.assertEqual((self.folder / "s.glb").read_bytes(), (self.folder / "again.glb").read_bytes())

    def test_other_layers(self):
        """Forms before it, sliders, a sculpt on a form of the driver and refinement: the sculpt comes back."""
        project = self.unpacked()
        project["settle"]["push"] = False
        self.bent()
        self.rewrite(project)
        self.succeed("build", "u/s.json")
        self.succeed("pose", "u/s.glb", "body=u/bent.obj", "-o", "posed.obj")
        rest = self.vertices("u/mesh.obj")
        posed = self.vertices("posed.obj")
        for name, points in (("u/wide.obj", rest), ("u/sculpt.obj", posed)):
            moved = [[x, y + (0.02 if v < 20 else 0), z] for v, (x, y, z) in enumerate(points)]
            self.write(name, tube(moved, SLEEVE_RINGS, SLEEVE_SIDES, False, ["cuff", "arm"]))
        dial = {"name": "wide", "min": 0, "max": 1}
        before = {"name": "before", "space": [dial], "examples": [
            {"name": "no", "mesh": "mesh.obj", "at": {"wide": 0}}, {"name": "yes", "mesh": "wide.obj", "at": {"wide": 1}}]}
        slider = {"name": "slider", "space": [{"name": "s", "min": 0, "max": 1}], "weigh": {"kind": "direct"},
                  "shape": "offsets", "examples": [{"name": "puffed", "mesh": "wide.obj"}]}
        fix = {"name": "fix", "space": [{"name": "f", "min": 0, "max": 1}], "shape": "unposed", "examples": [
            {"name": "none", "mesh": "mesh.obj", "at": {"f": 0}},
            {"name": "fixed", "mesh": "sculpt.obj", "at": {"f": 1, "body": "bent.obj"}}]}
        project["layers"] = project["layers"] + [fix]
        self.rewrite(project, "u/fix.json")
        self.succeed("build", "u/fix.json")
        self.succeed("pose", "u/fix.glb", "body=u/bent.obj", "f=1", "-o", "back.obj")
        self.assertLess(apart(self.vertices("back.obj"), self.vertices("u/sculpt.obj")), 2e-6)
        project["layers"] = [before] + project["layers"][:1] + [slider]
        project["subdivide"] = {"scheme": "catmull_clark", "levels": 1}
        self.rewrite(project, "u/all.json")
        self.succeed("build", "u/all.json")
        self.assertEqual(*self.rebuild("all"))
        self.assertIn("0 errors", self.succeed("check", "u/all.json").out)
        project["layers"][1]["muted"] = True
        self.rewrite(project, "u/all.json")
        self.succeed("build", "u/all.json")
        self.assertEqual(*self.rebuild("all"))

    def test_changes_of_the_project(self):
        self.unpacked()
        self.bent()
        self.write("u/form.obj", (self.folder / "u/layer1_001_mean.obj").read_bytes())
        before = self.listing()
        for words, fragment in ((["remove", "--name", "form_02"], "none can be removed"),
                                (["mute", "--name", "form_02"], "this predictor weighs 6 examples, but the layer has 5"),
                                (["move", "--name", "form_02", "--at", "f=1"], "follows motion"),
                                (["mirror", "--layer", "driven"], "no mirror images"),
                                (["add", "--name", "x", "--layer", "driven", "--at", "body=u/bent.obj", "u/form.obj"],
                                 "follows motion")):
            self.sentence(self.run_tool("example", words[0], "u/s.json", *words[1:]), 1, fragment)
            self.assertEqual(self.listing(), before)
        self.succeed("example", "rename", "u/s.json", "form_02", "second")
        self.succeed("build", "u/s.json")
        self.assertIn("second", self.succeed("info", "u/s.glb").out)


class Refusals(Follow):
    def test_projects(self):
        project = self.unpacked()
        layer = project["layers"][0]

        def changed(**keys):
            return {**project, "layers": [{**layer, **keys}]}
        space, examples = layer["space"], layer["examples"]
        self.refuse(changed(weigh={"kind": "motion"}), "layers[0].weigh.predictor: missing")
        self.refuse(changed(weigh={"kind": "motion", "predictor": 3}), "layers[0].weigh.predictor")
        self.refuse(changed(weigh={"kind": "motion", "predictor": "none.predictor"}), "none.predictor")
        self.refuse(changed(weigh={"kind": "motion", "predictor": "mesh.obj"}), "mesh.obj: this is no predictor")
        self.refuse(changed(weigh={**layer["weigh"], "one_region": True}), "layers[0].weigh.one_region: unknown key")
        self.refuse(changed(weigh={"kind": "convex", "predictor": "layer1.predictor"}), "predictor: unknown key")
        self.refuse(changed(space=[{"name": "a", "min": 0, "max": 1}]), "no axis besides that of the driver")
        self.refuse(changed(space=space + [{"name": "a", "min": 0, "max": 1}]), "no axis besides that of the driver")
        self.refuse(changed(shape="offsets"), "layers[0].shape")
        self.refuse(changed(shape="trajectory"), "holds forms")
        self.refuse(changed(examples=examples[:-1]), "weighs 6 examples, but the layer has 5")
        self.refuse(changed(examples=[{**examples[0], "posed": True}] + examples[1:]), "examples[0].posed")
        self.refuse(changed(examples=[{**examples[0], "at": {"body": "driver.obj"}}] + examples[1:]),
                    "examples[0].at.body", "leave this out")
        self.refuse({**project, "settle": {"residual": "closest"}}, "settle.residual", '"none" is needed')
        self.refuse({**project, "driver": {**project["driver"], "frames": 4}}, "looks at 3 moving frames", "has 4")
        self.rewrite(changed(shape="positions", examples=[{k: v for k, v in e.items() if k != "posed"} for e in examples]))
        self.succeed("build", "u/s.json", "-o", "again.glb")
        self.assertEqual((self.folder / "s.glb").read_bytes(), (self.folder / "again.glb").read_bytes())

    def test_damaged_predictors(self):
        project = self.unpacked()
        path = self.folder / "u/layer1.predictor"
        whole = path.read_bytes()
        for size in (0, 7, 24, 100, len(whole) - 1):
            path.write_bytes(whole[:size])
            self.refuse(project, "layer1.predictor: this ")
        for at in (20, 40, 200, len(whole) - 9):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            self.refuse(project, "damaged or cut short")
        path.write_bytes(whole[:8] + b"\2" + whole[9:])
        self.refuse(project, "version 2")

    def test_keys(self):
        self.bent("bent.obj")
        before = self.listing()
        said = "this rig follows motion and has no keys: learn it again with the new take"
        self.sentence(self.run_tool("drive", "keys", "s.glb"), 1, said)
        self.sentence(self.run_tool("drive", "remove", "s.glb", "mean"), 1, said)
        self.sentence(self.run_tool("drive", "add", "s.glb", "--driver", "bent.obj", "--driven", "sleeve.obj"), 1, said)
        self.sentence(self.run_tool("plot", "s.glb", "-o", "p.svg"), 1, "weighed by a driver")
        self.sentence(self.run_tool("sheet", "s.glb", "--axes", "body", "-o", "p.png"), 1, "driver axis")
        self.sentence(self.run_tool("bake", "s.glb", "--motion", "bar_a.pc2", "-o", "p.pc2"), 1, "drive apply")
        self.assertEqual(self.listing(), before)


class Commands(Follow):
    def test_info(self):
        info = self.succeed("info", "s.glb", "--json").json()
        predictor = info["layers"][0]["weigh"]["predictor"]
        self.assertEqual(predictor["known_states"], 30)
        self.assertEqual(predictor["frames"], 4)
        self.assertAlmostEqual(predictor["step"], 0.04)
        self.assertIn("turn", predictor["counts"])
        self.assertEqual(len(info["layers"][0]["examples"]), FORMS + 1)
        text = self.succeed("info", "s.glb").out
        self.assertRegex(text, r"predictor .*30 known states, \d+ components?, motion over 40 ms\n    counts turn, place")
        self.assertIn("the motion of the driver", text)
        self.unpacked()
        self.assertIn("predictor layer1.predictor", self.succeed("info", "u/s.json").out)
        project = self.succeed("info", "u/s.json", "--json").json()
        self.assertEqual(project["layers"][0]["weigh"]["predictor"], "layer1.predictor")

    def test_differences(self):
        self.learn("--method", "motion", "--forms", str(FORMS), "--frames", "3", "--landmarks", "20", "-q", output="t.glb")
        self.assertIn("30 known states", self.run_tool("diff", "s.glb", "t.glb").out)
        self.learn("--method", "motion", "--forms", str(FORMS), "--frames", "3", "--landmarks", "30", "--up", "z", "-q",
                   output="t.glb")
        self.assertIn("numbers of its predictor differ", self.run_tool("diff", "s.glb", "t.glb").out)

    def test_poses(self):
        """A driver that stands still in a form: finite, near the truth, and the same in every command."""
        self.bent("bent.obj")
        self.succeed("pose", "s.glb", "body=bent.obj", "-o", "posed.obj")
        self.assertLess(apart(self.vertices("posed.obj"), sleeve(*motion(0.3, 7))), 0.05)
        weights = self.succeed("weights", "s.glb", "body=bent.obj", "--json").json()["layers"][0]["weights"]
        self.assertEqual(len(weights), FORMS + 1)
        self.assertAlmostEqual(weights["mean"], 1, places=5)
        self.succeed("render", "s.glb", "body=bent.obj", "-o", "p.png", "--size", "32x32")
        self.succeed("drive", "apply", "s.glb", "--driver", "bar_b.pc2", "-o", "a.pc2", "-q")
        self.assertEqual(len(self.frames("a.pc2")), FRAMES)

    def test_the_editor(self):
        """It exports a page, builds the project, and bakes a cache of the driver as drive apply does."""
        outcome = self.run_tool("edit", "--export", "page.html", "s.glb")
        if "built without the editor" in outcome.err:
            self.skipTest("built without the editor")
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        self.unpacked()
        self.write("u/walk.pc2", (self.folder / "bar_b.pc2").read_bytes())
        editor = editing.Editor(self.folder / "u", "s.json")
        self.addCleanup(editor.end)
        head, rig = editor.ask("POST", "api/build", (self.folder / "u/s.json").read_text()).framed()
        self.assertEqual(rig, editing.pack_of(self.folder / "s.glb"))
        moved, _ = editor.ask("POST", "api/motion", "", query={"build": head["build"], "path": "walk.pc2"}).framed()
        baked = editor.ask("POST", "api/bake", "", query={"build": head["build"], "motion": moved["motion"],
                                                          "name": "made.pc2"})
        self.assertEqual(baked.status, 200)
        self.succeed("drive", "apply", "s.glb", "--driver", "bar_b.pc2", "-o", "a.pc2", "-q")
        self.assertEqual((self.folder / "u/made.pc2").read_bytes(), (self.folder / "a.pc2").read_bytes())


if __name__ == "__main__":
    harness.main()
