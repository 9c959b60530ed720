"""exemplar render --turn, --sweep, --motion and --wear: animated PNG files, read back with zlib alone, and refusals."""
import struct

import harness
from apng import Animation
from render_png import unfiltered

SMALL = ["--size", "40x30", "-q"]


def distance(a, b):
    """Largest and mean difference of the codes of two pictures of rows of pixels."""
    codes = [abs(x - y) for p, q in zip(a, b) for u, v in zip(p, q) for x, y in zip(u[:3], v[:3])]
    return max(codes), sum(codes) / len(codes)


class Animate(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")

    def animation(self, *words):
        self.succeed("render", *words, *SMALL, "-o", "a.png")
        made = Animation((self.folder / "a.png").read_bytes())
        self.assertEqual((made.width, made.height, made.loops), (40, 30, 0))
        self.assertEqual(made.rectangles[0], (0, 0, 40, 30))
        return made

    def still(self, name):
        width, _, channels, rows = unfiltered(self.folder / name)
        return [[tuple(row[channels * x:channels * (x + 1)]) for x in range(width)] for row in rows]

    def test_a_turn(self):
        """The frames are the pictures of --turntable: exactly in full colours, nearly in 256."""
        self.succeed("render", "band.glb", "bend=45", "--turntable", "6", *SMALL, "-o", "t.png")
        pictures = [self.still(f"t_00{i + 1}.png") for i in range(6)]
        full = self.animation("band.glb", "bend=45", "--turn", "--frames", "6", "--colours", "full")
        few = self.animation("band.glb", "bend=45", "--turn", "--frames", "6", "--fps", "8")
        self.assertEqual((full.count, full.kind, few.count, few.kind), (6, 6, 6, 3))
        self.assertLessEqual(len(few.palette), 256)
        self.assertEqual(few.delays, [1 / 8] * 6)
        self.assertEqual(full.delays, [1 / 12] * 6)
        for i in range(6):
            self.assertEqual(distance(full.frames[i], pictures[i]), (0, 0), i)
            most, mean = distance(few.frames[i], pictures[i])
            self.assertLess(most, 24, i)
            self.assertLess(mean, 2, i)
        # The still background costs nothing.
        self.assertTrue(all(width * height < 40 * 30 for _, _, width, height in few.rectangles[1:]))

    def test_a_sweep(self):
        """There and back: the pictures come twice, and the middle is at the second value."""
        out = self.succeed("render", "band.glb", "girth=0.5", "--sweep", "bend=0:90", "--frames", "8", "--fps", "12.5",
                           "--size", "40x30", "-o", "a.png").out
        self.assertRegex(out, r"^a.png: 8 frames in 0.64 s, 40 x 30 pixels, [\d.]+ kB, ")
        made = Animation((self.folder / "a.png").read_bytes())
        self.assertEqual(made.delays, [0.08] * 8)
        full = self.animation("band.glb", "girth=0.5", "--sweep", "bend=0:90", "--frames", "8", "--colours", "full")
        for i in range(1, 4):
            self.assertEqual(full.frames[i], full.frames[8 - i])
        self.assertEqual(len({str(frame) for frame in full.frames}), 5)
        other = self.animation("band.glb", "girth=0.5", "--sweep", "bend=90:0", "--frames", "8", "--colours", "full")
        self.assertEqual(other.frames[0], full.frames[4])
        self.assertEqual(other.frames[4], full.frames[0])
        both = self.animation("band.glb", "--sweep", "bend=0:90", "girth=0:1", "--frames", "4", "--colours", "full")
        self.assertNotEqual(both.frames[2], full.frames[4])

    def test_a_motion(self):
        """Poses of a table at their times; values of the call hold in all of them."""
        (self.folder / "bend.csv").write_text("time,bend\n0,0\n1,90\n")
        made = self.animation("band.glb", "--motion", "bend.csv", "--fps", "4", "--colours", "full")
        self.assertEqual((made.count, made.delays[0]), (5, 1 / 4))
        part = self.animation("band.glb", "--motion", "bend.csv", "--fps", "4", "--frames", "1:2")
        self.assertEqual(part.count, 2)
        self.assertEqual(self.animation("band.glb", "--motion", "bend.csv", "--fps", "4", "--start", "0.5").count, 3)
        thick = self.animation("band.glb", "girth=1", "--motion", "bend.csv", "--fps", "4", "--colours", "full")
        self.assertNotEqual(thick.frames[2], made.frames[2])

    def write_walk(self, *places):
        """walk.bvh: the root of the demo arm, at these places."""
        self.succeed("demo", "arm", "-q")
        root = self.succeed("info", "arm/arm.glb").out.split("skeleton")[1].split("\n")[1].split()[1]
        (self.folder / "walk.bvh").write_text(
            f"HIERARCHY\nROOT {root}\n{{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation "
            "Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\n"
            f"Frames: {len(places)}\nFrame Time: 0.05\n" + "".join(f"{x} {y} 0 0 0 0\n" for x, y in places))

    def test_it_follows(self):
        """A rig that walks several times its size: without following it is a speck that crosses the picture."""
        self.write_walk((0, 0), (2, 0), (4, 0))

        def seen(*words):
            made = self.animation("arm/arm.glb", "--motion", "walk.bvh", "--colours", "full", "--background", "white",
                                  "--no-ground", *words)
            return [{x for row in frame for x, pixel in enumerate(row) if min(pixel[:3]) < 250}
                    for frame in made.frames]

        for words in ([], ["--follow"]):
            columns = seen(*words)
            self.assertEqual(len(columns), 3)
            self.assertTrue(all(abs(min(c) - min(columns[0])) <= 1 and len(c) > 8 for c in columns), columns)
        still = seen("--no-follow")
        self.assertLess(max(still[0]), min(still[2]))

    def test_it_stays_on_the_ground(self):
        """A rig that rises and sinks: with --grounded its lowest place stays where it is at first."""
        self.write_walk((0, 0), (0, 0.4), (0, -0.3))

        def lowest(*words):
            made = self.animation("arm/arm.glb", "--motion", "walk.bvh", "--colours", "full", "--parallel", "--pitch", "0",
                                  "--background", "white", "--no-ground", *words)
            return [max(y for y, row in enumerate(frame) if any(min(pixel[:3]) < 200 for pixel in row))
                    for frame in made.frames]
        free, held = lowest(), lowest("--grounded")
        self.assertGreater(max(free) - min(free), 3, free)
        self.assertEqual(max(held) - min(held), 0, held)

    def test_the_camera_shows_every_frame(self):
        """Nothing is cut off in any frame, and the frame is that of all of them."""
        made = self.animation("band.glb", "--sweep", "bend=-90:90", "--frames", "8", "--colours", "full",
                              "--background", "white", "--no-ground")
        widest = 0
        for frame in made.frames:
            form = [[min(pixel[:3]) < 250 for pixel in row] for row in frame]
            self.assertTrue(any(map(any, form)))
            self.assertFalse(any(form[0]) or any(form[-1]) or any(row[0] or row[-1] for row in form))
            widest = max(widest, sum(map(any, form)), sum(any(row[x] for row in form) for x in range(40)))
        self.assertGreater(widest, 20)

    def test_transparent(self):
        made = self.animation("band.glb", "--turn", "--frames", "3", "--background", "transparent")
        self.assertEqual((made.kind, made.blends), (6, [0, 0, 0]))
        self.succeed("render", "band.glb", "--turntable", "3", "--background", "transparent", *SMALL, "-o", "t.png")
        for i in range(3):
            self.assertEqual(made.frames[i], self.still(f"t_00{i + 1}.png"))

    def test_bytes(self):
        """They do not depend on threads, and go to standard output too."""
        words = ["band.glb", "--sweep", "bend=0:90", "--frames", "5", *SMALL]
        self.succeed("render", *words, "--threads", "1", "-o", "a.png")
        one = (self.folder / "a.png").read_bytes()
        self.assertEqual(self.succeed("render", *words, "--threads", "3", "-o", "-").bytes, one)

    def test_refusals(self):
        (self.folder / "bend.csv").write_text("time,bend\n0,0\n1,90\n")
        before = self.listing()
        for words, code, fragment in (
                (["band.glb", "--turn", "--turntable", "3"], 2, "--turn and --turntable exclude each other"),
                (["band.glb", "--turn", "--sweep", "bend=0:1"], 2, "give one of them"),
                (["band.glb", "--sweep", "bend=0:1", "--motion", "bend.csv"], 2, "give one of them"),
                (["band.glb", "--sweep", "bend=0:1", "--show", "displacement"], 2, "--sweep and --show"),
                (["band.glb", "--fps", "10"], 2, "--fps goes with --turn"),
                (["band.glb", "--turn", "--follow"], 2, "--follow goes with --motion"),
                (["band.glb", "--turn", "--grounded"], 2, "--grounded goes with --sweep"),
                (["band.glb", "--turn", "--start", "1"], 2, "--start goes with --motion"),
                (["band.glb", "--motion", "bend.csv", "--follow", "--no-follow"], 2, "exclude each other"),
                (["band.glb", "--turn", "--frames", "1"], 2, "2 to 9999"),
                (["band.glb", "--turn", "--frames", "1:3"], 2, "2 to 9999"),
                (["band.glb", "--turn", "--fps", "0"], 2, "--fps needs"),
                (["band.glb", "--motion", "bend.csv", "--fps", "2000"], 2, "--fps needs"),
                (["band.glb", "--motion", "bend.csv", "--fps", "4", "--frames", "2:9"], 1, "no frame 9"),
                (["band.glb", "--motion", "no.csv"], 1, "no.csv"),
                (["band.glb", "--clip", "walk"], 1, "no clips"),
                (["band.glb", "--turn", "--colours", "many"], 2, "256 or full"),
                (["band.glb", "--turn", "--colours", "256", "--background", "transparent"], 2, "transparent"),
                (["band.glb", "--sweep", "bend=0"], 2, "AXIS=FROM:TO"),
                (["band.glb", "--sweep", "bend=0:1", "girth=1"], 2, "'girth=1'"),
                (["band.glb", "--sweep", "bnd=0:1"], 1, "no axis 'bnd'"),
                (["straight.obj", "--sweep", "bend=0:1"], 1, "is a form"),
                (["straight.obj", "--motion", "bend.csv"], 1, "is a form")):
            with self.subTest(words=words):
                self.sentence(self.run_tool("render", *words, "--size", "40x30", "-o", "x.png"), code, fragment)
        self.sentence(self.run_tool("render", "band.glb", "--turn", "-o", "no/such/x.png", "--frames", "2", *SMALL), 1,
                      "no/such/x.png")
        self.assertEqual(self.listing(), before)


class Clothes(harness.Case):
    """A coat that follows the band, a little before it."""

    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        (self.folder / "bend.csv").write_text("time,bend\n0,0\n1,45\n2,90\n")
        self.succeed("bake", "band.glb", "--motion", "bend.csv", "-o", "band.pc2", "-q")
        data = (self.folder / "band.pc2").read_bytes()
        points = struct.unpack(f"<{(len(data) - 32) // 4}f", data[32:])
        moved = [x + 0.2 * (i % 3 == 2) for i, x in enumerate(points)]
        (self.folder / "coat.pc2").write_bytes(data[:32] + struct.pack(f"<{len(moved)}f", *moved))
        coat = [[x, y, z + 0.2] for x, y, z in harness.REST]
        (self.folder / "coat.obj").write_text(harness.obj_text(coat))
        self.succeed("drive", "learn", "--driver", "band.pc2", "--driver-mesh", "straight.obj", "--driven", "coat.pc2",
                     "--driven-mesh", "coat.obj", "--keys", "3", "-o", "coat.glb", "-q")

    def picture(self, *words):
        self.succeed("render", *words, *SMALL, "-o", "p.png")
        return (self.folder / "p.png").read_bytes()

    def test_clothes_are_drawn_where_the_body_is(self):
        body, both = self.picture("band.glb", "bend=45"), self.picture("band.glb", "bend=45", "--wear", "coat.glb")
        self.assertNotEqual(body, both)
        # Alone, the coat is the body, moved: with the same camera, the same picture.
        alone = self.picture("band.glb", "bend=45", "--wear", "coat.glb", "--hide", "front,back")
        self.assertNotEqual(alone, both)
        self.succeed("pose", "band.glb", "bend=45", "-o", "bent.obj", "-q")
        moved = [line if line[:2] != "v " else "v {} {} {}".format(*line.split()[1:3], float(line.split()[3]) + 0.2)
                 for line in (self.folder / "bent.obj").read_text().splitlines()]
        (self.folder / "moved.obj").write_text("\n".join(moved) + "\n")
        self.assertEqual(self.dark("moved.obj"), self.dark("band.glb", "bend=45", "--wear", "coat.glb", "--hide", "back,front"))

    def dark(self, *words):
        """The pixels that the form covers."""
        self.succeed("render", *words, "--background", "transparent", "--no-ground", "--plain", *SMALL, "-o", "p.png")
        width, _, channels, rows = unfiltered(self.folder / "p.png")
        return [[row[channels * x + 3] > 127 for x in range(width)] for row in rows]

    def test_what_is_hidden_is_hidden_in_comparisons(self):
        words = ["band.glb", "bend=45", "--compare", "body"]
        self.assertNotEqual(self.picture(*words), self.picture(*words, "--hide", "front"))

    def test_they_move(self):
        words = ["render", "band.glb", "--motion", "bend.csv", "--fps", "2", "--wear", "coat.glb", *SMALL]
        self.succeed(*words, "-o", "a.png")
        made = Animation((self.folder / "a.png").read_bytes())
        self.assertEqual(made.count, 5)
        self.assertEqual(len({str(frame) for frame in made.frames}), 5)
        self.succeed(*words, "--threads", "1", "-o", "b.png")
        self.assertEqual((self.folder / "a.png").read_bytes(), (self.folder / "b.png").read_bytes())

    def test_refusals(self):
        self.succeed("demo", "blob", "-q")
        for words, fragment in (
                (["band.glb", "--wear", "band.glb"], "does not follow a driver"),
                (["band.glb", "--wear", "no.glb"], "no.glb"),
                (["blob/blob.glb", "--wear", "coat.glb"], "a driver of 8 vertices"),
                (["straight.obj", "--wear", "coat.glb"], "is a form"),
                (["band.glb", "--hide", "sleeve"], "named 'sleeve'"),
                (["band.glb", "--hide", "front,sleeve"], "named 'sleeve'"),
                (["band.glb", "--hide", "front,back"], "leaves nothing")):
            with self.subTest(words=words):
                self.sentence(self.run_tool("render", *words, *SMALL, "-o", "x.png"), 1, fragment)
        self.assertFalse((self.folder / "x.png").exists())


harness.main()
