"""Learning in two stages: what `drive gather` writes is learned to the same bytes as the caches, in any order and with
any threads; and one sentence for each file or word that is wrong."""
import struct

import harness
from drive import FRAMES, Driven, bar, motion, pc2, sleeve, tube

MESHES = ["--driver-mesh", "bar.obj", "--driven-mesh", "sleeve.obj"]
TAKES = ["a", "b", "c"]
LONG = 560


def pair(name):
    return ["--driver", f"bar_{name}.pc2", "--driven", f"sleeve_{name}.pc2"]


class Gather(Driven):
    def setUp(self):
        super().setUp()
        self.take("c", 0.6, LONG)

    def take(self, name, seed, frames):
        """A take that turns and sways, so that no two frames are alike."""
        poses = [motion(seed + 0.0007 * f, f) for f in range(frames)]
        self.write(f"bar_{name}.pc2", pc2([bar(*pose) for pose in poses]))
        self.write(f"sleeve_{name}.pc2", pc2([sleeve(*pose) for pose in poses]))

    def gather(self, name, *words, meshes=MESHES):
        self.succeed("drive", "gather", *pair(name), *meshes, "-o", f"{name}.gathered", "-q", *words)

    def learned(self, *words):
        self.succeed("drive", "learn", *words, "-o", "s.glb", "-q")
        return (self.folder / "s.glb").read_bytes()

    def check(self, names, gather, learn, each=(), both=()):
        """From the caches with one thread; and gathered in another order, with several."""
        files = [word for name in names for word in ("--gathered", f"{name}.gathered")]
        caches = [word for name in names for word in (*pair(name), *each)]
        learn = [*learn, *both]
        right = self.learned(*caches, *MESHES, *gather, *learn, "--threads", "1")
        for threads, order in (("1", names[::-1]), ("2", names)):
            for name in order:
                self.gather(name, *gather, *each, *both, "--threads", threads)
            self.assertEqual(self.learned(*files, *learn, "--threads", threads), right)
            self.assertEqual(self.learned(*files, *learn, "--threads", "3"), right)

    def test_keys(self):
        for names in (["c"], TAKES):
            for words in (["--keys", "5", "--frames", "4"],
                          ["--keys", "6", "--frames", "1", "--choose", "worst", "--until", "0.1mm"]):
                with self.subTest(names=names, words=words):
                    self.check(names, ["--frame", "group:low"], words)

    def test_motion(self):
        for names in (["c"], TAKES):
            with self.subTest(names=names):
                self.check(names, ["--method", "motion", "--frames", "4"], [], ["--fps", "24"], ["--forms", "5"])

    def test_databases_and_ranges(self):
        words = ["--keys", "3", "--frames", "1"]
        right = self.learned(*pair("a"), "--range", "5:30", "--database", "cloth=1", *pair("b"), "--database", "cloth=4",
                             *MESHES, *words)
        self.gather("b", "--database", "cloth=4")
        self.gather("a", "--range", "5:30", "--database", "cloth=1")
        self.assertEqual(self.learned("--gathered", "a.gathered", "--gathered", "b.gathered", *words), right)

    def test_the_caches_are_not_needed(self):
        self.gather("a")
        right = self.learned(*pair("a"), *MESHES, "--keys", "4", "--frames", "1")
        for name in ("bar_a.pc2", "sleeve_a.pc2", "bar.obj", "sleeve.obj"):
            (self.folder / name).unlink()
        self.assertEqual(self.learned("--gathered", "a.gathered", "--keys", "4", "--frames", "1"), right)

    def test_frames_given_by_hand(self):
        self.gather("a")
        self.gather("c", "--at", "559")
        words = ["--keys", "3", "--frames", "1", "--at"]
        files = ["--gathered", "a.gathered", "--gathered", "c.gathered"]
        right = self.learned(*pair("a"), *pair("c"), *MESHES, *words, "7,599")
        self.assertEqual(self.learned(*files, *words, "7,599"), right)
        missing = sorted(set(range(LONG)) - {(2 * i + 1) * LONG // 1024 for i in range(512)})
        learn = ["drive", "learn", *files, *words]
        refused = [f for f in missing[:20] if self.run_tool(*learn, str(FRAMES + f + 1), "-o", "t.glb").code]
        self.assertTrue(refused)
        number = FRAMES + refused[0] + 1
        self.sentence(self.run_tool(*learn, str(number), "-o", "t.glb"), 1,
                      f"'c.gathered' does not hold frame {number}: gather it again with --at {refused[0] + 1}")

    def test_what_is_printed(self):
        made = self.succeed("drive", "gather", *pair("c"), *MESHES, "-o", "c.gathered", "--json").json()
        self.assertEqual(made["frames"], LONG)
        self.assertTrue(512 < made["kept"] < 512 + 64, made)
        self.assertEqual(made["bytes"], (self.folder / "c.gathered").stat().st_size)
        made = self.succeed("drive", "gather", *pair("c"), *MESHES, "--method", "motion", "--fps", "24", "--forms", "4",
                            "-o", "m.gathered", "--json").json()
        self.assertEqual((made["method"], made["forms"], made["kept"]), ("motion", 24, LONG))
        self.assertIn("reduced to 24 forms", self.succeed("drive", "gather", *pair("c"), *MESHES, "--method", "motion",
                                                          "--fps", "24", "--forms", "4", "-o", "m.gathered").out)

    def test_wrong_words(self):
        self.gather("a")
        self.gather("b")
        gather = ["gather", *pair("a"), *MESHES, "-o", "x.gathered"]
        learn = ["learn", "--gathered", "a.gathered", "--keys", "3", "-o", "x.glb"]
        before = self.listing()
        for words, code, fragment in [
                (gather[:-2], 2, "-o is required"),
                (["gather", "--driver", "bar_a.pc2", *MESHES, "-o", "x.gathered"], 2, "--driver and --driven are required"),
                (["gather", *pair("a"), "-o", "x.gathered"], 2, "name its mesh with --driver-mesh"),
                ([*gather[:-1], "x.glb"], 2, ".gathered"),
                ([*gather, "--forms", "4"], 2, "belong to --method motion"),
                ([*gather, "--method", "motion", "--keys", "4"], 2, "has no keys"),
                ([*gather, "--method", "other"], 2, "--method needs keys or motion, not 'other'"),
                ([*gather, "--at", "41"], 1, "there is no frame 41 to keep: frames 1 to 40 of 'bar_a.pc2' are used"),
                ([*gather, "--at", "3,3"], 1, "frame 3 is given twice"),
                ([*gather, "--database", "cloth"], 2, "--database needs NAME=NUMBER"),
                ([*gather, "--range", "41:"], 1, "'bar_a.pc2' has frames 1 to 40: there is no frame 41"),
                ([*learn, *pair("a")], 2, "learn from caches (--driver and --driven) or from --gathered files"),
                ([*learn, "--range", "3:9"], 2, "belong to 'drive gather'"),
                ([*learn, "--method", "motion"], 2, "--keys"),
                ([*learn, "--gathered", "a.gathered"], 1, "'a.gathered' is given twice"),
                ([*learn, "--gathered", "none.gathered"], 1, "none.gathered"),
                ([*learn, "--gathered", "bar.obj"], 1, "this is no gathered file"),
        ]:
            with self.subTest(words=words):
                self.sentence(self.run_tool("drive", *words), code, fragment)
                self.assertEqual(self.listing(), before)

    def test_files_that_do_not_go_together(self):
        self.gather("a")
        learn = ["drive", "learn", "--gathered", "a.gathered", "--gathered", "b.gathered", "--keys", "3", "-o", "x.glb"]
        self.write("other.obj", tube(bar(0, 0, 0.01), 9, 6, True, ["low", "high"]))
        for words, fragment in [
                (["--frame", "group:low"], "'b.gathered' was gathered with another --frame than 'a.gathered'"),
                (["--weights", "group:low"], "another choice of --weights"),
                (["--database", "cloth=3"], "another name in --database"),
                (["--method", "motion", "--fps", "24"], "with --method keys, and 'b.gathered' with --method motion"),
        ]:
            with self.subTest(words=words):
                self.gather("b", *words)
                self.sentence(self.run_tool(*learn), 1, fragment)
        self.gather("b", meshes=["--driver-mesh", "other.obj", *MESHES[2:]])
        self.sentence(self.run_tool(*learn), 1, "another driver mesh")
        self.write("b.gathered", (self.folder / "a.gathered").read_bytes())
        self.sentence(self.run_tool(*learn), 1, "'a.gathered' and 'b.gathered' hold the same frames: give one of them")
        self.assertFalse((self.folder / "x.glb").exists())

    def test_damaged_files(self):
        self.gather("a")
        data = (self.folder / "a.gathered").read_bytes()
        learn = ["drive", "learn", "--gathered", "a.gathered", "--keys", "3", "-o", "x.glb"]
        for name, spoilt, fragment in [
                ("cut", data[:-8], "a.gathered: this gathered file is damaged or cut short: gather it again"),
                ("longer", data + bytes(8), "damaged or cut short"),
                ("edited", data[:3000] + bytes([data[3000] ^ 1]) + data[3001:], "damaged or cut short"),
                ("version", data[:8] + struct.pack("<I", 2) + data[12:], "version 2 of its format"),
                ("empty", b"", "this is no gathered file"),
        ]:
            with self.subTest(name=name):
                self.write("a.gathered", spoilt)
                self.sentence(self.run_tool(*learn), 1, fragment)
        self.assertFalse((self.folder / "x.glb").exists())

    def test_no_frames_and_no_output_after_a_failure(self):
        self.write("none.pc2", pc2([bar(0, 0, 0)])[:28] + struct.pack("<i", 0))
        outcome = self.run_tool("drive", "gather", "--driver", "none.pc2", "--driven", "none.pc2", *MESHES, "-o",
                                "x.gathered")
        self.sentence(outcome, 1, "none.pc2")
        forms = [sleeve(*motion(0.3, f)) for f in range(FRAMES)]
        forms[30][5] = [float("nan")] * 3
        self.write("sleeve_b.pc2", pc2(forms))
        self.sentence(self.run_tool("drive", "gather", *pair("b"), *MESHES, "-o", "x.gathered"), 1, "frame 31")
        self.assertEqual([p.name for p in self.folder.glob("*x.gathered*")], [])


if __name__ == "__main__":
    harness.main()
