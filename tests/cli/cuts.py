"""Work that is cut into parts has the bytes of one run: frames of 'drive apply' for rigs that look back, frames of
'bake' at any rate; and times of a part are those that its frames have in the whole."""
import math
import struct

import harness
from drive import Driven, bar, pc2, sleeve

LONG = 300  # more than two blocks of frames
MESHES = ["--driver-mesh", "bar.obj", "--driven-mesh", "sleeve.obj"]


def swing(seed, frame):
    t = frame / 25
    return (0.9 * (1 - math.cos(2.3 * t + seed)), 0.5 * math.sin(4.1 * t + 2 * seed), 0.2 * math.sin(1.7 * t))


def late(frame):
    """A motion that the sleeve of a frame still has: it lags."""
    return swing(0.3, max(frame - 3, 0))


def split(data):
    """The header and the frames of a PC2 file."""
    vertices, frames = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    size = 12 * vertices
    assert len(data) == 32 + frames * size
    return data[:32], [data[32 + f * size:32 + (f + 1) * size] for f in range(frames)]


def differing(part, whole):
    """Numbers of frames that differ: comparing lists of bytes would print them."""
    assert len(part) == len(whole)
    return [f + 1 for f, (one, other) in enumerate(zip(part, whole)) if one != other]


def mdd_times(data):
    return struct.unpack_from(f">{struct.unpack_from('>i', data)[0]}f", data, 8)


class Frames(Driven):
    def setUp(self):
        super().setUp()
        self.write("long.pc2", pc2([bar(*swing(0.3, f)) for f in range(LONG)], start=0.3, step=1 / 30))
        self.write("late.pc2", pc2([sleeve(*late(f)) for f in range(LONG)], start=0.3, step=1 / 30))

    def made(self, *words):
        self.succeed("drive", "apply", "s.glb", "--driver", "long.pc2", "-q", "-o", "o.pc2", *words)
        return split((self.folder / "o.pc2").read_bytes())

    def is_cut(self, *words, firsts=(2, 17, 128, 129, 201)):
        """Parts from every first frame on, and a part within the second block, are parts of the whole."""
        _, whole = self.made(*words)
        for first, last in [(first, LONG) for first in firsts] + [(150, 170), (60, 260)]:
            with self.subTest(words=words, first=first, last=last):
                _, part = self.made(*words, "--frames", f"{first}:{last}")
                self.assertEqual(differing(part, whole[first - 1:last]), [])

    def test_a_rig_of_keys(self):
        self.succeed("drive", "learn", "--driver", "long.pc2", "--driven", "late.pc2", *MESHES, "--keys", "8", "-o",
                     "s.glb", "-q")
        self.is_cut()
        self.is_cut("--no-settle", firsts=(129,))
        self.is_cut("--untangle", "--over", "late.pc2", "--over-mesh", "sleeve.obj", firsts=(5, 129))

    def test_a_rig_that_follows_motion(self):
        """At rates of which a predictor's step has less than a frame, several, and more than a block."""
        self.succeed("drive", "learn", "--method", "motion", "--driver", "long.pc2", "--driven", "late.pc2", *MESHES,
                     "-o", "s.glb", "-q")
        layer = self.succeed("info", "s.glb", "--json").json()["layers"][0]
        self.assertIn("velocity", str(layer))
        self.is_cut()
        for rate in ("23.976", "700", "6000"):
            self.is_cut("--fps", rate, firsts=(2, 130, 138, 203))

    def test_times_of_a_part(self):
        self.succeed("drive", "learn", "--driver", "long.pc2", "--driven", "late.pc2", *MESHES, "--keys", "4",
                     "--frames", "1", "-o", "s.glb", "-q")
        for words in ([], ["--fps", "29.97"]):
            apply = ["drive", "apply", "s.glb", "--driver", "long.pc2", "-q", *words]
            self.succeed(*apply, "-o", "whole.mdd")
            self.succeed(*apply, "-o", "part.mdd", "--frames", "131:290")
            times = mdd_times((self.folder / "whole.mdd").read_bytes())
            self.assertEqual(mdd_times((self.folder / "part.mdd").read_bytes()), times[130:290])
            start, step = struct.unpack_from("<ff", self.made(*words, "--frames", "131:")[0], 20)
            self.assertEqual(start, times[130])
            self.assertAlmostEqual(step, 1 / 29.97 if words else 1 / 30, places=6)


