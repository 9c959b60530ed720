"""A bar that bends and its sleeve: keys learned from caches, applied to others, reported on, added and removed. Then
all refusals of learn and apply: one sentence, and nothing written."""
import math
import struct
import subprocess
import xml.dom.minidom

import harness

RINGS, SIDES, SLEEVE_RINGS, SLEEVE_SIDES = 9, 6, 7, 9
FRAMES = 40


def place(bend, twist, move, s, angle, distance):
    a, turned = bend * s, angle + s * twist
    y, z = distance * math.cos(turned), distance * math.sin(turned)
    x0, y0 = (s, 0) if abs(bend) < 1e-9 else (math.sin(a) / bend, (1 - math.cos(a)) / bend)
    x, y = x0 - y * math.sin(a), y0 + y * math.cos(a)
    turn = 0.5 * move
    return [math.cos(turn) * x + math.sin(turn) * z + move, y, -math.sin(turn) * x + math.cos(turn) * z]


def bar(bend, twist, move):
    points = [place(bend, twist, move, r / (RINGS - 1), 2 * math.pi * k / SIDES, 0.1)
              for r in range(RINGS) for k in range(SIDES)]
    return points + [place(bend, twist, move, end, 0, 0) for end in (0, 1)]


def sleeve(bend, twist, move, wrinkle=1):
    points = []
    for r in range(SLEEVE_RINGS):
        for k in range(SLEEVE_SIDES):
            s, angle = 0.15 + 0.7 * r / (SLEEVE_RINGS - 1), 2 * math.pi * (k + 0.3) / SLEEVE_SIDES
            fold = 0.02 * math.sin(bend / 2) ** 2 * (1 + math.cos(angle)) * (1 + math.cos(12 * s)) / 2
            points.append(place(bend, twist, move, s, angle, 0.115 + wrinkle * fold))
    return points


def tube(points, rings, sides, caps, groups):
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in points]
    for r in range(rings - 1):
        if r in (0, rings // 2):
            lines.append(f"g {groups[r > 0]}")
        lines += [f"f {r * sides + k + 1} {r * sides + (k + 1) % sides + 1} {(r + 1) * sides + (k + 1) % sides + 1} "
                  f"{(r + 1) * sides + k + 1}" for k in range(sides)]
    if caps:
        last = (rings - 1) * sides
        lines += [f"f {rings * sides + 1} {(k + 1) % sides + 1} {k + 1}" for k in range(sides)]
        lines += [f"f {rings * sides + 2} {last + k + 1} {last + (k + 1) % sides + 1}" for k in range(sides)]
    return "\n".join(lines) + "\n"


def motion(seed, frame):
    t = frame / FRAMES
    return (0.9 * (1 - math.cos(2 * math.pi * t + seed)), 0.5 * math.sin(4 * math.pi * t + 2 * seed), t)


def pc2(frames, start=0.0, step=0.04):
    flat = [number for frame in frames for point in frame for number in point]
    return (struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(frames[0]), start, step, len(frames)) +
            struct.pack(f"<{len(flat)}f", *flat))


def read_pc2(data):
    _, _, vertices, _, _, frames = struct.unpack_from("<12siiffi", data)
    numbers = struct.unpack_from(f"<{3 * vertices * frames}f", data, 32)
    return [[list(numbers[3 * (f * vertices + v):3 * (f * vertices + v) + 3]) for v in range(vertices)]
            for f in range(frames)]


def apart(one, other):
    return max(math.dist(p, q) for p, q in zip(one, other))


