"""exemplar edit --new: an empty editor, and files that become its project."""
import json
import os

import editing
from editing import Editor
import harness
from harness import bent, obj_text

FBX = b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(60)


class Start(harness.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "tmp").mkdir()
        self.editor = Editor(self.folder, "face.json", "--new", env={**os.environ, "TMPDIR": str(self.folder / "tmp")})

    def tearDown(self):
        self.editor.end()
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])
        super().tearDown()

    def post(self, path, body=b"", **query):
        return self.editor.ask("POST", "api/" + path, body, query=query)

    def refused(self, answer, status, *words):
        self.assertEqual(answer.status, status, answer.bytes)
        for word in words:
            self.assertIn(word, answer.json()["error"])

    def test_sculpts(self):
        opened = self.editor.ask("GET", "api/project").json()
        self.assertEqual((opened["empty"], opened["name"], opened["error"]), (True, "face.json", None))
        for name, form in (("smile", bent(40, 1)), ("Neutral", bent(0, 1)), ("frown", bent(0, 2))):
            self.assertEqual(self.post("sculpt", obj_text(form), name=name + ".obj").json(), {"path": name + ".obj"})
        self.assertEqual([file.name for file in self.folder.iterdir()], ["tmp"])  # nothing is written before
        self.assertEqual(self.post("start").json()["name"], "face.json")
        opened = self.editor.ask("GET", "api/project").json()
        self.assertNotIn("empty", opened)
        layer, = json.loads(opened["text"])["layers"]
        self.assertEqual([axis["name"] for axis in layer["space"]], ["frown", "smile"])
        self.assertEqual(self.post("build", opened["text"]).status, 200)
        # There is a project now.
        self.refused(self.post("sculpt", obj_text(bent(0, 1)), name="more.obj"), 409, "a project already")
        self.refused(self.post("start"), 409, "a project already")
        self.succeed("build", "face.json", "-q")

    def test_one_gltf_file(self):
        scene = (harness.REPOSITORY / "fuzz/seeds/gltf/meshopt.glb").read_bytes()
        self.assertEqual(self.post("sculpt", scene, name="robot.glb").status, 200)
        self.assertEqual(self.post("start").status, 200)
        layer, = json.loads((self.folder / "face.json").read_text())["layers"]
        self.assertEqual([example["name"] for example in layer["examples"]], ["smile", "blink"])

    def test_refusals(self):
        rest, wide = obj_text(bent(0, 1)), obj_text(bent(0, 2))
        self.refused(self.post("start"), 422, "Drop the mesh at rest and at least one shape of it")
        self.refused(self.post("sculpt", FBX, name="a.fbx"), 415, "this is an FBX file", "Wavefront (.obj)")
        self.refused(self.post("sculpt", rest, name="a.txt"), 415, "a.txt")
        self.refused(self.post("sculpt", rest, name="../a.obj"), 400, "slash")
        self.refused(self.post("sculpt", rest), 400, "name")
        # Files of a start that failed are forgotten.
        for files, word in (({"rest.obj": rest}, "at least one shape"),
                            ({"rest.obj": rest, "a.glb": FBX}, "one glTF file alone"),
                            ({"rest.obj": rest, "a.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"}, "a.obj: not a sculpt of 'rest.obj'"),
                            ({"rest.obj": rest, "a.obj": "no form"}, "a.obj")):
            for name, body in files.items():
                self.assertEqual(self.post("sculpt", body, name=name).status, 200)
            answer = self.post("start")
            self.refused(answer, 422, word)
            self.assertNotIn("tmp/", answer.json()["error"])
            self.assertFalse((self.folder / "face.json").exists())
        for name, body in (("rest.obj", rest), ("wide.obj", wide)):
            self.post("sculpt", body, name=name)
        self.assertEqual(self.post("start").status, 200)

    def test_what_exists(self):
        (self.folder / "old.json").write_text("{}")
        self.sentence(self.run_tool("edit", "--new", "old.json", "--no-open"), 1, "'old.json' exists: leave out --new")
        self.sentence(self.run_tool("edit", "--new", "old.obj", "--no-open"), 1, "does not end in .json")
        self.sentence(self.run_tool("edit", "--new", "none/new.json", "--no-open"), 1, "none/new.json")
        self.sentence(self.run_tool("edit", "gone.json"), 1, "gone.json", "--new")


editing.main()
