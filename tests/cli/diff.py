"""Differences of forms and rigs: each kind is made on purpose, and found with the right number."""
import math

import harness


class Forms(harness.Case):
    def write(self, name, positions=None, faces=harness.FACES, replace=()):
        text = harness.obj_text(positions or harness.REST, faces)
        for old, new in replace:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        (self.folder / name).write_text(text)

    def diff(self, *words):
        return self.succeed("diff", "a.obj", "b.obj", *words, "--json").json()

    def setUp(self):
        super().setUp()
        self.write("a.obj")

    def test_same(self):
        self.write("b.obj")
        answer = self.diff()
        self.assertTrue(answer["same"])
        self.assertEqual((answer["moved"], answer["farthest"], answer["rms"]), (0, 0, 0))
        self.assertEqual(self.succeed("diff", "a.obj", "b.obj", "--exit-code").code, 0)
        text = self.succeed("diff", "a.obj", "b.obj").out
        self.assertIn("vertices  the same 8\nfaces     the same 3\n", text)

    def test_rounding(self):
        """Text says that it is rounding; JSON and the exit code stay exact."""
        rounded = [list(p) for p in harness.REST]
        rounded[2][2] += 1e-9
        self.write("b.obj", rounded)
        self.assertIn("vertices  the same 8 but for rounding, up to 1e-09\n", self.succeed("diff", "a.obj", "b.obj").out)
        self.assertFalse(self.diff()["same"])
        self.assertEqual(self.run_tool("diff", "a.obj", "b.obj", "--exit-code").code, 1)

    def test_moved(self):
        moved = [list(p) for p in harness.REST]
        moved[2][2], moved[5][0] = 0.3, moved[5][0] + 0.4
        self.write("b.obj", moved)
        answer = self.diff()
        self.assertFalse(answer["same"])
        self.assertEqual((answer["moved"], answer["farthest_vertex"]), (2, 5))
        self.assertAlmostEqual(answer["farthest"], 0.4, delta=1e-12)
        self.assertAlmostEqual(answer["rms"], math.sqrt((0.09 + 0.16) / 8), delta=1e-12)
        self.assertAlmostEqual(answer["size"], math.sqrt(10), delta=1e-12)
        self.assertEqual(answer["boxes"], [[0, 0, 0, 3, 1, 0], [0, 0, 0, 3, 1, 0.3]])
        self.assertEqual(self.diff("--tolerance", "0.35")["moved"], 1)
        self.assertTrue(self.diff("--tolerance", "0.5")["same"])
        text = self.succeed("diff", "a.obj", "b.obj").out
        self.assertIn("vertices  2 of 8 moved\nfarthest  vertex 5 (counting from 0), by 0.4, 0.126 of the size\n", text)
        self.assertIn("within the tolerance", self.succeed("diff", "a.obj", "b.obj", "--tolerance", "0.5").out)

    def test_exit_code(self):
        self.write("b.obj", [[x, y, 1.0] for x, y, _ in harness.REST])
        for words, code in (([], 0), (["--exit-code"], 1), (["--exit-code", "--tolerance", "1"], 0)):
            outcome = self.run_tool("diff", "a.obj", "b.obj", "-q", *words)
            self.assertEqual((outcome.code, outcome.out, outcome.err), (code, "", ""))

    def test_faces(self):
        self.write("b.obj", faces=[harness.FACES[0], harness.FACES[1][::-1], harness.FACES[2]])
        answer = self.diff()
        self.assertEqual((answer["same"], answer["same_faces"], answer["first_face"], answer["moved"]), (False, False, 1, 0))
        self.assertNotIn("same_texcoords", answer)
        self.assertIn("faces     differ, face 1 (counting from 0) first: 2 4 5 3 and 3 5 4 2\n",
                      self.succeed("diff", "a.obj", "b.obj").out)
        self.write("b.obj", faces=harness.FACES[:2])
        self.assertIn("faces     3 and 2\nfaces     differ, face 2 (counting from 0) first: only in the first\n",
                      self.succeed("diff", "a.obj", "b.obj").out)

    def test_other_count(self):
        (self.folder / "b.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        answer = self.diff()
        self.assertEqual((answer["vertices"], answer["same"]), ([8, 3], False))
        self.assertNotIn("moved", answer)
        self.assertIn("vertices  8 and 3\n", self.succeed("diff", "a.obj", "b.obj").out)

    def test_what_corners_and_faces_carry(self):
        for key, old, new in (("texcoords", "vt 0.0 0\n", "vt 0.125 0\n"), ("groups", "g back", "g behind"),
                              ("materials", "usemtl blue", "usemtl green")):
            with self.subTest(key):
                self.write("b.obj", replace=[(old, new)])
                answer = self.diff()
                different = [name for name in answer if name.startswith("same_") and not answer[name]]
                self.assertEqual(different, [f"same_{key}"])
                self.assertFalse(answer["same"])
                self.assertIn(f"{key:9s} differ\n", self.succeed("diff", "a.obj", "b.obj").out)

    def test_kinds(self):
        self.write("b.obj")
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        self.sentence(self.run_tool("diff", "a.obj", "band.glb"), 1, "'a.obj' is a form and 'band.glb' is a rig")
        self.sentence(self.run_tool("diff", "a.obj", "band.json"), 1, "'band.json' is a project")
        self.sentence(self.run_tool("diff", "a.obj", "none.obj"), 1, "none.obj", "No such file")
        self.sentence(self.run_tool("diff", "a.obj", "b.obj", "--tolerance", "-1"), 2, "a number from 0 up", "'-1'")
        self.sentence(self.run_tool("diff", "a.obj", "b.obj", "--tolerance", "nan"), 2, "'nan'")


class Rigs(harness.Case):
    def build(self, name, change=None, forms=None):
        description = harness.project()
        if change:
            change(description)
        folder = self.folder / name
        harness.write_project(folder, description)
        for form, positions in (forms or {}).items():
            (folder / f"{form}.obj").write_text(harness.obj_text(positions))
        self.succeed("build", f"{name}/band.json", "-q")

    def setUp(self):
        super().setUp()
        self.build("a")

    def diff(self, *words):
        return self.succeed("diff", "a/band.glb", "b/band.glb", *words, "--json").json()

    def only(self, kind, *fragments):
        answer = self.diff()
        self.assertFalse(answer["same"])
        self.assertEqual([d["kind"] for d in answer["differences"]], [kind], answer["differences"])
        for fragment in fragments:
            self.assertIn(fragment, answer["differences"][0]["text"])
        return answer["differences"][0]

    def test_same(self):
        self.build("b")
        answer = self.diff()
        self.assertTrue(answer["same"] and answer["same_bytes"])
        self.assertEqual(self.succeed("diff", "a/band.glb", "b/band.glb").out,
                         "a/band.glb and b/band.glb: the same bytes\n")

    def test_example_moved_in_its_space(self):
        def change(d):
            d["layers"][0]["examples"][1]["at"]["bend"] = 80
        self.build("b", change)
        found = self.only("example", "example 'bent' is elsewhere, by 10 along 'bend'")
        self.assertEqual((found["where"], found["largest"]), ("layer 'body'", 10))

    def test_example_sculpted(self):
        form = harness.bent(1, 0)
        form[3] = [form[3][0], form[3][1], form[3][2] + 0.5]
        self.build("b", forms={"bent": form})
        found = self.only("example", "example 'bent' moves vertex 3 (counting from 0) differently by 0.5 m")
        self.assertAlmostEqual(found["largest"], 0.5, delta=1e-6)
        self.assertAlmostEqual(found["rms"], 0.5 / math.sqrt(8), delta=1e-6)
        self.assertTrue(self.diff("--tolerance", "0.6")["same"])
        self.assertIn("though their bytes differ",
                      self.succeed("diff", "a/band.glb", "b/band.glb", "--tolerance", "0.6").out)

    def test_names(self):
        def rename_example(d):
            d["layers"][0]["examples"][2]["name"] = "fat"
        self.build("b", rename_example)
        self.only("example", "example 'thick' of the first is called 'fat' in the second")

        def rename_layer(d):
            d["layers"][0]["name"] = "trunk"
        self.build("b", rename_layer)
        self.only("layer", "layer 'body' of the first is called 'trunk' in the second")

        def rename_axis(d):
            text = harness.json.dumps(d).replace('"girth"', '"width"')
            d.clear()
            d.update(harness.json.loads(text))
        self.build("b", rename_axis)
        self.only("axis", "axis 'girth' of the first is called 'width' in the second")

    def test_more_and_less(self):
        def drop(d):
            d["layers"][0]["examples"].pop(1)
        self.build("b", drop)
        self.only("example", "example 'bent' is only in the first")

        def no_layer(d):
            d["layers"].clear()
        self.build("b", no_layer)
        self.only("layer", "layer 'body' is only in the first")

        def no_pseudo(d):
            d["layers"][0]["pseudo"].clear()
        self.build("b", no_pseudo)
        self.only("pseudo", "1 in the first, 0 in the second")

    def test_weigher_axis_pseudo(self):
        def kernel(d):
            d["layers"][0]["weigh"]["kernel"] = "gaussian"
        self.build("b", kernel)
        self.only("weigher", "cardinal (bspline, linear, radius 1, ridge 0) in the first",
                  "cardinal (gaussian, linear, radius 1, ridge 0) in the second")

        def wider(d):
            d["layers"][0]["space"][0]["max"] = 100
        self.build("b", wider)
        self.only("axis", "axis 'bend' is 0 to 90, rest 0 in the first and 0 to 100, rest 0 in the second")

        def later(d):
            d["layers"][0]["pseudo"][0]["at"]["bend"] = 52
        self.build("b", later)
        self.only("pseudo", "pseudo-example 1 differs by 2")

    def test_mesh(self):
        forms = {name: [[x, y, z + 1] for x, y, z in harness.bent(*amounts)] for name, amounts in harness.FORMS.items()}
        self.build("b", forms=forms)
        found = self.only("mesh", "8 of 8 vertices moved", "by 1 m, RMS 1 m")
        self.assertEqual((found["largest"], found["where"]), (1, "mesh"))

    def test_levels(self):
        def refine(d):
            d["subdivide"] = {"scheme": "catmull_clark", "levels": 1}
        self.build("b", refine)
        kinds = {d["kind"] for d in self.diff()["differences"]}
        self.assertEqual(kinds, {"level"})
        self.build("a", refine)

        def other_rules(d):
            d["subdivide"] = {"scheme": "bilinear", "levels": 1}
        self.build("b", other_rules)
        self.assertEqual(self.only("level", "refined by other rules")["where"], "level 1")

    def test_creases(self):
        def refine(d):
            d["subdivide"] = {"scheme": "catmull_clark", "levels": 1}
        self.build("a", refine)
        for name, sharpness in (("a", 0.5), ("b", 0.25)):
            self.build(name, refine)
            path = self.folder / name / "straight.obj"
            path.write_text(path.read_text() + f"t crease 2/1/0 2 3 {sharpness}\n")
            self.succeed("build", f"{name}/band.json", "-q")
        self.assertEqual([(d["kind"], d["where"]) for d in self.diff()["differences"]],
                         [("mesh", "mesh"), ("level", "level 1")])
        self.assertTrue(self.diff("--tolerance", "0.3")["same"])

    def test_skeleton(self):
        self.succeed("demo", "arm", "-o", "one", "-q")
        self.succeed("demo", "arm", "-o", "two", "-q")
        path = self.folder / "two/arm.json"
        description = {**harness.json.loads(path.read_text()), "skinning": "dual_quaternion"}
        path.write_text(harness.json.dumps(description))
        self.succeed("build", "two/arm.json", "-q")
        texts = [d["text"] for d in self.succeed("diff", "one/arm.glb", "two/arm.glb", "--json").json()["differences"]]
        self.assertIn("the skinning is linear in the first and dual_quaternion in the second", texts)


if __name__ == "__main__":
    harness.main()
