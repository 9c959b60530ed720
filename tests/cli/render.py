"""exemplar render: pictures of rigs and forms, and refusals. The contents of pictures are tested in C."""
import harness
from render_png import read_png, unfiltered

SMALL = ["--size", "40x30", "-q"]


class Render(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")

    def picture(self, *words):
        self.succeed("render", *words, *SMALL, "-o", "p.png")
        return (self.folder / "p.png").read_bytes()

    def test_rigs_and_forms(self):
        rest = self.picture("band.glb")
        self.assertEqual(read_png(rest)[:3], (40, 30, 3))
        self.assertNotEqual(self.picture("band.glb", "bend=90"), rest)
        self.assertEqual(self.picture("straight.obj"), rest)
        for name in ("form.ply", "form.glb", "form.gltf"):
            self.succeed("pose", "band.glb", "bend=90", "-o", name, "-q")
            self.assertEqual(read_png(self.picture(name))[:2], (40, 30))

    def test_bytes_do_not_depend_on_threads(self):
        one = self.picture("band.glb", "girth=0.5", "--threads", "1")
        self.assertEqual(self.picture("band.glb", "girth=0.5", "--threads", "3"), one)

    def test_every_option_shows(self):
        plain = self.picture("band.glb", "bend=45")
        seen = {plain}
        for words in (["--yaw", "80"], ["--pitch", "-20"], ["--angle", "60"], ["--parallel"], ["--zoom", "0.5"],
                      ["--wireframe"], ["--no-ground"], ["--background", "white"], ["--background", "transparent"],
                      ["--background", "grey"], ["--occlusion", "0"], ["--show", "displacement"],
                      ["--show", "example:body/thick"], ["--show", "difference", "--with", "both.obj"],
                      ["--show", "displacement", "--range", "0:9"], ["--yaw", "200", "--backfaces"]):
            bytes = self.picture("band.glb", "bend=45", *words)
            self.assertNotIn(bytes, seen, words)
            seen.add(bytes)
        self.assertEqual(read_png(self.picture("band.glb", "--background", "transparent"))[2], 4)
        self.assertNotEqual(self.picture("straight.obj", "--up", "z"), self.picture("straight.obj"))

    def test_it_compares_with_and_without_a_layer(self):
        """Two pictures in one, by one camera: without the layer, and what 'render' draws."""
        def rows(*words):
            self.succeed("render", "band.glb", *words, "-q", "-o", "p.png")
            return [bytes(row) for row in unfiltered(self.folder / "p.png")[3]]
        half, gap, fit = 40 * 3, 2 * 3, ["--fit", "example:body/thick"]
        alone = rows("bend=45", "--size", "40x30", *fit)
        wide = rows("bend=45", "--compare", "body", "--size", "82x30", *fit)
        self.assertEqual([row[half + gap:] for row in wide], alone)
        self.assertEqual({row[half:half + gap] for row in wide}, {b"\xff" * gap})
        self.assertNotEqual([row[:half] for row in wide], alone)
        tall = rows("bend=45", "--compare", "body", "--size", "30x82")
        self.assertEqual(tall[40:42], [b"\xff" * 90] * 2)
        self.assertNotEqual(tall[:40], tall[42:])
        # A layer that does nothing makes no difference.
        rest = rows("--compare", "body", "--size", "30x82")
        self.assertEqual(rest[:40], rest[42:])
        self.succeed("render", "band.glb", "--compare", "body", "--sweep", "bend=0:90", "--frames", "4", *SMALL,
                     "-o", "moves.png")
        self.assertIn(b"acTL", (self.folder / "moves.png").read_bytes())
        clear = rows("bend=45", "--compare", "body", "--size", "82x30", "--background", "transparent")
        self.assertEqual({row[40 * 4:42 * 4] for row in clear}, {bytes(8)})
        self.sentence(self.run_tool("render", "band.glb", "--compare", "body", "--mute", "body", "-o", "x.png"), 1,
                      "nothing to compare")
        self.sentence(self.run_tool("render", "band.glb", "--compare", "body", "--size", "3x3", "-o", "x.png"), 2,
                      "4 pixels")
        self.sentence(self.run_tool("render", "straight.obj", "--compare", "body", "-o", "x.png"), 1, "is a form")
        self.sentence(self.run_tool("render", "band.glb", "--compare", "boddy", "-o", "x.png"), 1, "'body'")
        self.sentence(self.run_tool("render", "band.glb", "--compare", "body", "--show", "displacement", "-o", "x.png"),
                      2, "exclude each other")

    def test_a_texture(self):
        self.succeed("render", "band.glb", *SMALL, "-o", "t.png")
        self.assertNotEqual(self.picture("band.glb", "--texture", "t.png"), self.picture("band.glb"))
        self.assertEqual(self.picture("band.glb", "--texture", "t.png", "--plain"), self.picture("band.glb"))
        (self.folder / "bare.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.sentence(self.run_tool("render", "bare.obj", "--texture", "t.png", "-o", "x.png"), 1,
                      "no texture coordinates")
        before = (self.folder / "t.png").read_bytes()
        (self.folder / "u_002.png").write_bytes(before)
        for texture, words in (("t.png", ["-o", "t.png"]), ("t.png", ["--turn", "-o", "./t.png"]),
                               ("u_002.png", ["--turntable", "2", "-o", "u.png"])):
            self.sentence(self.run_tool("render", "band.glb", "--texture", texture, *words, *SMALL), 2, "is also an input")
            self.assertEqual((self.folder / texture).read_bytes(), before)

    def test_it_frames_what_is_named(self):
        """A group of a form, and what an example moves."""
        text = (self.folder / "straight.obj").read_text()
        faces = [line for line in text.splitlines() if line.startswith("f ")]
        other = [line for line in text.splitlines() if not line.startswith("f ")]
        half = len(faces) // 2
        (self.folder / "grouped.obj").write_text(
            "\n".join(other + ["g low"] + faces[:half] + ["g high"] + faces[half:]) + "\n")
        whole = self.picture("grouped.obj")
        low, high = self.picture("grouped.obj", "--around", "low"), self.picture("grouped.obj", "--around", "high")
        self.assertEqual(len({whole, low, high}), 3)
        fit = self.picture("band.glb", "--fit", "example:thick")
        self.assertEqual(self.picture("band.glb", "--fit", "example:body/thick"), fit)
        # Without a pose the rig is at the example; with one it is there.
        self.assertEqual(self.picture("band.glb", "girth=1", "bend=0", "--fit", "example:thick"), fit)
        self.assertNotEqual(self.picture("band.glb", "girth=0", "--fit", "example:thick"), fit)

    def test_it_looks_at_a_joint(self):
        """The elbow of the demo: its bones leave the picture on two sides, and the form fills more of it."""
        self.succeed("demo", "elbow", "-q")

        def share(*words):
            self.succeed("render", "elbow/elbow.glb", "elbow=90", "--yaw", "0", "--pitch", "0", "--size", "60x60",
                         "--background", "white", "--no-ground", "-q", "-o", "j.png", *words)
            width, height, channels, rows = unfiltered(self.folder / "j.png")
            form = [[row[x * channels] < 250 for x in range(width)] for row in rows]
            return (sum(map(sum, form)) / (width * height), any(form[0]), any(row[0] for row in form),
                    any(form[-1]), any(row[-1] for row in form))

        self.assertLess(share()[0], 0.25)
        amount, top, left, bottom, right = share("--look-at", "forearm")
        self.assertGreater(amount, 0.4)
        self.assertEqual((top, left, bottom, right), (True, True, False, False))
        self.assertGreater(share("--look-at", "hand")[0], 0.12)
        self.assertGreater(share("--look-at", "shoulder")[0], 0.3)
        self.assertEqual(share("--look-at", "elbow"), share("--look-at", "forearm"))  # the axis that reads that joint
        self.sentence(self.run_tool("render", "elbow/elbow.glb", "--look-at", "qqqq", "-o", "p.png"), 1,
                      "no joint 'qqqq'; its joints are: shoulder, forearm, hand")
        self.sentence(self.run_tool("render", "elbow/elbow.glb", "--look-at", "load", "-o", "p.png"), 1,
                      "the axis 'load' reads no joint: --look-at needs one of shoulder, forearm, hand")
        for size in ("60", "60X60", "60*60"):
            self.succeed("render", "elbow/elbow.glb", "--size", size, "-q", "-o", "size.png")
            self.assertEqual((self.folder / "size.png").read_bytes()[16:24], bytes([0, 0, 0, 60, 0, 0, 0, 60]))

    def test_standard_output(self):
        self.assertEqual(self.succeed("render", "band.glb", *SMALL, "-o", "-").bytes, self.picture("band.glb"))

    def test_a_turn(self):
        out = self.succeed("render", "band.glb", "--turntable", "3", "--size", "40x30", "-o", "t.png").out
        self.assertRegex(out, r"^t.png: 3 pictures, 40 x 30 pixels, ")
        pictures = [(self.folder / f"t_00{i + 1}.png").read_bytes() for i in range(3)]
        self.assertEqual(len(set(pictures)), 3)
        self.assertFalse((self.folder / "t.png").exists())
        self.succeed("render", "band.glb", "--turntable", "1", "--yaw", "145", *SMALL, "-o", "u.png")
        self.assertEqual((self.folder / "u_001.png").read_bytes(), pictures[1])

    def test_refusals(self):
        (self.folder / "point.obj").write_text("v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n")
        (self.folder / "bare.obj").write_text("v 1 1 1\nv 2 1 1\nv 1 2 1\n")
        before = self.listing()
        for words, code, fragment in (
                (["band.glb"], 2, "-o"),
                (["band.glb", "-o", "p.jpg"], 2, ".png"),
                (["band.glb", "bend", "-o", "p.png"], 2, "axis=value"),
                (["band.glb", "bnd=1", "-o", "p.png"], 1, "did you mean 'bend'"),
                (["straight.obj", "bend=1", "-o", "p.png"], 1, "is a form"),
                (["straight.obj", "--level", "1", "-o", "p.png"], 1, "--level"),
                (["straight.obj", "--show", "displacement", "-o", "p.png"], 1, "difference"),
                (["band.json", "-o", "p.png"], 1, "exemplar build"),
                (["missing.obj", "-o", "p.png"], 1, "missing.obj"),
                (["band.glb", "--level", "2", "-o", "p.png"], 1, "no level '2'"),
                (["band.glb", "--size", "0x10", "-o", "p.png"], 2, "0x10"),
                (["band.glb", "--size", "100y", "-o", "p.png"], 2, "800x600"),
                (["band.glb", "--yaw", "left", "-o", "p.png"], 2, "'left'"),
                (["band.glb", "--pitch", "91", "-o", "p.png"], 2, "-90 to 90"),
                (["band.glb", "--zoom", "0", "-o", "p.png"], 2, "--zoom"),
                (["band.glb", "--occlusion", "17", "-o", "p.png"], 2, "0 to 16"),
                (["band.glb", "--occlusion", "1.5", "-o", "p.png"], 2, "whole number"),
                (["band.glb", "--flat", "--smooth", "-o", "p.png"], 2, "--smooth"),
                (["band.glb", "--up", "z", "-o", "p.png"], 1, "--up goes with forms"),
                (["band.glb", "--turntable", "4", "-o", "/dev/null"], 2, "must end in .png"),
                (["bare.obj", "-o", "p.png"], 1, "'bare.obj' has no faces to draw"),
                (["point.obj", "-o", "p.png"], 1, "point.obj: there is nothing to frame"),
                (["band.glb", "--background", "pink", "-o", "p.png"], 2, "transparent"),
                (["band.glb", "--angle", "30", "--parallel", "-o", "p.png"], 2, "--parallel"),
                (["band.glb", "--up", "x", "-o", "p.png"], 2, "--up"),
                (["band.glb", "--show", "hope", "-o", "p.png"], 2, "'hope'"),
                (["band.glb", "--show", "difference", "-o", "p.png"], 2, "--with"),
                (["band.glb", "--with", "bent.obj", "-o", "p.png"], 2, "--show difference"),
                (["band.glb", "--show", "skin:elbow", "-o", "p.png"], 1, "no skeleton"),
                (["band.glb", "--look-at", "elbow", "-o", "p.png"], 1, "no skeleton"),
                (["straight.obj", "--look-at", "elbow", "-o", "p.png"], 1, "a form has no joints"),
                (["band.glb", "--around", "arm", "-o", "p.png"], 1, "arm"),
                (["band.glb", "--around", "front", "--hide", "front", "-o", "p.png"], 1,
                 "'front' is hidden (--hide): it cannot fill the picture"),
                (["band.glb", "--around", "frnt", "--hide", "back", "-o", "p.png"], 1, "did you mean 'front'?"),
                (["band.glb", "--fit", "thick", "-o", "p.png"], 2, "example:NAME"),
                (["band.glb", "--fit", "example:fat", "-o", "p.png"], 1, "'fat'"),
                (["straight.obj", "--fit", "example:fat", "-o", "p.png"], 1, "a form has no examples"),
                (["band.glb", "--fit", "example:thick", "--around", "arm", "-o", "p.png"], 2, "exclude each other"),
                (["band.glb", "--show", "example:body/fat", "-o", "p.png"], 1, "'body/fat'"),
                (["band.glb", "--range", "0:1", "-o", "p.png"], 2, "--show"),
                (["band.glb", "--show", "displacement", "--range", "1:0", "-o", "p.png"], 2, "'1:0'"),
                (["band.glb", "--turntable", "4", "-o", "-"], 2, "several files"),
                (["band.glb", "-o", "no/such/p.png"], 1, "no/such/p.png")):
            with self.subTest(words=words):
                self.sentence(self.run_tool("render", *words), code, fragment)
        self.assertEqual(self.listing(), before)


harness.main()