class Bakes(harness.Case):
    def is_cut(self, *bake):
        self.succeed(*bake, "-o", "whole.pc2")
        self.succeed(*bake, "-o", "whole.mdd")
        _, whole = split((self.folder / "whole.pc2").read_bytes())
        times = mdd_times((self.folder / "whole.mdd").read_bytes())
        for first, last in ((1, 9), (8, len(whole)), (20, 20)):
            with self.subTest(bake=bake, first=first):
                self.succeed(*bake, "--frames", f"{first}:{last}", "-o", "part.pc2")
                _, part = split((self.folder / "part.pc2").read_bytes())
                self.assertEqual(differing(part, whole[first - 1:last]), [])
                self.succeed(*bake, "--frames", f"{first}:{last}", "-o", "part.mdd")
                self.assertEqual(mdd_times((self.folder / "part.mdd").read_bytes()), times[first - 1:last])

    def test_frames_of_a_bake(self):
        """An axis, a joint of a subdivided surface, and paths, at the motion's own times and at others."""
        turn = lambda x: f"0,0,{math.sin(x):.6f},{math.cos(x):.6f}"
        for demo, columns, row, words in (
                ("arm", "elbow", lambda x: f"{60 * x}", []),
                ("arm", "elbow", lambda x: f"{60 * x}", ["--fps", "29.97"]),
                ("shoulder", ",".join(f"shoulder.{c}" for c in "xyzw"), turn,
                 ["--fps", "24", "--start", "0.31", "--level", "limit"]),
                ("bar", "bend160", lambda x: f"{x}", ["--fps", "60"])):
            if not (self.folder / demo).exists():
                self.succeed("demo", demo)
            rows = [f"{t / 10},{row(0.5 + 0.4 * math.sin(t))}" for t in range(40)]
            (self.folder / "m.csv").write_text(f"time,{columns}\n" + "\n".join(rows) + "\n")
            self.is_cut("bake", f"{demo}/{demo}.glb", "--motion", "m.csv", "-q", *words)


