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


if __name__ == "__main__":
    harness.main()
