"""exemplar init from forms: shapes as sliders, shapes in a space, paths, folders, and refusals."""
import json
import os
import random

import alembic_file
import harness
from harness import bent, obj_text

# Seven vertices that no symmetry maps onto each other.
FACES = [(1, 2, 3, 4), (4, 3, 5), (5, 3, 6), (6, 3, 7)]
REST = [[0, 0, 0], [1, 0, 0], [1.2, 1, 0.1], [0, 1, 0], [0.3, 2.2, 0], [1.5, 2, 0.3], [2.4, 1.1, 0]]


def moved(x, y, z):
    return [[a + x * (i + 1), b + y, c + z * i] for i, (a, b, c) in enumerate(REST)]


class Forms(harness.Case):
    def setUp(self):
        super().setUp()
        for name, form in (("rest", REST), ("wide", moved(1, 0, 0)), ("tall", moved(0, 2, 0)), ("deep", moved(0, 0, 3))):
            (self.folder / f"{name}.obj").write_text(obj_text(form, FACES))

    def project(self, path):
        return json.loads((self.folder / path).read_text())

    def posed(self, rig, *words):
        self.succeed("pose", rig, *words, "-q", "-o", "out.obj")
        return harness.positions_of((self.folder / "out.obj").read_text())

    def add(self, *words):
        """Adds an example; notes on stderr are fine."""
        self.assertEqual(self.run_tool("example", "add", *words).code, 0)

    def near(self, one, other):
        self.assertEqual(len(one), len(other))
        self.assertLess(max(abs(a - b) for p, q in zip(one, other) for a, b in zip(p, q)), 1e-5)

    def test_a_slider_for_each_shape(self):
        outcome = self.succeed("init", "rest.obj", "wide.obj", "tall.obj")
        self.assertEqual(outcome.out, "rest/rest.json: a mesh at rest, 2 shapes, no skeleton; 'exemplar build rest/rest.json' makes the rig\n")
        layer, = self.project("rest/rest.json")["layers"]
        self.assertEqual([axis["name"] for axis in layer["space"]], ["wide", "tall"])
        self.assertEqual((layer["weigh"], layer["shape"]), ({"kind": "direct"}, "positions"))
        self.succeed("build", "rest/rest.json")
        self.near(self.posed("rest/rest.glb"), REST)
        self.near(self.posed("rest/rest.glb", "wide=1"), moved(1, 0, 0))
        self.near(self.posed("rest/rest.glb", "wide=0.5", "tall=1"), moved(0.5, 2, 0))
        # Another shape is another slider, and needs neither a layer nor a place.
        self.add("rest/rest.json", "--name", "deep", "deep.obj")
        self.succeed("build", "rest/rest.json")
        self.near(self.posed("rest/rest.glb", "wide=0.5", "deep=1"), moved(0.5, 0, 3))
        self.sentence(self.run_tool("example", "add", "rest/rest.json", "--name", "n", "--layer", "shapes", "--at",
                                    "wide=1", "deep.obj"), 1, "a new shape gets a slider of its own")
        self.sentence(self.run_tool("example", "add", "rest/rest.json", "--name", "deep", "deep.obj"), 1,
                      "already has an example 'deep'")

    def test_a_space(self):
        self.succeed("init", "rest.obj", "wide.obj", "tall.obj", "--space", "x, y", "--at", "wide:1,0", "--at",
                     "tall:0,10", "-o", "p")
        project = self.project("p/rest.json")
        layer, = project["layers"]
        self.assertEqual(layer["space"], [{"name": "x", "min": 0, "max": 1, "rest": 0},
                                          {"name": "y", "min": 0, "max": 10, "rest": 0}])
        self.assertEqual([example["at"] for example in layer["examples"]],
                         [{"x": 0, "y": 0}, {"x": 1, "y": 0}, {"x": 0, "y": 10}])
        self.succeed("build", "p/rest.json")
        self.near(self.posed("p/rest.glb", "x=1"), moved(1, 0, 0))
        self.near(self.posed("p/rest.glb", "y=10"), moved(0, 2, 0))
        # Another shape is another example of the space; axes not named are at rest.
        self.add("p/rest.json", "--name", "deep", "--at", "x=0.5", "deep.obj")
        layer, = self.project("p/rest.json")["layers"]
        self.assertEqual(layer["examples"][-1]["at"], {"x": 0.5, "y": 0})
        self.succeed("build", "p/rest.json")
        self.near(self.posed("p/rest.glb", "x=0.5"), moved(0, 0, 3))
        self.near(self.posed("p/rest.glb", "x=1"), moved(1, 0, 0))

    def test_one_axis_spreads(self):
        self.succeed("init", "rest.obj", "wide.obj", "tall.obj", "--space", "t", "-o", "p")
        layer, = self.project("p/rest.json")["layers"]
        self.assertEqual([example["at"]["t"] for example in layer["examples"]], [0, 0.5, 1])

    def test_paths(self):
        self.succeed("init", "rest.obj", "wide.obj", "--space", "t", "--paths", "-o", "p")
        layer, = self.project("p/rest.json")["layers"]
        self.assertEqual((layer["shape"], layer["examples"][0]["reference"]), ("trajectory", True))
        self.succeed("build", "p/rest.json")
        self.near(self.posed("p/rest.glb", "t=1"), moved(1, 0, 0))
        self.succeed("init", "rest.obj", "wide.obj", "tall.obj", "--paths", "-o", "q")
        self.succeed("build", "q/rest.json")
        self.near(self.posed("q/rest.glb", "tall=1"), moved(0, 2, 0))

    def test_folder(self):
        folder = self.folder / "some faces"
        folder.mkdir()
        for name, form in (("Neutral", REST), ("pose 10", moved(1, 0, 0)), ("pose 9", moved(0, 2, 0))):
            (folder / f"{name}.obj").write_text(obj_text(form, FACES))
        (folder / "notes.txt").write_text("no form")
        outcome = self.run_tool("init", "some faces/")
        self.assertIn("the mesh at rest is", outcome.err)
        self.assertIn("Neutral.obj", outcome.err)
        layer, = self.project("some faces_project/some faces.json")["layers"]
        self.assertEqual([axis["name"] for axis in layer["space"]], ["pose 9", "pose 10"])
        self.succeed("build", "some faces_project/some faces.json")
        self.near(self.posed("some faces_project/some faces.glb", "pose 9=1"), moved(0, 2, 0))

    def test_another_order(self):
        order = list(range(len(REST)))
        random.Random(1).shuffle(order)
        form = [list(p) for p in REST]
        form[6][2] += 0.5
        faces = [tuple(order.index(v - 1) + 1 for v in face) for face in FACES]
        (self.folder / "other.obj").write_text(obj_text([form[v] for v in order], faces))
        outcome = self.run_tool("init", "rest.obj", "other.obj", "-o", "p")
        self.assertIn("other.obj: its vertices are in another order than the mesh's", outcome.err)
        self.succeed("build", "p/rest.json")
        self.near(self.posed("p/rest.glb", "other=1"), form)

    def test_names(self):
        for name in ("mesh", "a=b", "Mesh", "joint:x"):
            (self.folder / f"{name}.obj").write_text(obj_text(moved(0, 1, 0), FACES))
        self.run_tool("init", "rest.obj", "mesh.obj", "Mesh.obj", "a=b.obj", "joint:x.obj", "-o", "p")
        layer, = self.project("p/rest.json")["layers"]
        self.assertEqual([axis["name"] for axis in layer["space"]], ["mesh", "Mesh", "a_b", "target joint:x"])
        self.assertEqual(len({example["mesh"].lower() for example in layer["examples"]} | {"mesh.obj"}), 5)
        self.succeed("build", "p/rest.json")
        self.near(self.posed("p/rest.glb", "Mesh=1"), moved(0, 1, 0))

    def test_names_that_are_not_utf8(self):
        name = os.fsdecode(b"sm\xe9le.obj")
        (self.folder / name).write_text(obj_text(moved(0, 1, 0), FACES))
        outcome = self.run_tool("init", "rest.obj", name, "-o", "p")
        self.assertEqual(outcome.code, 0, outcome.err)
        layer, = self.project("p/rest.json")["layers"]
        self.assertEqual(layer["space"][0]["name"], "sm_le")
        self.succeed("build", "p/rest.json")

    def test_what_cannot_be_built_is_refused(self):
        (self.folder / "far.obj").write_text(obj_text(moved(0, 1e39, 0), FACES))
        before = self.listing()
        for words, sentence in (
                (["rest.obj", "far.obj"], "far.obj: vertex 0 is too far away"),
                (["far.obj", "rest.obj"], "vertex 0 is too far away"),
                (["rest.obj", "far.obj", "--paths"], "far.obj: vertex 0 is too far away"),
                (["rest.obj", "wide.obj", "--space", "a", "--at", "wide:1e308", "--at", "rest:-1e308"], "a"),
                (["rest.obj", "wide.obj", "tall.obj", "--space", "a", "--at", "wide:1", "--at", "tall:1.0000000000000002"],
                 "tall")):
            with self.subTest(words=words):
                self.sentence(self.run_tool("init", *words, "-o", "out"), 1, sentence)
        self.assertEqual(self.listing(), before)

    def test_a_folder_of_alembic_files(self):
        (self.folder / "shapes").mkdir()
        for name, form in (("rest", REST), ("wide", moved(1, 0, 0))):
            w = alembic_file.Writer()
            mesh = w.mesh([form], [[i - 1 for i in face] for face in FACES])
            (self.folder / "shapes" / f"{name}.abc").write_bytes(
                w.finish([(name, "AbcGeom_PolyMesh_v1", mesh)], 0, 1))
        self.run_tool("init", "shapes", "-o", "p")
        self.assertEqual([axis["name"] for axis in self.project("p/shapes.json")["layers"][0]["space"]], ["wide"])
        self.succeed("build", "p/shapes.json", "-q")
        self.near(self.posed("p/shapes.glb", "wide=1"), moved(1, 0, 0))

    def test_refused(self):
        (self.folder / "band.obj").write_text(obj_text(bent(0, 1)))
        (self.folder / "empty").mkdir()
        before = self.listing()
        for words, code, sentence in (
                (["rest.obj"], 1, "'rest.obj' is one form: give shapes of it too"),
                (["rest.obj", "band.obj"], 1, "band.obj: not a sculpt of 'rest.obj'"),
                (["rest.obj", "gone.obj"], 1, "gone.obj"),
                (["rest.obj", "wide.obj", "--at", "wide:1"], 2, "--at needs --space"),
                (["rest.obj", "wide.obj", "--space", "a,b"], 2, "say where 'wide' is in the space"),
                (["rest.obj", "wide.obj", "--space", "a,,b"], 2, "has an empty one"),
                (["rest.obj", "wide.obj", "--space", "a", "--at", "wid:1"], 2, "did you mean 'wide'?"),
                (["rest.obj", "wide.obj", "--space", "a", "--at", "wide"], 2, "has no ':'"),
                (["rest.obj", "wide.obj", "--space", "a", "--at", "wide:1,2"], 2, "needs 1 number after the ':'"),
                (["rest.obj", "wide.obj", "--space", "a", "--at", "wide:nan"], 2, "needs 1 number after the ':'"),
                (["rest.obj", "wide.obj", "--space", "a", "--at", "wide:0"], 1, "'wide' and 'rest' are at the same place"),
                (["rest.obj", "wide.obj", "--space", "a,a", "--at", "wide:1,1"], 1, "a"),
                (["rest.obj", "wide.obj", "--keep-seams"], 2, "--keep-seams goes with a glTF file"),
                (["empty"], 1, "has no .obj, .ply, .off or .abc files"),
                (["empty", "rest.obj"], 2, "is a folder, which is taken alone")):
            with self.subTest(words=words):
                self.sentence(self.run_tool("init", *words, "-o", "out"), code, sentence)
        self.assertEqual(self.listing(), before)

    def test_what_is_there_stays(self):
        (self.folder / "band.obj").write_text(obj_text(bent(0, 1)))
        self.succeed("init", "rest.obj", "wide.obj", "-o", "p")
        before = self.listing()
        self.sentence(self.run_tool("init", "rest.obj", "wide.obj", "-o", "p"), 1, "exists already")
        (self.folder / "p/rest.json").unlink()
        before.pop("p/rest.json")
        self.sentence(self.run_tool("init", "rest.obj", "wide.obj", "-o", "p"), 1, "exists already")
        self.assertEqual(self.listing(), before)
        self.succeed("init", "rest.obj", "wide.obj", "-o", "p", "--force")
        # A form that does not fit costs nothing of the older project, wherever it is in the list.
        before = self.listing()
        self.sentence(self.run_tool("init", "deep.obj", "tall.obj", "band.obj", "-o", "p", "--force"), 1, "band.obj")
        self.assertEqual(self.listing(), before)

    def test_json(self):
        answer = self.succeed("init", "rest.obj", "wide.obj", "-o", "p", "--json").json()
        self.assertEqual(answer, {"project": "p/rest.json", "targets": 1, "skeleton": False, "notes": []})


harness.main()
