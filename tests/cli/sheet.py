"""exemplar sheet: a picture of the promised size, slices, always the same bytes, and its messages about examples."""
import json
import struct

import harness


class Sheet(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json")

    def size(self, name):
        data = (self.folder / name).read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        return struct.unpack(">II", data[16:24])

    def test_what_it_says(self):
        line = self.succeed("sheet", "band.glb", "--axes", "bend,girth", "--grid", "3x2", "--cell", "48", "-o", "a.png").out
        self.assertRegex(line, r"^a.png: 20 forms \(5 by 4\), 4 examples, 1 pseudo-example, \d+ x \d+ pixels, ")
        width, height = self.size("a.png")
        self.assertIn(f"{width} x {height} pixels", line)
        line = self.succeed("sheet", "band.glb", "--axes", "bend", "--grid", "4", "--beyond", "0", "--cell", "48", "-o",
                            "a.png").out
        self.assertIn("4 forms (4 by 1), 2 examples", line)

    def test_beyond_has_two_axes_and_two_ends(self):
        for beyond, shape in (("0", "2 by 2"), ("1", "4 by 4"), ("0,1", "2 by 4"), ("0:2", "4 by 4"), ("0:1,2:0", "3 by 4")):
            out = self.run_tool("sheet", "band.glb", "--axes", "bend,girth", "--grid", "2x2", "--beyond", beyond, "--cell",
                               "48", "-o", "a.png").out
            self.assertIn(f"({shape})", out, beyond)

    def test_a_value_chooses_the_slice_and_threads_do_not_matter(self):
        seen = set()
        for words in (["--threads", "1"], ["--threads", "3"], ["girth=0"], ["girth=0.7"]):
            self.succeed("sheet", "band.glb", "--axes", "bend", "--cell", "48", *words, "-q", "-o", "a.png")
            seen.add((self.folder / "a.png").read_bytes())
        self.assertEqual(len(seen), 2)

    def test_it_frames_what_is_named(self):
        self.succeed("demo", "elbow", "-q")
        seen = set()
        for words in ([], ["--look-at", "forearm"], ["--look-at", "hand"], ["--fit", "example:bent_100"]):
            self.succeed("sheet", "elbow/elbow.glb", "--axes", "elbow", "--grid", "3", "--cell", "48", "-q", "-o",
                         "a.png", *words)
            seen.add((self.folder / "a.png").read_bytes())
        self.assertEqual(len(seen), 4)
        self.sentence(self.run_tool("sheet", "elbow/elbow.glb", "--axes", "elbow", "--look-at", "foream", "-o", "a.png"),
                      1, "did you mean 'forearm'")

    def test_standard_output(self):
        outcome = self.run_tool("sheet", "band.glb", "--axes", "bend", "--cell", "48", "-q", "-o", "-")
        self.assertEqual((outcome.code, outcome.err, outcome.bytes[:4]), (0, "", b"\x89PNG"))

    def test_what_is_not_shown_is_said(self):
        outcome = self.run_tool("sheet", "band.glb", "--axes", "bend,girth", "--grid", "2x2", "--cell", "48", "-o", "a.png")
        self.assertEqual(outcome.code, 0)
        self.assertIn("1 example of this slice not shown", outcome.err)

    def test_weights_outside_the_bound_are_said(self):
        self.succeed("demo", "elbow", "-q")
        sheet = ("sheet", "elbow/elbow.glb", "--axes", "elbow", "--grid", "6", "--beyond", "0", "--cell", "48", "-o", "a.png")
        project = self.folder / "elbow" / "elbow.json"
        text = project.read_text()
        outcomes = {}
        for kind in ("gaussian", "calm"):
            description = json.loads(text)
            layer = description["layers"][0]
            layer["weigh"] = {"kind": "gaussian", "falloff": {"elbow": 60}} if kind == "gaussian" else {"kind": "calm"}
            project.write_text(json.dumps(description))
            self.succeed("build", "elbow/elbow.json", "-o", "elbow/elbow.glb", "-q")
            outcomes[kind] = self.succeed(*sheet).out.splitlines()
            height = self.size("a.png")[1]
            outcomes[kind].append(height)
        line = outcomes["gaussian"][1]
        self.assertRegex(line, r"^2 forms have a weight below -0\.1 or above 1\.1; the farthest is -0\.50 of bent_100 at "
                               r"elbow=28$")
        weights = self.succeed("weights", "elbow/elbow.glb", "elbow=28").out
        self.assertNotIn("-0.50", weights)  # the rig is calm now
        self.assertEqual(len(outcomes["calm"]), 2)
        project.write_text(text)
        self.succeed("build", "elbow/elbow.json", "-o", "elbow/elbow.glb", "-q")
        self.succeed(*sheet, "--no-marks", "-q")
        self.assertEqual(self.size("a.png")[1], outcomes["calm"][-1])
        self.assertGreater(outcomes["gaussian"][-1], outcomes["calm"][-1])

    def test_wrong_words(self):
        for words, code, fragment in (
                (["-o", "a.png"], 2, "--axes"),
                (["--axes", "bend"], 2, "-o is required"),
                (["--axes", "bend", "-o", "a.svg"], 2, "does not end in .png"),
                (["--axes", "bend", "-o", "a.png", "--grid", "1x3"], 2, "--grid needs two numbers"),
                (["--axes", "bend", "-o", "a.png", "--grid", "3x"], 2, "--grid needs two numbers"),
                (["--axes", "bend", "-o", "a.png", "--grid", "3x3x3"], 2, "--grid needs two numbers"),
                (["--axes", "bend", "-o", "a.png", "--beyond", "-1"], 2, "--beyond needs a number"),
                (["--axes", "bend", "-o", "a.png", "--beyond", "1,"], 2, "--beyond needs a number"),
                (["--axes", "bend", "-o", "a.png", "--beyond", "1:2:3"], 2, "--beyond needs a number"),
                (["--axes", "bend", "-o", "a.png", "--cell", "9"], 2, "--cell needs a whole number from 48"),
                (["--axes", "bend", "-o", "a.png", "--pitch", "100"], 2, "--pitch needs a number"),
                (["--axes", "bend", "-o", "a.png", "girth"], 2, "axis=value"),
                (["--axes", "bnd", "-o", "a.png"], 1, "did you mean 'bend'"),
                (["--axes", "bend,girht", "-o", "a.png"], 1, "did you mean 'girth'"),
                (["--axes", "bend,bend", "-o", "a.png"], 1, "given twice"),
                (["--axes", "bend", "bend=3", "-o", "a.png"], 1, "which is an axis of the sheet"),
                (["--axes", "bend", "-o", "a.png", "--textures"], 1, "no texture 'base_color'"),
                (["--axes", "bend,girth", "-o", "a.png", "--grid", "90x90"], 1, "too large: at most 1024"),
                (["--axes", "bend", "-o", "none/a.png", "--cell", "48"], 1, "none/a.png")):
            with self.subTest(words=words):
                self.sentence(self.run_tool("sheet", "band.glb", *words), code, fragment)
                self.assertFalse((self.folder / "a.png").exists())


harness.main()
