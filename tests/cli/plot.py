"""exemplar plot: valid SVG with the right contents, PNG of the promised size, slices, always the same bytes."""
import json
import struct
import xml.etree.ElementTree

import harness

SVG = "{http://www.w3.org/2000/svg}"


def labels(text):
    """Every text in a picture, in order."""
    return [path.get("aria-label") for path in xml.etree.ElementTree.fromstring(text).iter(SVG + "path")
            if path.get("aria-label")]


class Plot(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json")

    def svg(self, *words):
        return self.succeed("plot", "band.glb", *words, "-o", "-").out

    def test_curves(self):
        line = self.succeed("plot", "band.glb", "--axes", "bend", "-o", "bend.svg").out
        self.assertRegex(line, r"^bend.svg: weights of 4 examples of layer body along bend, [\d.]+ kB, ")
        text = (self.folder / "bend.svg").read_text()
        root = xml.etree.ElementTree.fromstring(text)
        self.assertEqual(root.find(SVG + "title").text, "Weights along bend")
        self.assertEqual((root.get("width"), root.get("height")), ("760", "460"))
        names = labels(text)
        for word in ("Weights along bend", "layer body \u00b7 girth 0", *harness.FORMS, "weight", "bend", "0", "1", "90"):
            self.assertIn(word, names)

    def test_maps_are_the_default_for_two_axes(self):
        text = self.svg()
        names = labels(text)
        self.assertIn("Weights over bend and girth", names)
        for form in harness.FORMS:
            self.assertIn(form, names)
        self.assertEqual(text, self.svg("--axes", "bend,girth", "--layer", "body"))
        self.assertNotEqual(text, self.svg("--axes", "girth,bend"))

    def test_a_value_chooses_the_slice(self):
        self.assertIn("layer body \u00b7 girth 0.5", labels(self.svg("girth=0.5", "--axes", "bend")))
        self.assertNotEqual(self.svg("girth=0.5", "--axes", "bend"), self.svg("--axes", "bend"))
        self.assertEqual(self.svg("girth=0", "--axes", "bend"), self.svg("--axes", "bend"))
        # An axis with a given value is not plotted.
        self.assertEqual(self.svg("girth=0.5"), self.svg("girth=0.5", "--axes", "bend"))
        self.assertEqual(self.svg("bend=1"), self.svg("bend=1", "--axes", "girth"))
        self.sentence(self.run_tool("plot", "band.glb", "girth=0", "bend=1", "-o", "a.svg"), 1, "leave one of them out")
        self.sentence(self.run_tool("plot", "band.glb", "--axes", "bend,", "-o", "a.svg"), 1, "with a comma between")

    def test_png_has_the_size_that_was_asked_for(self):
        for words, size in (([], (1520, 920)), (["--scale", "1"], (760, 460)),
                            (["--size", "400x300", "--scale", "1.5"], (600, 450))):
            self.succeed("plot", "band.glb", "--axes", "bend", *words, "-o", "a.png")
            data = (self.folder / "a.png").read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">II", data[16:24]), size)

    def test_threads_do_not_matter(self):
        for name in ("a.svg", "a.png"):
            seen = set()
            for threads in (1, 2, 5):
                self.succeed("plot", "band.glb", "--threads", threads, "-q", "-o", name)
                seen.add((self.folder / name).read_bytes())
            self.assertEqual(len(seen), 1)

    def test_quiet(self):
        self.assertEqual(self.succeed("plot", "band.glb", "-q", "-o", "a.svg").out, "")

    def test_names_of_all_kinds(self):
        description = harness.project()
        examples = description["layers"][0]["examples"]
        for example, name in zip(examples, ("a <b> & \"c\"", "\u00e9t\u00e9", "\u4e2d\u6587", "x" * 200)):
            example["name"] = name
        harness.write_project(self.folder, description)
        self.succeed("build", "band.json")
        for words in ([], ["--axes", "bend"]):
            names = labels(self.svg(*words))
            self.assertIn("a <b> & \"c\"", names)
            self.assertIn("\u00e9t\u00e9", names)

    def test_rotations_are_refused_with_a_sentence(self):
        description = harness.project()
        layer = description["layers"][0]
        layer["space"][1] = {"name": "turn", "rotation": "full"}
        for example in layer["examples"]:
            example["at"] = {"bend": example["at"]["bend"], "turn": {"x": 90 * example["at"]["girth"]}}
        layer["pseudo"] = []
        harness.write_project(self.folder, description)
        self.succeed("build", "band.json")
        self.sentence(self.run_tool("plot", "band.glb", "--axes", "turn", "-o", "a.svg"), 1, "'turn' is a rotation")
        self.assertIn("Weights along bend", labels(self.svg()))
        self.assertNotEqual(self.svg(), self.svg("turn=x45"))

    def test_the_first_layer_that_has_the_axes(self):
        self.succeed("demo", "elbow", "-q")
        plot = ("plot", "elbow/elbow.glb", "-o", "p.svg")
        self.assertIn("of layer load over elbow and load", self.succeed(*plot, "--axes", "elbow,load").out)
        self.assertIn("of layer elbow along elbow", self.succeed(*plot).out)
        self.sentence(self.run_tool(*plot, "--axes", "elbow,load", "--layer", "elbow"), 1, "does not depend on the axis")

    def gaussian_elbow(self, **more):
        self.succeed("demo", "elbow", "-q")
        project = self.folder / "elbow" / "elbow.json"
        description = json.loads(project.read_text())
        description["layers"][0].update(weigh={"kind": "gaussian", "falloff": {"elbow": 60}}, **more)
        project.write_text(json.dumps(description))
        self.succeed("build", "elbow/elbow.json", "-q")

    def test_weighers_side_by_side(self):
        self.gaussian_elbow()
        plot = ("plot", "elbow/elbow.glb", "--compare", "gaussian,calm,cardinal")
        line = self.succeed(*plot, "-o", "p.svg").out
        self.assertIn("along elbow, gaussian -0.51 to 1.13, calm -0.05 to 1.00, cardinal -0.16 to 1.00, ", line)
        names = labels((self.folder / "p.svg").read_text())
        for word in ("gaussian", "\u22120.51 to 1.13", "calm", "\u22120.05 to 1.00", "cardinal", "bent_100"):
            self.assertIn(word, names)
        # The order is the one that was asked for; the rig's own falloff of 60 degrees is kept.
        self.assertEqual([name for name in names if name in ("gaussian", "calm", "cardinal")],
                         ["gaussian", "calm", "cardinal"])
        self.assertIn("\u22120.51 to 1.13", labels(self.succeed("plot", "elbow/elbow.glb", "--compare", "gaussian", "-o",
                                                                 "-").out))
        line = self.succeed(*plot, "--layer", "load", "-o", "p.png").out
        self.assertIn("of layer load over elbow and load, gaussian ", line)
        self.assertEqual((self.folder / "p.png").read_bytes()[:4], b"\x89PNG")

    def test_vertices_among_their_own_examples_need_gaussians(self):
        self.gaussian_elbow(participation="moved")
        plot = ("plot", "elbow/elbow.glb", "-o", "p.svg", "--compare")
        self.sentence(self.run_tool(*plot, "gaussian,calm"), 1, "calm cannot weigh the layer 'elbow': choose from gaussian")
        self.assertIn("along elbow, gaussian -", self.succeed(*plot, "gaussian").out)

    def test_kinds_that_cannot_weigh_are_refused(self):
        for kinds, code, words in (("calm,direct", 1, "direct cannot weigh the layer 'body': choose from cardinal, shepard, "
                                    "nearest, gaussian and calm"),
                                   ("convex", 1, "convex cannot weigh the layer 'body': choose from"),
                                   ("calm,calm", 1, "given twice"), ("clam", 2, "not 'clam'"), ("calm,", 2, "not 'calm,'"),
                                   ("", 2, "--compare")):
            self.sentence(self.run_tool("plot", "band.glb", "--compare", kinds, "-o", "a.svg"), code, words)
        self.sentence(self.run_tool("plot", "band.glb", "--axes", "bend", "--compare", "calm,cardinal,shepard", "--size",
                                    "240x180", "-o", "a.svg"), 1, "3 kinds do not fit into 240 by 180 points")


harness.main()