class Driven(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("bar.obj", tube(bar(0, 0, 0), RINGS, SIDES, True, ["low", "high"]))
        self.write("sleeve.obj", tube(sleeve(0, 0, 0), SLEEVE_RINGS, SLEEVE_SIDES, False, ["cuff", "arm"]))
        for name, seed in (("a", 0.3), ("b", 1.0)):
            self.write(f"bar_{name}.pc2", pc2([bar(*motion(seed, f)) for f in range(FRAMES)]))
            self.write(f"sleeve_{name}.pc2", pc2([sleeve(*motion(seed, f)) for f in range(FRAMES)]))

    def write(self, name, data):
        (self.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())

    def learn(self, *words, output="s.glb"):
        return self.succeed("drive", "learn", *self.pair(), "-o", output, *words)

    def pair(self, driver="bar_a.pc2", driven="sleeve_a.pc2"):
        return ["--driver", driver, "--driver-mesh", "bar.obj", "--driven", driven, "--driven-mesh", "sleeve.obj"]

    def frames(self, name):
        return read_pc2((self.folder / name).read_bytes())


class Learning(Driven):
    def test_a_rig_of_keys(self):
        line = self.learn("--keys", "5").out
        self.assertRegex(line, r"^s\.glb: 5 keys of 63 vertices, \d+ moving frames?, residual (none|keys), ")
        self.assertRegex(line, r"\nkeys at frames( \d+){5}\n")
        self.assertRegex(line, r"mean error over the references [\d.]+ mm; of the nearest key alone [\d.]+ mm\n$")
        told = self.learn("--keys", "5", "--json", "--threads", "2", output="t.glb").json()
        self.assertEqual(len(told["keys"]), 5)
        self.assertLess(told["error"], 0.5 * told["nearest"])
        self.assertEqual((self.folder / "s.glb").read_bytes(), (self.folder / "t.glb").read_bytes())
        keys = self.succeed("drive", "keys", "s.glb", "--json").json()
        self.assertEqual([key["name"] for key in keys["keys"]], [key["name"] for key in told["keys"]])
        self.assertEqual(keys["driver_vertices"], RINGS * SIDES + 2)
        self.assertTrue(all(key["distance"] > 0.001 for key in keys["keys"]))
        self.assertIn(told["keys"][0]["name"], self.succeed("drive", "keys", "s.glb").out)

    def test_by_hand_and_until(self):
        frames = [key["frame"] for key in self.learn("--at", "8,4", "--json").json()["keys"]]
        self.assertEqual(frames, [8, 4])
        told = self.learn("--keys", "30", "--choose", "worst", "--until", "4mm", "--frames", "1", "--json").json()
        self.assertLess(len(told["keys"]), 20)
        self.assertLess(told["error"], 0.004)
        self.assertEqual(told["frames"], 1)
        outcome = self.run_tool("drive", "learn", *self.pair(), "-o", "s.glb", "--keys", "2", "--until", "0.0001")
        self.sentence(outcome, 0, "2 keys do not reach a mean error below 0.10 mm")

    def test_options_are_taken(self):
        told = self.learn("--keys", "4", "--paper", "--json").json()
        self.assertEqual((told["frames"], told["residual"]), (1, "closest"))
        self.learn("--keys", "4", "--frame", "group:high", "--weights", "group:high", "--no-push", "--thickness", "3mm")
        self.learn("--keys", "4", "--frame", "none", "--residual", "none")
        self.write("w.txt", "".join(f"{v} 0.5\n" for v in range(30)))
        self.learn("--keys", "4", "--weights", "w.txt", "--frames", "4", "--residual", "keys")

    def test_databases(self):
        self.write("loose.pc2", pc2([sleeve(*motion(0.3, f), wrinkle=3) for f in range(FRAMES)]))
        pairs = ["--driver", "bar_a.pc2", "--driver", "bar_a.pc2", "--driven", "sleeve_a.pc2", "--driven", "loose.pc2"]
        meshes = ["--driver-mesh", "bar.obj", "--driven-mesh", "sleeve.obj", "-o", "s.glb"]
        self.succeed("drive", "learn", *pairs, *meshes, "--database", "loose=1", "--database", "loose=3", "--keys", "4",
                     "--no-push")
        keys = self.succeed("drive", "keys", "s.glb", "--json").json()
        self.assertEqual(keys["database"], "loose")
        self.assertEqual([key["database"] for key in keys["keys"]], [1] * 4 + [3] * 4)
        for value, truth in ((1, "sleeve_a.pc2"), (3, "loose.pc2")):
            told = self.succeed("drive", "report", "s.glb", "--driver", "bar_a.pc2", "--truth", truth, "--database",
                                f"loose={value}", "--json").json()
            self.assertLess(told["mean"], 0.005)
            self.assertAlmostEqual(sum(told["frames"][9]["weights"]), 1, places=6)
        outcome = self.run_tool("drive", "report", "s.glb", "--driver", "bar_a.pc2", "--database", "tight=1")
        self.sentence(outcome, 1, "no databases along 'tight'")
        outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "bar_a.pc2", "--database", "loose", "-o",
                                "o.pc2")
        self.sentence(outcome, 2, "NAME=NUMBER")
        outcome = self.run_tool("drive", "add", "s.glb", "--driver", "bar_b.pc2", "--driven", "sleeve_b.pc2", "--at",
                                "3")
        self.sentence(outcome, 1, "give this key's with --database loose=VALUE")
        outcome = self.run_tool("drive", "learn", *pairs, *meshes, "--database", "loose=1", "--keys", "4")
        self.sentence(outcome, 2, "once for each of the 2 pairs")

    def test_numbered_files(self):
        for f in range(8):
            self.write(f"bar_{f + 1:04}.obj", tube(bar(*motion(0, 5 * f)), RINGS, SIDES, True, ["low", "high"]))
            self.write(f"sl_{f + 1:04}.obj",
                       tube(sleeve(*motion(0, 5 * f)), SLEEVE_RINGS, SLEEVE_SIDES, False, ["cuff", "arm"]))
        self.succeed("drive", "learn", "--driver", "bar_0001.obj", "--driven", "sl_0001.obj", "--keys", "3", "-o",
                     "s.glb")
        self.succeed("drive", "apply", "s.glb", "--driver", "bar_0003.obj", "-o", "o.obj")
        self.assertTrue((self.folder / "o_0008.obj").exists())
        outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "bar_0003.obj", "-o", "o.obj")
        self.sentence(outcome, 1, "o_0001.obj' exists already", "--force")

    def write_numbered(self, names, numbers=range(1, 9)):
        """Numbered files of both; names are patterns for body and sleeve."""
        for f, number in enumerate(numbers):
            for which, name in enumerate(names):
                form = sleeve if which else bar
                shape = (SLEEVE_RINGS, SLEEVE_SIDES, False, ["cuff", "arm"]) if which else (RINGS, SIDES, True,
                                                                                          ["low", "high"])
                self.write(name.format(number), tube(form(*motion(0, 5 * f)), *shape))

    def test_numbered_files_of_other_programs(self):
        self.write_numbered(["my body{}.obj", "cloth_v2.{:03}.obj"])
        for driver, driven in (("my body.obj", "cloth_v2.obj"), ("my body3.obj", "cloth_v2.001.obj")):
            with self.subTest(driver=driver):
                told = self.succeed("drive", "learn", "--driver", driver, "--driven", driven, "--keys", "3", "--json",
                                    "-o", "s.glb").json()
                self.assertEqual(len(told["keys"]), 3)
        self.succeed("drive", "apply", "s.glb", "--driver", "my body.obj", "-o", "o.obj")
        self.assertTrue((self.folder / "o_0008.obj").exists())
        self.write("my body-1.obj", "v 0 0 0\n")
        outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "my body.obj", "-o", "p.obj")
        self.sentence(outcome, 1, "'my body.obj' may mean 'my body1.obj' and 'my body-1.obj'", "name one of the files")

    def test_numbered_files_without_partner(self):
        self.write_numbered(["b_{:04}.obj", "s_{:04}.obj"], [1, 2, 3, 4, 6, 7])
        self.write_numbered(["d_{:04}.obj", "later_{:04}.obj"], [3, 4, 5, 6, 7, 8])
        learn = ["drive", "learn", "--keys", "3", "-o", "s.glb", "--driver", "b.obj", "--driven"]
        self.succeed(*learn, "s.obj")
        before = self.listing()
        self.sentence(self.run_tool(*learn, "later.obj"), 1, "'b_0001.obj' has no partner",
                      "'later.obj' has no frame 1", "same number", "another folder")
        (self.folder / "s_0003.obj").rename(self.folder / "s_0005.obj")  # as many files, another gap
        fragments = ("'b_0003.obj' has no partner, because 's.obj' has no frame 3",)
        before = self.listing()
        self.sentence(self.run_tool(*learn, "s.obj"), 1, *fragments)
        self.sentence(self.run_tool("drive", "report", "s.glb", "--driver", "b.obj", "--truth", "s.obj"), 1, *fragments)
        self.sentence(self.run_tool("drive", "add", "s.glb", "--driver", "b.obj", "--driven", "s.obj", "--at", "2"), 1,
                      *fragments)
        (self.folder / "b_0003.obj").rename(self.folder / "b_0008.obj")
        self.sentence(self.run_tool(*learn, "s.obj"), 1, "'s_0005.obj' has no partner, because 'b.obj' has no frame 5")
        self.assertEqual(len(self.listing()), len(before))

    def test_a_sleeve_in_another_unit(self):
        """Centimetres and millimetres on metres, and metres on centimetres: refused, and learned with --driven-scale."""
        self.learn("--keys", "4", "--frames", "1", output="right.glb")
        right = self.succeed("drive", "report", "right.glb", "--driver", "bar_b.pc2", "--truth", "sleeve_b.pc2",
                             "--json").json()["mean"]
        for factor, scale, fragment in ((100, "0.01", "about 100 times too large"),
                                        (1000, "0.001", "about 1000 times too large"),
                                        (0.1, "10", "about 10 times too small")):
            with self.subTest(factor=factor):
                scaled = lambda points: [[factor * x for x in point] for point in points]
                for name, seed in (("a", 0.3), ("b", 1.0)):
                    self.write(f"cm_{name}.pc2", pc2([scaled(sleeve(*motion(seed, f))) for f in range(FRAMES)]))
                self.write("cm.obj", tube(scaled(sleeve(0, 0, 0)), SLEEVE_RINGS, SLEEVE_SIDES, False, ["cuff", "arm"]))
                learn = ["drive", "learn", "--driver", "bar_a.pc2", "--driver-mesh", "bar.obj", "--driven", "cm_a.pc2",
                         "--driven-mesh", "cm.obj", "--keys", "4", "--frames", "1", "-o", "cm.glb"]
                outcome = self.run_tool(*learn)
                self.sentence(outcome, 1, "'cm_a.pc2' is " + fragment + " for 'bar_a.pc2'",
                              f"multiply its positions by {scale}", "--driven-scale", "--force")
                self.assertFalse((self.folder / "cm.glb").exists())
                self.succeed(*learn, "--driven-scale", scale)
                report = ["drive", "report", "cm.glb", "--driver", "bar_b.pc2", "--truth", "cm_b.pc2", "--json"]
                self.assertAlmostEqual(self.succeed(*report, "--driven-scale", scale).json()["mean"], right, delta=1e-5)
                self.assertGreater(self.succeed(*report).json()["mean"], 0.1)
                self.succeed("drive", "apply", "cm.glb", "--driver", "bar_b.pc2", "-o", "o.pc2", "--driven-scale", scale)
                self.succeed("drive", "apply", "right.glb", "--driver", "bar_b.pc2", "-o", "r.pc2")
                for made, wanted in zip(self.frames("o.pc2"), self.frames("r.pc2")):
                    self.assertLess(apart(made, scaled(wanted)), 1e-4 * factor)
                self.succeed("drive", "add", "cm.glb", "--driver", "bar_b.pc2", "--driven", "cm_b.pc2", "--at", "18",
                             "--name", "more", "--driven-scale", scale)
                self.succeed("drive", "apply", "cm.glb", "--driver", "bar_b.pc2", "-o", "o.pc2", "--no-settle", "-q")
                self.assertLess(apart(self.frames("o.pc2")[17], self.frames("sleeve_b.pc2")[17]), 1e-3)
                (self.folder / "cm.glb").unlink()
        self.succeed(*learn, "--force", "--no-push")

    def test_a_sleeve_elsewhere(self):
        self.write("aside.pc2", pc2([[[x, y + 3, z] for x, y, z in sleeve(*motion(0.3, f))] for f in range(FRAMES)]))
        words = ["drive", "learn", *self.pair("bar_a.pc2", "aside.pc2"), "--keys", "3", "-o", "s.glb"]
        self.sentence(self.run_tool(*words), 1, "'aside.pc2' is nowhere near 'bar_a.pc2'", "export both from one scene",
                      "--force")
        self.succeed(*words, "--force")


