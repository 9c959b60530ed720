"""A tube with a displaced refined surface: built, checked, posed at its levels, changed, baked, unpacked."""
import json
import math
import struct

import harness

SIDES, RINGS, LEVELS = 6, 4, 3


def cage():
    lines = []
    for r in range(RINGS):
        for s in range(SIDES):
            a = 2 * math.pi * s / SIDES
            lines.append("v %.9g %.9g %.9g" % (0.5 * math.cos(a), r, -0.5 * math.sin(a)))
    for r in range(RINGS - 1):
        for s in range(SIDES):
            t = (s + 1) % SIDES
            lines.append("f " + " ".join(str(v + 1) for v in
                                         (r * SIDES + s, r * SIDES + t, (r + 1) * SIDES + t, (r + 1) * SIDES + s)))
    return "\n".join(lines) + "\n"


def count(level):
    return SIDES * 2 ** level * ((RINGS - 1) * 2 ** level + 1)


def ply(values):
    head = "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float displacement\nend_header\n"
    return (head % len(values)).encode() + struct.pack("<%df" % len(values), *values)


class Displaced(harness.Case):
    def setUp(self):
        super().setUp()
        n = count(LEVELS)
        (self.folder / "cage.obj").write_text(cage())
        for name, values in (("none", [0.0] * n), ("thick", [0.1] * n), ("rough", [0.02 * (v % 3) for v in range(n)])):
            (self.folder / (name + ".ply")).write_bytes(ply(values))
        self.project = {
            "exemplar": 1, "mesh": "cage.obj",
            "layers": [{"name": "skin", "space": [{"name": "t", "min": 0, "max": 1}, {"name": "s", "min": 0, "max": 1}],
                        "weigh": {"kind": "nearest", "k": 2}, "shape": "displacement",
                        "examples": [{"name": "none", "map": "none.ply", "at": {"t": 0, "s": 0}},
                                     {"name": "thick", "map": "thick.ply", "at": {"t": 1, "s": 0}},
                                     {"name": "rough", "map": "rough.ply", "at": {"t": 0, "s": 1}}]}],
            "subdivide": {"scheme": "catmull_clark", "levels": LEVELS, "limit": "all"}}
        self.put("p.json")

    def put(self, name):
        (self.folder / name).write_text(json.dumps(self.project))

    def run_ok(self, *words):
        return self.succeed(*words).out

    def run_bad(self, *words):
        outcome = self.run_tool(*words)
        self.sentence(outcome, 1)
        return outcome.err

    def pose(self, *words):
        self.run_ok("pose", "p.glb", "-o", "out.obj", *words)
        return harness.positions_of((self.folder / "out.obj").read_text())

    def test_levels(self):
        self.run_ok("check", "p.json")
        self.run_ok("build", "p.json", "-o", "p.glb")
        self.assertIn("all levels are on it", self.run_ok("info", "p.glb"))
        self.assertIn("displacement", self.run_ok("info", "p.glb"))
        bare, thick = self.pose(), self.pose("t=1")
        self.assertEqual(len(bare), count(LEVELS))
        for a, b in zip(bare, thick):  # a tenth of a metre outwards everywhere
            self.assertAlmostEqual(math.hypot(b[0], b[2]) - math.hypot(a[0], a[2]), 0.1, places=3)
        for level in (1, 2):
            coarse = self.pose("t=1", "--level", str(level))
            self.assertEqual(len(coarse), count(level))
            for a, b in zip(coarse, thick):
                self.assertAlmostEqual(math.dist(a, b), 0, places=5)
        self.assertEqual(len(self.pose("t=1", "--level", "cage")), SIDES * RINGS)

    def test_unpacked(self):
        self.run_ok("build", "p.json", "-o", "p.glb")
        self.run_ok("unpack", "p.glb", "-o", "again")
        self.run_ok("build", "again/p.json", "-o", "q.glb")
        self.assertIn("the same bytes", self.run_ok("diff", "p.glb", "q.glb"))

    def test_changes(self):
        self.assertIn("rough.ply", self.run_ok("example", "list", "p.json"))
        self.run_ok("example", "mute", "p.json", "--name", "rough")
        self.run_ok("example", "move", "p.json", "--name", "thick", "--at", "t=0.5")
        self.run_ok("build", "p.json", "-o", "p.glb")
        self.assertIn("2 examples", self.run_ok("info", "p.glb"))
        self.run_ok("example", "remove", "p.json", "--name", "rough")
        failed = self.run_bad("example", "add", "p.json", "cage.obj", "--layer", "skin", "--name", "x", "--at", "t=.2")
        self.assertIn("maps of the refined surface", failed)
        self.run_bad("example", "mirror", "p.json", "--name", "thick")

    def test_baked(self):
        (self.folder / "m.csv").write_text("time,t,s\n0,0,0\n0.5,1,0\n1,0.5,0.5\n")
        self.run_ok("build", "p.json", "-o", "p.glb")
        self.assertIn("%d vertices" % count(LEVELS), self.run_ok("bake", "p.glb", "--motion", "m.csv", "-o", "b.pc2"))
        baked = json.loads(self.run_ok("bake", "p.glb", "--motion", "m.csv", "-o", "b.glb", "--json"))
        self.assertIn("along normals", baked["why_not_exact"])
        self.assertLess(baked["error"]["largest"], 0.01)

    def test_refused(self):
        self.project["subdivide"]["limit"] = True
        self.put("q.json")
        self.assertIn('"limit": "all"', self.run_bad("build", "q.json", "-o", "q.glb"))
        self.project["subdivide"] = {"scheme": "catmull_clark", "levels": 2, "limit": "all"}
        self.put("q.json")
        self.assertIn("none.ply has %d vertices, but level 2 of 'cage.obj' has %d" % (count(3), count(2)),
                      self.run_bad("build", "q.json", "-o", "q.glb"))


if __name__ == "__main__":
    harness.main()
