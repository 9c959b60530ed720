"""Several takes of a bar and its sleeve, parts of them, frame rates and units: learned, applied, reported; and one
sentence for each wrong value."""
import harness
from drive import FRAMES, Driven, apart, bar, motion, pc2, sleeve, tube

MESHES = ["--driver-mesh", "bar.obj", "--driven-mesh", "sleeve.obj", "--keys", "4", "--frames", "1", "-o", "s.glb"]
ONE = ["--driver", "bar_a.pc2", "--driven", "sleeve_a.pc2"]
OTHER = ["--driver", "bar_b.pc2", "--driven", "sleeve_b.pc2"]


class Takes(Driven):
    def keys(self, *words):
        return [key["frame"] for key in self.succeed("drive", "learn", *words, *MESHES, "--json").json()["keys"]]

    def test_a_range_belongs_to_the_pair_before_it(self):
        """Keys have numbers over all frames of both caches, and come only from the ranges."""
        frames = self.keys(*ONE, "--range", "11:20", *OTHER, "--range", "31:")
        self.assertTrue(all(11 <= f <= 20 or FRAMES + 31 <= f <= 2 * FRAMES for f in frames), frames)
        self.assertTrue(any(f <= 20 for f in frames) and any(f > 20 for f in frames), frames)
        frames = self.keys(*ONE, *OTHER, "--range=:5")
        self.assertTrue(all(f <= FRAMES + 5 for f in frames), frames)
        self.assertTrue(any(5 < f <= FRAMES for f in frames), frames)
        names = [key["name"] for key in self.succeed("drive", "keys", "s.glb", "--json").json()["keys"]]
        self.assertEqual(names, [f"frame_{f:03}" for f in frames])

    def test_a_single_pair_takes_its_options_from_anywhere(self):
        before = self.keys("--range", "5:24", *ONE)
        self.assertEqual(before, self.keys(*ONE, "--range", "5-24"))
        self.write("few_b.pc2", pc2([bar(*motion(0.3, f)) for f in range(4, 24)]))
        self.write("few_s.pc2", pc2([sleeve(*motion(0.3, f)) for f in range(4, 24)]))
        alone = self.keys("--driver", "few_b.pc2", "--driven", "few_s.pc2")
        self.assertEqual(before, [f + 4 for f in alone])

    def test_parts_and_rates_of_what_is_applied(self):
        self.succeed("drive", "learn", *ONE, *MESHES)
        apply = ["drive", "apply", "s.glb", "--driver", "bar_b.pc2", "-q", "-o"]
        self.succeed(*apply, "all.pc2")
        self.succeed(*apply, "part.pc2", "--frames", "11:20", "--fps", "50")
        made = self.frames("part.pc2")
        self.assertEqual(len(made), 10)
        for f, form in enumerate(made):
            self.assertLess(apart(form, self.frames("all.pc2")[10 + f]), 1e-5)
        info = self.succeed("drive", "report", "s.glb", "--driver", "bar_b.pc2", "--truth", "sleeve_b.pc2", "--json",
                            "--frames", "11:20", "--fps", "50", "--csv", "t.csv").json()
        self.assertEqual([frame["frame"] for frame in info["frames"]], list(range(11, 21)))
        for frame in info["frames"]:
            self.assertAlmostEqual(frame["time"], (frame["frame"] - 1) / 50)
        rows = (self.folder / "t.csv").read_text().splitlines()
        self.assertEqual([row.split(",")[0] for row in rows[1:]], [str(f) for f in range(11, 21)])
        self.succeed(*apply, "f.obj", "--frames", "38:")
        self.assertEqual(sorted(p.name for p in self.folder.glob("f_*.obj")), [f"f_000{i}.obj" for i in (1, 2, 3)])

    def test_frames_far_from_the_keys_have_the_numbers_of_the_cache(self):
        self.run_tool("drive", "learn", *ONE, "--range", "1:4", *MESHES)
        outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "bar_b.pc2", "-o", "far.pc2", "--frames",
                                "30:31")
        self.assertRegex(outcome.err, r"worst frames? 3[01]")

    def test_a_body_in_centimetres(self):
        """Body and sleeve in centimetres give the rig in metres, and the sleeve comes back in centimetres."""
        self.succeed("drive", "learn", *ONE, *MESHES)
        right = self.succeed("drive", "report", "s.glb", *OTHER[:2], "--truth", OTHER[3], "--json").json()["mean"]
        self.succeed("drive", "apply", "s.glb", *OTHER[:2], "-o", "metres.pc2", "-q")
        scaled = lambda points: [[100 * x for x in point] for point in points]
        for name, seed in (("a", 0.3), ("b", 1.0)):
            self.write(f"bar_{name}.pc2", pc2([scaled(bar(*motion(seed, f))) for f in range(FRAMES)]))
            self.write(f"sleeve_{name}.pc2", pc2([scaled(sleeve(*motion(seed, f))) for f in range(FRAMES)]))
        self.write("bar.obj", tube(scaled(bar(0, 0, 0)), 9, 6, True, ["low", "high"]))
        self.write("sleeve.obj", tube(scaled(sleeve(0, 0, 0)), 7, 9, False, ["cuff", "arm"]))
        scales = ["--driver-scale", "0.01", "--driven-scale", "0.01"]
        self.succeed("drive", "learn", *ONE, *MESHES, *scales)
        told = self.succeed("drive", "report", "s.glb", *OTHER[:2], "--truth", OTHER[3], "--json", *scales).json()
        self.assertAlmostEqual(told["mean"], right, delta=1e-5)
        self.succeed("drive", "apply", "s.glb", *OTHER[:2], "-o", "cm.pc2", "-q", *scales)
        for made, wanted in zip(self.frames("cm.pc2"), self.frames("metres.pc2")):
            self.assertLess(apart(made, scaled(wanted)), 1e-2)
        self.succeed("drive", "add", "s.glb", *OTHER, "--at", "18", "--name", "more", *scales)
        self.succeed("drive", "apply", "s.glb", *OTHER[:2], "-o", "cm.pc2", "-q", "--no-settle", *scales)
        self.assertLess(apart(self.frames("cm.pc2")[17], self.frames("sleeve_b.pc2")[17]), 0.1)

    def test_an_added_key_in_another_unit(self):
        """Both in centimetres are compared with the rig, the sleeve alone with its bar."""
        self.succeed("drive", "learn", *ONE, *MESHES)
        scaled = lambda points: [[100 * x for x in point] for point in points]
        for name, form in (("bar", bar), ("sleeve", sleeve)):
            self.write(f"cm_{name}.pc2", pc2([scaled(form(*motion(1.0, f))) for f in range(20)]))
        add = ["drive", "add", "s.glb", "--at", "18", "--name", "more", "--driver"]
        before = (self.folder / "s.glb").read_bytes()
        outcome = self.run_tool(*add, "cm_bar.pc2", "--driven", "cm_sleeve.pc2")
        self.sentence(outcome, 1, "'cm_bar.pc2' has the driver mesh 1e+02 times as large as the rig has it",
                      "--driver-scale", "--force")
        outcome = self.run_tool(*add, "bar_b.pc2", "--driven", "cm_sleeve.pc2")
        self.sentence(outcome, 1, "'cm_sleeve.pc2' has the driven mesh 1e+02 times as large", "--driven-scale")
        self.assertEqual((self.folder / "s.glb").read_bytes(), before)
        self.succeed(*add, "cm_bar.pc2", "--driven", "cm_sleeve.pc2", "--driver-scale", ".01", "--driven-scale", ".01")
        self.write("aside.pc2", pc2([[[x, y + 2, z] for x, y, z in sleeve(*motion(1.0, f))] for f in range(20)]))
        beside = ["drive", "add", "s.glb", "--at", "9", "--driver", "bar_b.pc2", "--driven", "aside.pc2"]
        self.sentence(self.run_tool(*beside, "--name", "beside"), 1, "'aside.pc2' is nowhere near 'bar_b.pc2'")
        self.succeed(*beside, "--name", "beside", "--force")

    def test_wrong_values(self):
        self.succeed("drive", "learn", *ONE, *MESHES)
        self.write("few.pc2", pc2([sleeve(*motion(0.3, f)) for f in range(FRAMES - 1)]))
        learn, apply = ["learn", *ONE, *MESHES], ["apply", "s.glb", "--driver", "bar_b.pc2", "-o", "o.pc2"]
        report = ["report", "s.glb", "--driver", "bar_b.pc2"]
        needs = "needs A:B, the first and the last frame counting from 1, not"
        before = self.listing()
        suggest = ["suggest", *report[1:]]
        cases = [([*words, option, value], 2, f"{option} {needs} '{value}'")
                 for words, option in ((learn, "--range"), (apply, "--frames"), (report, "--frames"),
                                       (suggest, "--frames"))
                 for value in ("0:5", "7", "9:3", "1:5x", "a:b", "-5", "2:-9", ":0", "2:+9", "2--9", "9-3", " 1:2")]
        cases += [([*words, "--frames", "2-9"], 2, f"--frames {needs} '2-9'") for words in (apply, report, suggest)]
        cases += [([*words, "--range", "2:9"], 2, "--range") for words in (apply, report, suggest)]
        cases += [([*words, "--fps", value], 2, "--fps needs frames per second, a number above 0, such as 24")
                  for words in (learn, apply, report) for value in ("0", "-24", "nan", "inf", "fast", "24 ")]
        cases += [([*words, "--driver-scale", value], 2, "--driver-scale needs a number above 0, such as 0.01")
                  for words in (learn, apply, report) for value in ("0", "cm", "-1")]
        cases += [
            ([*learn, "--range", "5:41"], 1, "'bar_a.pc2' has frames 1 to 40: there is no frame 41"),
            ([*learn, "--range", "50:"], 1, "'bar_a.pc2' has frames 1 to 40: there is no frame 50"),
            ([*apply, "--frames", "5:41"], 1, "'bar_b.pc2' has frames 1 to 40: there is no frame 41"),
            ([*report, "--frames", ":41"], 1, "'bar_b.pc2' has frames 1 to 40: there is no frame 41"),
            ([*learn, "--range", "5:9", "--at", "10"], 1, "frame 10 cannot become a key"),
            (["learn", "--range", "1:9", *ONE, *OTHER, *MESHES], 2, "--range 1:9 comes before all caches"),
            (["learn", *ONE, "--fps", "24", "--fps", "25", *OTHER, *MESHES], 2,
             "--fps is given twice for 'bar_a.pc2'"),
            (["learn", "--driver", "bar_a.pc2", "--driven", "few.pc2", *MESHES], 1,
             "'bar_a.pc2' has 40 frames but 'few.pc2' has 39: each frame of the driver needs its driven form; --range"),
            ([*report, "--truth", "few.pc2"], 1, "they cannot be compared; --frames takes a part of both"),
        ]
        for words, code, fragment in cases:
            with self.subTest(words=words):
                self.sentence(self.run_tool("drive", *words), code, fragment)
                self.assertEqual(self.listing(), before)
        self.succeed("drive", "learn", "--driver", "bar_a.pc2", "--driven", "few.pc2", "--range", "1:39", *MESHES)
        self.succeed("drive", *report, "--truth", "few.pc2", "--frames", ":39")


if __name__ == "__main__":
    harness.main()