class Applying(Driven):
    def test_keys_come_back_and_frames_follow(self):
        told = self.learn("--keys", "6", "--no-push", "--json").json()
        line = self.succeed("drive", "apply", "s.glb", "--driver", "bar_a.pc2", "-o", "o.pc2").out
        self.assertRegex(line, r"^o\.pc2: 40 frames, 30 kB, ")
        made, right = self.frames("o.pc2"), self.frames("sleeve_a.pc2")
        for key in told["keys"]:
            self.assertLess(apart(made[key["frame"] - 1], right[key["frame"] - 1]), 1.2e-5)
        self.assertLess(max(apart(m, r) for m, r in zip(made, right)), 0.05)
        self.succeed("drive", "apply", "s.glb", "--driver", "bar_a.pc2", "-o", "one.pc2", "--threads", "1")
        self.assertEqual((self.folder / "one.pc2").read_bytes(), (self.folder / "o.pc2").read_bytes())
        self.succeed("drive", "apply", "s.glb", "--driver", "bar_a.pc2", "-o", "part.pc2", "--group", "arm")
        part = self.frames("part.pc2")
        self.assertEqual(len(part[0]), 4 * SLEEVE_SIDES)
        self.assertLess(apart(part[9], made[9][3 * SLEEVE_SIDES:]), 1e-7)
        self.succeed("drive", "apply", "s.glb", "--driver", "bar_a.pc2", "-o", "o.mdd", "--no-settle", "-q")

    def test_far_frames_are_told(self):
        self.learn("--keys", "4", "--frames", "1")
        self.write("other.pc2", pc2([bar(-2.5 if f == 5 else 0.3, 0, 0) for f in range(8)]))
        outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "other.pc2", "-o", "o.pc2")
        self.sentence(outcome, 0, "1 of 8 frames are farther", "worst frame 6: ")
        # of neighbours, and of a pose that recurs, one is named: two keys there would be refused
        self.write("twice.pc2", pc2([bar(-2.5 if f in (2, 3, 6) else 0.3, 0, 0) for f in range(8)]))
        outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "twice.pc2", "-o", "o.pc2")
        self.sentence(outcome, 0, "3 of 8 frames are farther", "worst frame 3: ")
        self.assertEqual(self.run_tool("drive", "apply", "s.glb", "--driver", "other.pc2", "-o", "o.pc2", "-q").err, "")

    def test_report(self):
        self.learn("--keys", "6")
        words = ["drive", "report", "s.glb", "--driver", "bar_b.pc2", "--truth", "sleeve_b.pc2"]
        text = self.succeed(*words, "--picture", "p.svg", "--csv", "t.csv").out
        for word in ("this rig", "before settling", "nearest key", "worst frames", "deepest inside", "apart"):
            self.assertIn(word, text)
        xml.dom.minidom.parse(str(self.folder / "p.svg"))
        rows = (self.folder / "t.csv").read_text().splitlines()
        self.assertEqual(len(rows), FRAMES + 1)
        self.assertEqual(len(rows[0].split(",")), 21 + 6)
        self.assertTrue(all(len(row.split(",")) == 27 for row in rows))
        self.assertEqual([row.split(",")[0] for row in rows], ["frame", *(str(f + 1) for f in range(FRAMES))])
        told = self.succeed(*words, "--json").json()
        self.assertEqual([frame["frame"] for frame in told["frames"]], list(range(1, FRAMES + 1)))
        worst = max(told["frames"], key=lambda frame: frame["mean"])
        self.assertRegex(text, rf"(?m)^ +{worst['frame']} +{worst['time']:.3f} ")
        self.assertEqual(len(told["vertex_errors"]), SLEEVE_RINGS * SLEEVE_SIDES)
        self.assertLess(told["mean"], 0.5 * told["nearest_mean"])
        self.succeed("drive", "apply", "s.glb", "--driver", "bar_b.pc2", "-o", "o.pc2")
        made, right = self.frames("o.pc2"), self.frames("sleeve_b.pc2")
        errors = [[math.dist(p, q) for p, q in zip(m, r)] for m, r in zip(made, right)]
        for frame, row in zip(told["frames"], errors):
            self.assertAlmostEqual(frame["mean"], sum(row) / len(row), delta=2e-6)
            self.assertAlmostEqual(frame["worst"], max(row), delta=2e-6)
            self.assertAlmostEqual(sum(frame["weights"]), 1, delta=1e-9)
            self.assertGreaterEqual(min(frame["weights"]), 0)
        ordered = sorted(e for row in errors for e in row)
        self.assertAlmostEqual(told["p95"], ordered[int(0.95 * len(ordered))], delta=0.02 * told["p95"])
        without = ["drive", "report", "s.glb", "--driver", "bar_b.pc2"]
        self.assertIsNone(self.succeed(*without, "--picture", "p.png", "--json").json()["mean"])
        self.assertIn("frames farthest from the keys", self.succeed(*without).out)


