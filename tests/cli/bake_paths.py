"""Baked motions along guided paths between many poses, by every weigher: a glTF file is read here and compared with the
rig, also at weights below 0 and above 1; and between frames, the tool says how far straight lines are off."""
import json
import math
import struct

import harness

PARTS = 8
POSES = {"up": (1, 0), "down": (-1, 0), "left": (0, 1), "right": (0, -1), "both": (1, 1)}
WEIGHERS = {
    "cardinal": {"kind": "cardinal"}, "thin": {"kind": "cardinal", "kernel": "thin_plate"}, "calm": {"kind": "calm"},
    "gaussian": {"kind": "gaussian"}, "shepard": {"kind": "shepard"}, "nearest": {"kind": "nearest", "k": 3},
    "direct": {"kind": "direct"},
}
TABLE = "time,a,b\n0,0,0\n0.4,1,0\n0.8,-0.6,0.7\n1.2,1.5,1.4\n1.6,-1.3,-1.2\n2,0.3,-0.4\n"
DIRECT = "time,up,down,left,both\n0,0,0,0,0\n0.5,1,0,0.4,0\n1,1,0,1,0.5\n1.5,-0.4,1.3,0,0\n2,0.3,0.3,0.3,0.3\n"


def bar(bend, twist):
    """A bar along x of length 4, twisted about itself and bent in the plane of x and y by angles over its length."""
    points = []
    for i in range(PARTS + 1):
        s, a, t = 4 * i / PARTS, bend * i / PARTS, twist * i / PARTS
        x, y = (s, 0) if bend == 0 else (4 / bend * math.sin(a), 4 / bend * (1 - math.cos(a)))
        for u, w in ((-0.4, -0.4), (0.4, -0.4), (0.4, 0.4), (-0.4, 0.4)):
            u, w = u * math.cos(t) - w * math.sin(t), u * math.sin(t) + w * math.cos(t)
            points.append((x - u * math.sin(a), y + u * math.cos(a), w))
    return points


def text(points):
    rings = [[4 * i + j + 1, 4 * i + (j + 1) % 4 + 1, 4 * i + 4 + (j + 1) % 4 + 1, 4 * i + 5 + j]
             for i in range(PARTS) for j in range(4)] + [[4, 3, 2, 1], [4 * PARTS + j for j in range(1, 5)]]
    return "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points) + "".join(
        "f " + " ".join(map(str, face)) + "\n" for face in rings)