class Sheets(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json")

    def sheet(self, *words, output="s.png", axes="bend,girth"):
        return self.run_tool("sheet", "band.glb", "--axes", axes, "--grid", "3x2", "--cell", "48", *words, "-o", output,
                             "-q")

    def bytes(self, name):
        return (self.folder / name).read_bytes()

    def test_parts_make_the_sheet(self):
        for words in ([], ["--yaw", "30", "--title", "Bands", "--no-marks"]):
            self.assertEqual(self.sheet(*words, output="whole.png").code, 0)
            for cuts in ([20], [7, 8, 20], list(range(1, 21))):
                names = []
                for first, last in zip([0, *cuts], cuts):
                    names.append(f"p{last}.png")
                    self.assertEqual(self.sheet(*words, "--cells", f"{first + 1}:{last}", output=names[-1]).code, 0)
                outcome = self.sheet(*words, "--join", *reversed(names))
                self.assertEqual((outcome.code, outcome.bytes), (0, b""))
                self.assertTrue(self.bytes("s.png") == self.bytes("whole.png"), cuts)

    def test_open_ends_threads_and_titles(self):
        """Threads change nothing; title and marks are of the sheet, not of its parts."""
        self.assertEqual(self.sheet("--cells", ":9", "--threads", "1", output="a.png").code, 0)
        self.assertEqual(self.sheet("--cells", "10:", "--threads", "3", "--title", "other", output="b.png").code, 0)
        self.assertEqual(self.sheet("--join", "a.png", "b.png", "--title", "Mine", "--threads", "2").code, 0)
        self.assertEqual(self.sheet("--title", "Mine", output="whole.png").code, 0)
        self.assertTrue(self.bytes("s.png") == self.bytes("whole.png"))

    def test_refusals(self):
        self.sheet("--cells", ":9", output="a.png")
        self.sheet("--cells", "10:", output="b.png")
        self.sheet("--cells", "9:10", output="c.png")
        self.sheet("--cells", ":9", "--yaw", "5", output="turned.png")
        self.sheet("--cells", ":2", output="row.png", axes="bend")
        self.sheet(output="whole.png")
        grown = bytearray(self.bytes("whole.png"))
        at = self.bytes("a.png").index(b"tEXt") - 4
        chunk = self.bytes("a.png")[at:at + 12 + struct.unpack_from(">I", self.bytes("a.png"), at)[0]]
        (self.folder / "grown.png").write_bytes(bytes(grown[:33]) + chunk + bytes(grown[33:]))
        (self.folder / "short.png").write_bytes(self.bytes("a.png")[:-40])
        (self.folder / "old.png").write_bytes(self.bytes("a.png").replace(b"version 0.", b"version 9."))
        project = (self.folder / "band.json").read_text()
        before = self.listing()
        for words, code, fragment in (
                (["--join", "a.png"], 1, "cell 10 of the sheet is in no part: --cells draws it"),
                (["--join", "a.png", "b.png", "c.png"], 1, "cell 9 is in 'a.png' and in 'c.png'"),
                (["--join", "turned.png", "b.png"], 1, "'turned.png' was drawn with other options"),
                (["--join", "row.png", "b.png"], 1, "'row.png' was drawn with other options"),
                (["--join", "whole.png", "b.png"], 1, "'whole.png' is no part of a sheet: --cells draws parts"),
                (["--join", "grown.png", "b.png"], 1, "'grown.png' was drawn with "),
                (["--join", "short.png", "b.png"], 1, "short.png"),
                (["--join", "old.png", "b.png"], 1, "'old.png' was drawn by version 9."),
                (["--join", "a.png", "none.png"], 1, "cannot read 'none.png'"),
                (["--join", "a.png", "b.png", "--cell", "50"], 2, "--cell is given twice"),
                (["--join"], 2, "--join needs parts, PART.png, which --cells draws"),
                (["--join", "a.png", "--cells", "1:2"], 2, "give one of them"),
                (["--cells", "21:"], 1, "the sheet has cells 1 to 20: there is no cell 21"),
                (["--cells", "3:21"], 1, "the sheet has cells 1 to 20: there is no cell 21"),
                (["--cells", "9-3"], 2, "--cells needs A:B, the first and the last cell counting from 1, not '9-3'"),
                (["a.png"], 2, "'a.png' is not of the form axis=value")):
            with self.subTest(words=words):
                self.sentence(self.sheet(*words), code, fragment)
                self.assertEqual(self.listing(), before)
        self.sentence(self.sheet("--join", "a.png", "b.png", output="b.png"), 2, "'b.png' is also an input")
        (self.folder / "band.json").write_text(project.replace('"bent"', '"curved"'))
        self.succeed("build", "band.json")
        self.sentence(self.sheet("--join", "a.png", "b.png"), 1, "'a.png' was drawn from another rig")


class Figures(harness.Case):
    CELL = ["--cell", "48", "-q"]

    def make(self, *words):
        outcome = self.run_tool("figures", *self.CELL, *words)
        self.assertEqual(outcome.code, 0, outcome.err)

    def test_one_at_a_time_and_joined(self):
        """Figures of a paper made alone, in folders of their own, and brought together: every file has its bytes."""
        self.make("--only", "pose-space", "-o", "whole")
        names = self.succeed("figures", "--list", "--only", "pose-space").out.split()
        self.assertGreater(len(names), 5)
        for name in names:
            self.make("--only", name, "-o", f"parts/{name}")
            for path in (self.folder / "parts" / name).rglob("*"):
                if path.is_file() and path.name != "index.html":
                    target = self.folder / "joined" / path.relative_to(self.folder / "parts" / name)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(path.read_bytes())
        self.make("--join", "--only", "pose-space", "-o", "joined")
        files = {path.relative_to(self.folder / "whole") for path in (self.folder / "whole").rglob("*") if path.is_file()}
        self.assertEqual(files, {path.relative_to(self.folder / "joined")
                                 for path in (self.folder / "joined").rglob("*") if path.is_file()})
        for path in files:
            self.assertTrue((self.folder / "whole" / path).read_bytes() == (self.folder / "joined" / path).read_bytes(),
                            path)
        self.refusals(names[0])

    def refusals(self, name):
        note = self.folder / "joined" / f"{name}.figure"
        text, page = note.read_text(), (self.folder / "joined/index.html").read_bytes()
        join = ["figures", "--join", "--only", "pose-space", "-o", "joined", *self.CELL]
        for wrong, fragment in ((None, f"{name}.figure' is missing: 'exemplar figures --only {name}' makes it"),
                                (text.replace("\t0.", "\t9."), f"{name}.figure' is of version 9."),
                                (text.replace("cell 48", "cell 50"), "with cell 50"),
                                (text[:20], f"{name}.figure' is no note of a figure"),
                                (text + "a fact without numbers\n", f"{name}.figure' is no note of a figure"),
                                (text.replace(name, "other-1"), f"{name}.figure' is no note of a figure")):
            with self.subTest(wrong=wrong):
                note.unlink() if wrong is None else note.write_text(wrong)
                self.sentence(self.run_tool(*join), 1, fragment)
                self.assertTrue((self.folder / "joined/index.html").read_bytes() == page)
        note.write_text(text)
        self.succeed(*join)
        self.sentence(self.run_tool("figures", "--list", "--join"), 2, "give one of them")
        self.sentence(self.run_tool("figures", "--list", "--only", "nothing"), 2, "no figure 'nothing'")

    def test_names(self):
        """Slow figures are listed with --all only; every name is one figure that --only finds."""
        few, many = (self.succeed("figures", "--list", *words).out.splitlines() for words in ([], ["--all"]))
        self.assertEqual(len(set(many)), len(many))
        self.assertTrue(set(few) < set(many))
        for name in many:
            self.assertEqual(self.succeed("figures", "--list", "--all", "--only", name).out, name + "\n")


if __name__ == "__main__":
    harness.main()