class Keys(Driven):
    def names(self, rig):
        return [key["name"] for key in self.succeed("drive", "keys", rig, "--json").json()["keys"]]

    def test_added_and_removed(self):
        self.learn("--at", "1,11", "--no-push")
        before = (self.folder / "s.glb").read_bytes()
        self.assertEqual(self.names("s.glb"), ["frame_001", "frame_011"])
        line = self.succeed("drive", "add", "s.glb", "--driver", "bar_b.pc2", "--driven", "sleeve_b.pc2", "--at", "18",
                            "-o", "n.glb").out
        self.assertEqual(line, "n.glb: 'frame_018' added, 3 keys\n")
        self.assertEqual((self.folder / "s.glb").read_bytes(), before)
        self.succeed("drive", "apply", "n.glb", "--driver", "bar_b.pc2", "-o", "o.pc2", "-q")
        self.assertLess(apart(self.frames("o.pc2")[17], self.frames("sleeve_b.pc2")[17]), 1.2e-5)
        self.assertEqual(self.succeed("drive", "remove", "n.glb", "frame_018").out, "n.glb: 1 key removed, 2 keys\n")
        self.assertTrue((self.folder / "n.glb~").exists())
        self.succeed("drive", "apply", "n.glb", "--driver", "bar_b.pc2", "-o", "n.pc2", "-q")
        self.succeed("drive", "apply", "s.glb", "--driver", "bar_b.pc2", "-o", "s.pc2", "-q")
        self.assertLess(max(apart(p, q) for p, q in zip(self.frames("n.pc2"), self.frames("s.pc2"))), 1e-5)
        self.write("bent.obj", tube(sleeve(1, 0, 2), SLEEVE_RINGS, SLEEVE_SIDES, False, ["cuff", "arm"]))
        self.write("body.obj", tube(bar(1, 0, 2), RINGS, SIDES, True, ["low", "high"]))
        self.succeed("drive", "add", "s.glb", "--driver", "body.obj", "--driven", "bent.obj")
        self.assertEqual(self.names("s.glb"), ["frame_001", "frame_011", "bent"])

    def test_commands_at_once_lose_nothing(self):
        """Each waits for the one before, under whatever path it knows the rig."""
        self.learn("--at", "1,11,21", "--no-push")
        (self.folder / "there").mkdir()
        (self.folder / "there/link.glb").symlink_to("../s.glb")
        add = ("drive", "add", "--driver", "bar_b.pc2", "--driven", "sleeve_b.pc2", "--at")
        commands = [(*add, "5", "s.glb"), (*add, "9", "./s.glb"), (*add, "13", "there/link.glb"),
                    (*add, "17", "s.glb", "-o", "./s.glb"), ("drive", "remove", "s.glb", "frame_021")]
        jobs = [subprocess.Popen([harness.TOOL, *words], cwd=self.folder, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) for words in commands]
        for job in jobs:
            self.assertEqual((job.communicate(timeout=100)[1].decode().count("exemplar: cannot"), job.returncode), (0, 0))
        self.assertEqual(sorted(self.names("s.glb")),
                         [f"frame_{number:03}" for number in (1, 5, 9, 11, 13, 17)])
        self.assertTrue((self.folder / "there/link.glb").is_symlink())
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")], [])

    def test_says_first_how_long_it_takes(self):
        """A sleeve of 150 000 vertices takes longer than a few seconds; the work is stopped once that was said."""
        rings, sides = 500, 300
        count = rings * sides
        lines = [f"f {r * sides + k + 1} {r * sides + (k + 1) % sides + 1} {(r + 1) * sides + (k + 1) % sides + 1}\n"
                 for r in range(rings - 1) for k in range(sides)]
        forms = [[place(*motion(0.3, 10 * f), 0.15 + 0.7 * r / rings, 2 * math.pi * k / sides, 0.115)
                  for r in range(rings) for k in range(sides)] for f in range(4)]
        self.write("large.obj", "".join(f"v {x:.6g} {y:.6g} {z:.6g}\n" for x, y, z in forms[0]) + "".join(lines))
        self.write("large.pc2", pc2(forms))
        self.write("few.pc2", pc2([bar(*motion(0.3, 10 * f)) for f in range(4)]))
        words = [harness.TOOL, "drive", "learn", "--driver", "few.pc2", "--driver-mesh", "bar.obj", "--driven",
                 "large.pc2", "--driven-mesh", "large.obj", "--keys", "4", "-o", "s.glb"]
        self.assertEqual(len(forms[0]), count)
        job = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        note = ""
        while "learning will take" not in note:
            note = job.stderr.readline()
            self.assertNotEqual(note, "", "it ended without a word")
        self.assertRegex(note, r"^exemplar: learning will take about \d+ (s|min); '--frames 16 --residual none' ")
        job.kill()
        job.communicate()
        self.assertFalse((self.folder / "s.glb").exists())
        self.assertNotIn("will take", self.run_tool("drive", "learn", *self.pair(), "--keys", "4", "-o", "s.glb").err)

    def test_checks_first_that_the_rig_can_be_written(self):
        """A driver that does not exist is not even looked at."""
        if not harness.can_obey_modes():
            self.skipTest("root cannot give up its rights here")
        self.learn("--at", "1,11", "--no-push")
        (self.folder / "s.glb").chmod(0o444)
        self.folder.chmod(0o555)
        try:
            outcome = self.run_tool("drive", "add", "s.glb", "--driver", "none.obj", "--driven", "none.obj", modes=True)
            self.sentence(outcome, 1, "cannot write 's.glb'", "Permission denied")
        finally:
            self.folder.chmod(0o755)

    def test_refusals(self):
        self.learn("--at", "1,11")
        before = self.listing()
        both = ["--driver", "bar_b.pc2", "--driven", "sleeve_b.pc2"]
        cases = [
            (["add", "s.glb", *both], 2, "give the frame with --at"),
            (["add", "s.glb", "--driver", "bar.obj"], 2, "a key is a pair"),
            (["add", "s.glb", *both, "--at", "0"], 2, "--at needs a frame, counting from 1"),
            (["add", "s.glb", *both, "--at", "41"], 1, "has frames 1 to 40: there is no frame 41"),
            (["add", "s.glb", *both, "--at", "11"], 1, "there is already a key 'frame_011'"),
            (["add", "s.glb", "--driver", "sleeve.obj", "--driven", "sleeve.obj"], 1,
             "63 vertices, but the driver mesh has 56"),
            (["add", "s.glb", "--driver", "sleeve_b.pc2", "--driven", "bar_b.pc2", "--at", "3"], 1,
             "but the driver mesh has 56"),
            (["add", "s.glb", *self.pair()[:2], *self.pair()[4:6], "--at", "1", "--name", "again"], 1, "again"),
            (["remove", "s.glb", "frame_11"], 1, "did you mean 'frame_011'?"),
            (["remove", "s.glb", "frame_001", "frame_011"], 1, "a rig needs at least one key"),
            (["remove", "s.glb", "frame_001", "frame_001"], 1, "key 'frame_001' is given twice"),
            (["keys", "bar.obj"], 1, "'bar.obj' is a form, not a rig"),
            (["kees", "s.glb"], 2, "did you mean 'drive keys'?"),
        ]
        for words, code, fragment in cases:
            with self.subTest(words=words):
                self.sentence(self.run_tool("drive", *words), code, fragment)
                self.assertEqual(self.listing(), before)

    def test_numbered_files_stay(self):
        self.learn("--keys", "3")
        for f in range(3):
            self.write(f"d_{f + 1:04}.obj", tube(bar(*motion(0.3, f)), RINGS, SIDES, True, ["low", "high"]))
        self.write("o_0002.obj", "v 0 0 0\n")
        before = self.listing()
        for name, force, fragment in (("o.obj", [], "'o_0002.obj' exists already"),
                                      ("d.obj", ["--force"], "'d_0001.obj' is a frame of the driver")):
            with self.subTest(name=name):
                outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "d.obj", "-o", name, *force)
                self.sentence(outcome, 1, fragment)
                self.assertEqual(self.listing(), before)
        self.succeed("drive", "apply", "s.glb", "--driver", "d.obj", "-o", "o.obj", "--force")

    def test_a_rig_without_a_driver(self):
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        outcome = self.run_tool("drive", "apply", "band.glb", "--driver", "bar_a.pc2", "-o", "o.pc2")
        self.sentence(outcome, 1, "'band.glb' does not follow a driver")