class Glb:
    """A morphed mesh without a skin, and its animation, as any program reads them."""

    def __init__(self, data):
        size, = struct.unpack("<I", data[12:16])
        self.json = json.loads(data[20:20 + size])
        self.binary = data[28 + size:]
        primitive, = self.json["meshes"][0]["primitives"]
        self.rest = self.array(primitive["attributes"]["POSITION"])
        self.targets = [self.array(target["POSITION"]) for target in primitive["targets"]]
        sampler, = self.json["animations"][0]["samplers"]
        self.times = [time for time, in self.array(sampler["input"])]
        values = [value for value, in self.array(sampler["output"])]
        count = len(self.targets)
        self.weights = [values[count * f:count * (f + 1)] for f in range(len(self.times))]

    def array(self, index):
        accessor = self.json["accessors"][index]
        assert accessor["componentType"] == 5126 and "sparse" not in accessor
        view = self.json["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3}[accessor["type"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        assert view.get("byteStride", 4 * width) == 4 * width
        numbers = struct.unpack_from(f"<{width * accessor['count']}f", self.binary, start)
        return [numbers[i:i + width] for i in range(0, len(numbers), width)]

    def form(self, time):
        """The vertices at a time, with weights along a line between two keys."""
        after = next((f for f, t in enumerate(self.times) if t >= time - 1e-9), len(self.times) - 1)
        before = max(after - 1, 0)
        step = self.times[after] - self.times[before]
        part = (time - self.times[before]) / step if step > 0 else 0
        weights = [(1 - part) * a + part * b for a, b in zip(self.weights[before], self.weights[after])]
        return [[p[c] + sum(w * target[v][c] for w, target in zip(weights, self.targets)) for c in range(3)]
                for v, p in enumerate(self.rest)]


def frames_of(data):
    """The forms of a PC2 file."""
    _, vertices, _, _, count = struct.unpack_from("<iiffi", data, 12)
    numbers = struct.unpack_from(f"<{3 * vertices * count}f", data, 32)
    return [[numbers[3 * i:3 * i + 3] for i in range(f * vertices, (f + 1) * vertices)] for f in range(count)]


def apart(one, other):
    """The largest distance from a vertex of either to the nearest of the other: files split vertices."""
    assert len(one) >= len(other)
    return max(max(min(math.dist(p, q) for q in to) for p in of) for of, to in ((one, other), (other, one)))


class Paths(harness.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "rest.obj").write_text(text(bar(0, 0)))
        for name, (bend, twist) in POSES.items():
            (self.folder / f"{name}.obj").write_text(text(bar(1.9 * bend, 1.5 * twist)))

    def build(self, name):
        direct = name == "direct"
        examples = [{"name": "rest", "reference": True, "at": {}}] * (not direct) + [
            {"name": pose, "mesh": f"{pose}.obj"} | ({} if direct else {"at": dict(zip("ab", at))})
            for pose, at in POSES.items()]
        space = [{"name": axis, "min": -1, "max": 1} for axis in (POSES if direct else "ab")]
        (self.folder / "p.json").write_text(json.dumps({
            "exemplar": 1, "mesh": "rest.obj", "layers": [{"name": "l", "shape": "trajectory", "space": space,
                                                           "weigh": WEIGHERS[name], "examples": examples}]}))
        self.succeed("build", "p.json", "-q")
        (self.folder / "move.csv").write_text(DIRECT if direct else TABLE)

    def bake(self, *words, out="o.glb"):
        return self.succeed("bake", "p.glb", "--motion", "move.csv", "-o", out, *words)

    def test_files_follow_the_rig(self):
        lowest, highest = 0, 0
        for name in WEIGHERS:
            with self.subTest(name):
                self.build(name)
                report = self.bake("--fps", "20", "--json").json()
                self.bake("--fps", "20", "-q", out="o.pc2")
                truth, glb = frames_of((self.folder / "o.pc2").read_bytes()), Glb((self.folder / "o.glb").read_bytes())
                self.assertEqual((len(truth), len(glb.times)), (41, 41))
                worst = max(apart(glb.form(f / 20), form) for f, form in enumerate(truth))
                self.assertLess(worst, 1.05e-4 * report["height"])  # the goal of baking, and rounding
                self.assertLessEqual(worst, 1.05 * report["error"]["largest"] + 1e-6)
                for row in (self.folder / "move.csv").read_text().splitlines()[1:]:
                    names = (self.folder / "move.csv").read_text().splitlines()[0].split(",")[1:]
                    pose = [f"{n}={v}" for n, v in zip(names, row.split(",")[1:])]
                    layer, = self.run_tool("weights", "p.glb", *pose, "--json").json()["layers"]
                    weights = list(layer["weights"].values())
                    lowest, highest = min(lowest, *weights), max(highest, *weights, sum(weights))
        self.assertLess(lowest, -0.3)
        self.assertGreater(highest, 1.3)

    def test_between_frames(self):
        self.build("cardinal")
        truth = {}
        self.bake("--fps", "160", "-q", out="o.pc2")
        for f, form in enumerate(frames_of((self.folder / "o.pc2").read_bytes())):
            truth[round(f / 160, 9)] = form
        for fps in (5, 10, 20):
            report = self.bake("--fps", str(fps), "--json").json()
            glb = Glb((self.folder / "o.glb").read_bytes())
            between = [apart(glb.form((f + 0.5) / fps), truth[round((f + 0.5) / fps, 9)]) for f in range(2 * fps)]
            said = report["between_frames"]
            self.assertAlmostEqual(said["largest"], max(between), delta=0.03 * max(between) + 3e-4)
            self.assertAlmostEqual(between[said["frame"] - 1], max(between), delta=0.03 * max(between) + 3e-4)
        lines = self.bake("--fps", "20").out
        self.assertRegex(lines, r"note       between frames \d+ and \d+, straight lines leave the path by up to \S+ m "
                                r"\(\S+ % of the height\); about \d+ frames per second stay within 0\.5 % \(--fps\)\n")
        # An estimate, from where it is worst at this rate: following it a few times arrives.
        for _ in range(4):
            if "; about " in lines:
                lines = self.bake("--fps", lines.split("; about ")[1].split()[0]).out
        self.assertNotIn("straight lines leave", lines)

    def test_few_frames_are_not_called_exact(self):
        self.build("calm")
        (self.folder / "move.csv").write_text("time,a\n0,0\n1,1\n")
        lines = self.bake().out
        self.assertIn("error      none beyond rounding", lines)  # at both frames
        self.assertIn("between frames 1 and 2, straight lines leave the path by up to", lines)

    def test_straight_layers_say_nothing(self):
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        (self.folder / "m.csv").write_text("time,bend\n0,0\n1,90\n")
        outcome = self.succeed("bake", "band.glb", "--motion", "m.csv", "-o", "o.glb", "--json")
        self.assertNotIn("between_frames", outcome.json())


harness.main()
