"""Sculpts inserted into layers of every kind. After each, the rig is built and posed there, and must give the sculpt
vertex by vertex. At the poses of all earlier examples, the form is compared with what it was: the tool must say what an
earlier sculpt loses. The body is that of example.py."""
import math
import re

import example
import harness
from example import SIZE, apart, bulge, obj, rest_form

CLOSE = 1e-5 * SIZE


def dial(name, **more):
    return {"name": name, "min": 0, "max": 1, **more}


ANGLE = {"name": "bend", "unit": "°", "joint": "fore_L", "angle": "z", "min": 0, "max": 90}


class Insert(example.Example):
    def setUp(self):
        super().setUp()
        self.poses = {}  # of examples, as words for 'pose'

    def mesh(self, name, amount, at=26):
        """A form at rest, as a file of the project."""
        made = bulge(rest_form(), rest_form()[at * example.SIDES + 1], amount)
        (self.home / f"{name}.obj").write_text(obj(made))
        return f"{name}.obj"

    def start(self, *layers, skeleton=True):
        self.write({"exemplar": 1, "mesh": "body.obj", **({"skeleton": "skeleton.gltf"} if skeleton else {}),
                    "layers": list(layers)})

    def body(self, shape="positions", kind="cardinal", **more):
        """A space of two dials: thin and short, heavy, tall."""
        return {"name": "body", "shape": shape, "space": [dial("heavy"), dial("tall")], "weigh": {"kind": kind},
                "examples": [{"name": "thin", "mesh": "body.obj", "at": {"heavy": 0, "tall": 0}},
                             {"name": "heavy", "mesh": self.mesh("heavy", 0.2), "at": {"heavy": 1, "tall": 0}},
                             {"name": "tall", "mesh": self.mesh("tall", 0.15, 20), "at": {"heavy": 0, "tall": 1}}],
                **more}

    def insert(self, name, *words, joints=(), layer=None, amount=0.1, options=()):
        """Adds a sculpt at a pose, and compares. Returns the answer of the tool."""
        before = {other: self.posed(*pose) for other, pose in self.poses.items()}
        made = self.sculpt(f"{name}.sculpt.obj", *words, *joints, amount=amount)
        outcome = self.example("add", *(("--name", name) if "--replace" not in options else ()), "--at", *words,
                               *(("--joint", *joints) if joints else ()), f"{name}.sculpt.obj", "--json", *options)
        answer = outcome.json()
        if layer:
            self.assertEqual(answer["layer"], layer, outcome.err)
        off = apart(self.posed(*words, *joints), made)
        self.assertLess(off, CLOSE, f"{name} comes back {off} away")
        self.assertAlmostEqual(answer["error"], off, delta=1e-6 * SIZE)
        lost = {}
        for other, form in before.items():
            if other == answer["example"]:
                continue
            way = apart(self.posed(*self.poses[other]), form)
            if way > CLOSE:
                lost[other] = way
        self.assertEqual(answer["lost_count"], len(lost), (answer, lost))
        if lost:
            worst = max(lost, key=lost.get)
            self.assertEqual(answer["lost_example"], worst)
            self.assertAlmostEqual(answer["loss"], lost[worst], delta=1e-6 * SIZE)
        self.poses[answer["example"]] = (*words, *joints)
        self.answer = answer
        return outcome

    # ---- spaces of forms ----

    def test_forms_at_rest(self):
        for skeleton in (True, False):
            for kind in ("cardinal", "gaussian"):
                with self.subTest(skeleton=skeleton, kind=kind):
                    self.start(self.body(kind=kind), skeleton=skeleton)
                    self.poses = {"thin": (), "heavy": ("heavy=1",), "tall": ("tall=1",)}
                    outcome = self.insert("both", "heavy=1", "tall=1", layer="body")
                    self.assertIn("it goes to layer 'body', whose space has heavy and tall", outcome.err)
                    self.insert("half", "heavy=0.5", layer="body", amount=0.05)
                    self.assertEqual([len(layer["examples"]) for layer in self.project()["layers"]], [5])
                    self.assertEqual(self.project()["layers"][0]["examples"][4]["at"], {"heavy": 0.5, "tall": 0})

    def test_forms_at_rest_that_were_sculpted_on_a_posed_skeleton(self):
        self.start(self.body())
        self.poses = {"thin": (), "heavy": ("heavy=1",), "tall": ("tall=1",)}
        self.insert("turned", "heavy=0.5", "tall=0.5", joints=("joint:fore_L=x30y10", "joint:spine=y50"), layer="body")
        # The file is the form at rest.
        entry = self.project()["layers"][0]["examples"][3]
        form = harness.positions_of((self.home / entry["mesh"]).read_text())
        self.assertLess(apart(self.posed("heavy=0.5", "tall=0.5"), form), CLOSE)
        # A better sculpt may have been made on another pose of the skeleton.
        again = self.insert("turned", "heavy=0.5", "tall=0.5", joints=("joint:spine=x0", "joint:fore_L=z80"),
                            layer="body", amount=0.03, options=("--replace",))
        self.assertEqual(again.json()["example"], "turned")
        self.assertEqual(len(self.project()["layers"][0]["examples"]), 4)

    def test_forms_at_rest_over_an_angle(self):
        layer = {"name": "elbow", "shape": "positions", "space": [ANGLE], "weigh": {"kind": "cardinal"},
                 "examples": [{"name": "straight", "mesh": "body.obj", "at": {"bend": 0}},
                              {"name": "bent", "mesh": self.mesh("bent", 0.1), "at": {"bend": 90}}]}
        self.start(layer)
        self.poses = {"straight": (), "bent": ("bend=90",)}
        self.insert("half", "bend=45", layer="elbow")
        self.insert("folded", "bend=130", layer="elbow")
        self.assertEqual(self.project()["layers"][0]["space"][0]["max"], 130)

    def test_unposed_forms(self):
        self.start()
        bent = self.sculpt("bent.obj", "joint:fore_L=z90")
        (self.home / "bent.obj").write_text(obj(bent))
        layer = {"name": "elbow", "shape": "unposed", "space": [ANGLE], "weigh": {"kind": "cardinal"},
                 "examples": [{"name": "straight", "mesh": "body.obj", "at": {"bend": 0}},
                              {"name": "bent", "mesh": "bent.obj", "at": {"bend": 90}}]}
        self.start(layer)
        self.poses = {"straight": (), "bent": ("bend=90",)}
        self.insert("half", "bend=45", layer="elbow")
        self.insert("spun", "bend=20", joints=("joint:spine=y50",), layer="elbow")
        self.assertEqual([e["name"] for e in self.project()["layers"][0]["examples"]],
                         ["straight", "bent", "half", "spun"])

    def test_the_place_of_a_pseudo_example(self):
        body = self.body(pseudo=[{"at": {"heavy": 0.2, "tall": 0.2}, "from": {"heavy": 0.1, "tall": 0.3}},
                                 {"at": {"heavy": 1, "tall": 1}, "from": {"heavy": 0.5, "tall": 0.5}}])
        self.start(body)
        self.poses = {"thin": (), "heavy": ("heavy=1",), "tall": ("tall=1",)}
        outcome = self.insert("both", "heavy=1", "tall=1", layer="body")
        self.assertIn("it takes the place of pseudo-example 2, which is removed", outcome.err)
        self.assertEqual(self.project()["layers"][0]["pseudo"], body["pseudo"][:1])
        self.insert("some", "heavy=0.2", "tall=0.2", layer="body")
        self.assertNotIn("pseudo", self.project()["layers"][0])

    def test_two_spaces_that_have_the_place(self):
        other = {**self.body(), "name": "other"}
        self.start(self.body(), other)
        self.sculpt("s.obj", "heavy=1", "tall=1")
        self.refused("add", "body/body.json", "--name", "n", "--at", "heavy=1", "tall=1", "s.obj",
                     fragments=("several layers are over heavy and tall: name the layer with --layer",))
        other["space"] = [dial("heavy"), dial("tall"), dial("wide")]
        for entry in other["examples"]:
            entry["at"] = {**entry["at"], "wide": 0}
        other["weigh"] = {"kind": "gaussian"}
        self.start(self.body(), other)
        self.insert("both", "heavy=1", "tall=1", layer="body")  # over exactly these axes

    # ---- below other layers ----

    def disturbed(self, *names):
        findings = self.run_tool("check", "body/body.json", "--json").json()["findings"]
        return [f["text"] for f in findings if f["kind"] == "disturbed" and any(f"'{n}'" in f["text"] for n in names)]

    def test_below_a_layer_that_adds_to_it(self):
        """Later layers add to the form at the new place, and are measured from it in turn."""
        later = {"name": "later", "shape": "offsets", "space": [dial("heavy")], "weigh": {"kind": "gaussian"},
                 "examples": [{"name": "more", "mesh": self.mesh("more", 0.3), "at": {"heavy": 1}}]}
        direct = {"name": "sliders", "shape": "positions", "space": [dial("smile")], "weigh": {"kind": "direct"},
                  "examples": [{"name": "smile", "mesh": self.mesh("smile", 0.1, 30)}]}
        for skeleton in (False, True):
            for frame in ("rest", "skinned") if skeleton else ("rest",):
                for shape in ("positions", "offsets"):
                    with self.subTest(skeleton=skeleton, frame=frame, shape=shape):
                        body = self.body(shape=shape, kind="gaussian")
                        if shape == "offsets":
                            del body["examples"][0]
                        self.start(body, {**later, "frame": frame}, direct, skeleton=skeleton)
                        self.poses = {"more": ("heavy=1",), "smile": ("smile=1",)}
                        self.insert("half", "heavy=0.5", "tall=0.4", layer="body")
                        joints = ("joint:fore_L=x30y10",) if skeleton else ()
                        self.insert("third", "heavy=0.7", "tall=0.2", joints=joints, layer="body", amount=-0.1)
                        # The form accounts for later layers, and 'check' knows that.
                        entry = self.project()["layers"][0]["examples"][-1]
                        self.assertLess(apart(self.posed("heavy=0.7", "tall=0.2", *joints), harness.positions_of(
                            (self.home / entry["sculpt"]).read_text())), CLOSE)
                        self.assertEqual(self.disturbed("half", "third"), [])
                        last = self.project()
                        last["layers"][1]["examples"][0]["mesh"] = "smile.obj"
                        self.write(last)
                        self.assertNotEqual(self.disturbed("third"), [])
                        # Another form, or another place, and the old sculpt counts no longer.
                        self.insert("third", "heavy=0.7", "tall=0.2", joints=joints, layer="body", amount=0.02,
                                    options=("--replace",))
                        self.assertEqual(self.disturbed("third"), [])
                        self.example("move", "--name", "third", "--at", "heavy=0.75")
                        self.assertNotIn("sculpt", self.project()["layers"][0]["examples"][-1])

    # ---- sliders ----

    def sliders(self, skeleton=True):
        self.start({"name": "face", "shape": "positions", "space": [dial("smile"), dial("frown")],
                    "weigh": {"kind": "direct"},
                    "examples": [{"name": "smile", "mesh": self.mesh("smile", 0.1, 30)},
                                 {"name": "frown", "mesh": self.mesh("frown", 0.2, 22)}]}, skeleton=skeleton)
        self.poses = {"smile": ("smile=1",), "frown": ("frown=1",)}

    def test_sliders(self):
        for skeleton in (True, False):
            with self.subTest(skeleton=skeleton):
                self.sliders(skeleton)
                # At its end, a slider has its example.
                self.sculpt("s.obj", "smile=1")
                self.refused("add", "body/body.json", "--name", "n", "--at", "smile=1", "s.obj",
                             fragments=("example 'smile' of layer 'face' is already at that place: --replace gives it this sculpt; a value",))
                self.insert("smile", "smile=1", layer="face", options=("--replace",))
                self.assertEqual(len(self.project()["layers"]), 1)
                # Between, and in combinations, a layer of its own that is zero at both ends.
                self.insert("half_smile", "smile=0.5", layer="smile")
                self.insert("both", "smile=1", "frown=1", layer="smile_frown")
                self.insert("half_both", "smile=0.5", "frown=0.5", layer="smile_frown")
                self.insert("grin", "smile=1.5", layer="smile")
                self.assertEqual([layer.get("protect") for layer in self.project()["layers"]], [None, True, True])
                for layer in self.project()["layers"]:
                    axis = layer["space"][0]
                    self.assertEqual((axis["min"], axis["max"], axis["scale"]), (0, 1.5, 1))

    def test_a_new_slider_on_a_skeleton(self):
        self.sliders()
        made = self.sculpt("s.obj")
        self.example("add", "--layer", "face", "--name", "blink", "s.obj")
        self.assertLess(apart(self.posed("blink=1"), made), CLOSE)

    # ---- what is lost ----

    def test_what_an_earlier_sculpt_loses(self):
        """In the space of the new layer, the earlier sculpt is at the place of the new one."""
        self.start()
        both = ("joint:fore_L=z90", "joint:arm_L=x30")
        self.insert("fist", *both)
        self.poses["fist"] = ("fore_L.z=90", "arm_L.x=30")
        outcome = self.insert("bent", "fore_L.z=90", layer="fore_L.z")
        self.assertEqual(self.answer["lost_example"], "fist")
        self.assertGreater(self.answer["loss"], 0.01)
        # The same in words, in posed lengths.
        self.example("remove", "--name", "bent")
        line = self.example("add", "--name", "bent", "--at", "fore_L.z=90", "bent.sculpt.obj").out
        length = re.search(r"; 'fist' of layer 'fore_L.z_arm_L.x' changes by up to (\S+) (mm|m) at its own pose$",
                           line.strip())
        self.assertIsNotNone(length, line)
        said = float(length[1]) * (0.001 if length[2] == "mm" else 1)
        self.assertAlmostEqual(said, self.answer["loss"], delta=0.06 * self.answer["loss"])
        self.assertNotIn("loses", outcome.err)

    def test_new_layers_protect_earlier_sculpts(self):
        self.start()
        self.insert("one", "joint:fore_L=z90", "joint:arm_L=x30")
        self.poses["one"] = ("fore_L.z=90", "arm_L.x=30")
        self.insert("two", "fore_L.z=60", layer="fore_L.z")
        self.assertEqual(self.answer["lost_count"], 0)
        self.assertTrue(self.project()["layers"][1]["protect"])

    # ---- ranges ----

    def axis(self, layer=0, name="bend"):
        return next(a for a in self.project()["layers"][layer]["space"] if a["name"] == name)

    def test_ranges_grow(self):
        self.start()
        self.insert("bent", "joint:fore_L=z90")
        self.poses["bent"] = ("fore_L.z=90",)
        outcome = self.insert("folded", "fore_L.z=120")
        self.assertIn("the range of 'fore_L.z' is now 0 to 120, to hold it", outcome.err)
        self.insert("back", "fore_L.z=-40")
        axis = self.axis(name="fore_L.z")
        self.assertEqual((axis["min"], axis["max"]), (-40, 120))
        self.assertAlmostEqual(axis["scale"], 1 / 90)
        # Pictures and checks go over it.
        self.succeed("build", "body/body.json", "-q", "-o", "rig.glb")
        layer, = self.succeed("info", "rig.glb", "--json").json()["layers"]
        self.assertEqual([layer["space"][0][key] for key in ("min", "max")], [-40, 120])
        plot = self.folder / "plot.svg"
        self.succeed("plot", "rig.glb", "-o", "plot.svg", "-q")
        self.assertIn("120", plot.read_text())
        self.succeed("sheet", "rig.glb", "--axes", "fore_L.z", "--grid", "3", "--beyond", "0", "--cell", "60", "-o",
                     "sheet.png", "-q")
        # The range of a sculpt that moves grows too, but never shrinks.
        self.example("move", "--name", "back", "--at", "fore_L.z=-60")
        self.example("move", "--name", "folded", "--at", "fore_L.z=100")
        axis = self.axis(name="fore_L.z")
        self.assertEqual((axis["min"], axis["max"]), (-60, 120))

    def test_a_clamped_axis(self):
        layer = {"name": "elbow", "shape": "offsets", "space": [{**ANGLE, "clamp": True}], "weigh": {"kind": "gaussian"},
                 "examples": [{"name": "bent", "mesh": "bent.obj", "at": {"bend": 90}}]}
        self.start()
        bent = self.sculpt("bent.obj", "joint:fore_L=z90")
        (self.home / "bent.obj").write_text(obj(bent))
        self.start(layer)
        self.poses = {"bent": ("bend=90",)}
        self.insert("folded", "bend=120", layer="elbow")
        self.assertEqual((self.axis()["max"], self.axis()["clamp"]), (120, True))

    def test_weights_between_earlier_examples_stay(self):
        """Distances count in ranges. A range that grows must not change them in a space of several axes."""
        space = [dial("a"), dial("b")]
        layer = {"name": "l", "shape": "offsets", "space": space, "weigh": {"kind": "shepard"},
                 "examples": [{"name": "one", "mesh": self.mesh("one", 0.1), "at": {"a": 1, "b": 0}},
                              {"name": "two", "mesh": self.mesh("two", 0.1), "at": {"a": 0, "b": 1}}]}
        self.start(layer, skeleton=False)
        self.insert("far", "a=9", "b=0.5")
        self.assertEqual((self.axis(name="a")["max"], self.axis(name="a")["scale"]), (9, 1))
        self.assertNotIn("scale", self.axis(name="b"))


# The tests of example.py run from there.
for name in dir(example.Example):
    if name.startswith("test_"):
        setattr(Insert, name, None)
del example.Example, name

if __name__ == "__main__":
    harness.main()