class Refusals(Driven):
    def test_bad_references(self):
        good = [bar(*motion(0.3, f)) for f in range(FRAMES)]
        spoiled = [[list(p) for p in frame] for frame in good]
        spoiled[37][11][1] = math.nan
        self.write("nan.pc2", pc2(spoiled))
        self.write("short.pc2", pc2(good)[:-1000])
        self.write("few.pc2", pc2(good[:-1]))
        self.write("still.pc2", pc2([good[7]] * FRAMES))
        self.write("turned.pc2", pc2([bar(0.5, 0, f) for f in range(FRAMES)]))
        self.write("turned_sleeve.pc2", pc2([sleeve(0.5, 0, f) for f in range(FRAMES)]))
        self.write("none.pc2", b"")
        spoiled = [sleeve(*motion(0.3, f)) for f in range(FRAMES)]
        spoiled[12][3][2] = 1e30
        self.write("far.pc2", pc2(spoiled))
        before = self.listing()
        cases = [
            (self.pair("sleeve_a.pc2"), "'sleeve_a.pc2' has 63 vertices, but the driver mesh has 56"),
            (self.pair("nan.pc2"), "nan.pc2: in frame 38, vertex 11"),
            (self.pair("bar_a.pc2", "bar_a.pc2"), "the driven mesh has 63"),
            (self.pair("short.pc2"), "short.pc2: the file ends too early: it has 38 of 40 frames"),
            (self.pair("few.pc2"), "'few.pc2' has 39 frames but 'sleeve_a.pc2' has 40"),
            (self.pair("still.pc2"), "'still.pc2': the driver has the same form in all 40 frames"),
            (self.pair("turned.pc2", "turned_sleeve.pc2"), "no keys to choose"),
            (self.pair("none.pc2"), "none.pc2"),
            (self.pair("gone.pc2"), "gone.pc2"),
            (self.pair("bar.abc"), "bar.abc"),
            ([*self.pair(), "--frame", "group:hih"], "did you mean 'high'?"),
            ([*self.pair(), "--weights", "group:none"], "no faces in a group 'none'"),
            ([*self.pair(), "--at", "41"], "there is no frame 41: the references have frames 1 to 40"),
            ([*self.pair(), "--at", "3,3"], "frame 3 is given twice"),
            (self.pair("bar_a.pc2", "far.pc2"), "far.pc2: in frame 13, vertex 3 (counting from 0) is too far away"),
            ([*self.pair(), "--name", "a=b"], "'a=b' cannot be the"),
            ([*self.pair(), "--name", "time"], "'time' cannot be the"),
            ([*self.pair(), "--name", 300 * "x"], "the name of an axis: it needs 1 to 255 bytes"),
            ([*self.pair(), "--database", "a,b=1"], "'a,b' cannot be the"),
            ([*self.pair(), "--database", "body=1"], "are both called 'body'"),
            ([*self.pair(), "--thickness", "1e30"], "the thickness must be from 0 to 1e18 metres"),
        ]
        for words, fragment in cases:
            with self.subTest(words=words):
                outcome = self.run_tool("drive", "learn", *words, "--keys", "4", "-o", "s.glb")
                self.sentence(outcome, 1, fragment)
                self.assertEqual(self.listing(), before)

        outcome = self.run_tool("drive", "learn", *self.pair("nan.pc2"), "--keys", "4", "-o", "nowhere/s.glb")
        self.sentence(outcome, 1, "cannot write 'nowhere/s.glb'")  # before anything is read

    def test_wrong_words(self):
        before = self.listing()
        cases = [
            ([*self.pair(), "-o", "s.glb"], "--keys"),
            ([*self.pair(), "--keys", "4"], "-o is required"),
            ([*self.pair(), "--keys", "4", "-o", "s.obj"], ".glb"),
            ([*self.pair(), "--keys", "4", "-o", "-"], "name a file with -o"),
            ([*self.pair(), "--keys", "0", "-o", "s.glb"], "--keys needs a whole number"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--choose", "best"], "farthest or worst"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--residual", "all"], "none, keys or closest"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--frames", "0"], "--frames needs"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--frame", "hips"], "fit, group:NAME or none"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--until", "5cm"], "millimetres (5mm)"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--thickness", "-1"], "millimetres"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--driven-scale", "0"], "--driven-scale needs a number above 0"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--driven-scale", "cm"], "--driven-scale needs a number above 0"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--at", "1,,2"], "--at needs frames with commas between them, counting from 1"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--paper", "--frames", "8"], "--paper"),
            ([*self.pair(), "--driver", "bar_b.pc2", "--keys", "4", "-o", "s.glb"], "2 and 1 of them"),
            (["--driver", "bar_a.pc2", "--driven", "sleeve_a.pc2", "--keys", "4", "-o", "s.glb"], "--driver-mesh"),
            ([*self.pair(), "--keys", "4", "-o", "s.glb", "--database", "stiff"], "NAME=NUMBER"),
        ]
        for words, fragment in cases:
            with self.subTest(words=words):
                self.sentence(self.run_tool("drive", "learn", *words), 2, fragment)
                self.assertEqual(self.listing(), before)

    def test_bad_drivers_of_a_rig(self):
        self.learn("--keys", "3")
        frames = [bar(*motion(0.3, f)) for f in range(FRAMES)]
        frames[37][5][0] = math.inf
        self.write("nan.pc2", pc2(frames))
        self.write("short.pc2", pc2(frames)[:-1])
        self.write("quads.pc2", pc2([frame[:-1] for frame in frames]))
        before = self.listing()
        for driver, fragment in (("nan.pc2", "nan.pc2: in frame 38, vertex 5"), ("short.pc2", "39 of 40 frames"),
                                 ("quads.pc2", "'quads.pc2' has 55 vertices, but the driver mesh has 56"),
                                 ("gone.pc2", "gone.pc2")):
            for words in (["apply", "s.glb", "--driver", driver, "-o", "o.pc2"],
                          ["report", "s.glb", "--driver", driver, "--picture", "p.png", "--csv", "t.csv"]):
                with self.subTest(words=words):
                    self.sentence(self.run_tool("drive", *words), 1, fragment)
                    self.assertEqual(self.listing(), before)
        outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "bar_b.pc2", "-o", "o.pc2", "--group", "arms")
        self.sentence(outcome, 1, "did you mean 'arm'?")
        outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "bar_b.pc2", "-o", "bar_b.pc2")
        self.assertEqual(outcome.code, 2)
        outcome = self.run_tool("drive", "report", "s.glb", "--driver", "bar_b.pc2", "--truth", "bar_b.pc2")
        self.sentence(outcome, 1, "the driven mesh has 63")
        self.assertEqual(self.listing(), before)


if __name__ == "__main__":
    harness.main()
