"""exemplar scan register: a lumpy egg moved onto scans of a turned and thicker one, from landmarks, and refusals."""
import math

import harness

RINGS, AROUND = 12, 14


def egg(rings, around, thicker=1.0, turn=0.0, move=(0, 0, 0), scale=1.0):
    """Points and faces of a closed surface, 1 m tall and without symmetry, turned about x."""
    def place(u, v):
        t = 2 * math.pi * v
        wide = thicker * math.sin(math.pi * u) * (0.25 + 0.05 * math.cos(t + 1) + 0.06 * math.sin(5 * u))
        x, y, z = wide * math.cos(t), u - 0.5, wide * math.sin(t)
        y, z = y * math.cos(turn) - z * math.sin(turn), y * math.sin(turn) + z * math.cos(turn)
        return tuple(scale * (a + b) for a, b in zip((x, y, z), move))

    points = [place(0, 0)] + [place(r / rings, a / around) for r in range(1, rings) for a in range(around)] + [place(1, 0)]
    last, faces = len(points) - 1, []

    def at(r, a):
        return 1 + (r - 1) * around + a % around

    for a in range(around):
        faces.append((0, at(1, a), at(1, a + 1)))
        faces += [(at(r, a), at(r + 1, a), at(r + 1, a + 1), at(r, a + 1)) for r in range(1, rings - 1)]
        faces.append((last, at(rings - 1, a + 1), at(rings - 1, a)))
    return points, faces


def obj(points, faces):
    return "".join(f"v {x:.9f} {y:.9f} {z:.9f}\n" for x, y, z in points) + \
        "".join("f " + " ".join(str(v + 1) for v in face) + "\n" for face in faces)


def table(rows):
    return "marker,x,y,z\n" + "".join(f"{name},{x:.6f},{y:.6f},{z:.6f}\n" for name, (x, y, z) in rows)


class Register(harness.Case):
    def setUp(self):
        super().setUp()
        self.own, self.faces = egg(RINGS, AROUND)
        self.true, _ = egg(RINGS, AROUND, 1.1, 0.5, (0.4, 1, 0))
        self.write("egg.obj", obj(self.own, self.faces))
        self.write("scan.obj", obj(*egg(50, 50, 1.1, 0.5, (0.4, 1, 0))))
        self.marks = range(5, len(self.own), 20)
        self.write("clicked.csv", table((v, self.true[v]) for v in self.marks))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def median(self, name):
        """Distance of the written vertices from their true places."""
        read = [tuple(map(float, line.split()[1:])) for line in (self.folder / name).read_text().splitlines()
                if line.startswith("v ")]
        self.assertEqual(len(read), len(self.true))
        return sorted(math.dist(p, q) for p, q in zip(read, self.true))[len(read) // 2]

    def test_landmarks(self):
        outcome = self.succeed("scan", "register", "egg.obj", "scan.obj", "--landmarks", "clicked.csv", "-o", "r.obj",
                               "--confidence", "sure.csv")
        self.assertRegex(outcome.out, r"^r.obj: \d+ of 156 vertices on the scan, [\d.]+ \S+ \(rms\) from it\n"
                                      r"100 % of the scan's area is within reach of the template\n"
                                      r"landmarks are [\d.]+ \S+ \(rms\) from their places\n$")
        self.assertLess(self.median("r.obj"), 0.012)
        rows = (self.folder / "sure.csv").read_text().splitlines()
        self.assertEqual([rows[0], len(rows)], ["vertex,confidence", len(self.own) + 1])
        self.assertGreater(sum(float(row.split(",")[1]) for row in rows[1:]), 0.7 * len(self.own))
        self.assertEqual(sum(line.startswith("f ") for line in (self.folder / "r.obj").read_text().splitlines()),
                         len(self.faces))

    def test_names_and_start(self):
        self.write("own.csv", table((f"m{v}", self.own[v]) for v in self.marks))
        self.write("named.csv", table((f"m{v}", self.true[v]) for v in self.marks))
        answer = self.succeed("scan", "register", "egg.obj", "scan.obj", "--landmarks", "named.csv", "--points", "own.csv",
                              "--align", "rigid", "-o", "a.obj", "--confidence", "sure.ply", "--json").json()
        self.assertLess(answer["rms"], 0.004)
        self.assertLess(answer["landmark_rms"], 0.01)
        self.assertEqual([answer["vertices"], answer["flipped"]], [len(self.own), 0])
        self.assertLess(self.median("a.obj"), 0.012)
        self.assertTrue((self.folder / "sure.ply").read_bytes().startswith(b"ply"))
        # the next frame, from the last
        answer = self.succeed("scan", "register", "egg.obj", "scan.obj", "--start", "a.obj", "--start-reach", "50mm", "-o",
                              "b.obj", "--json").json()
        self.assertIsNone(answer["landmark_rms"])
        self.assertLess(self.median("b.obj"), 0.015)

    def test_refusals(self):
        words = ["scan", "register", "egg.obj"]
        self.sentence(self.run_tool(*words, "scan.obj"), 1, "begin nearer to the scan, with landmarks")
        self.write("mm.obj", obj(*egg(20, 20, scale=1000)))
        self.sentence(self.run_tool(*words, "mm.obj"), 1, "about 1000 times as large as the template: give both in metres")
        self.write("points.obj", obj(self.own, []))
        self.sentence(self.run_tool(*words, "points.obj"), 1, "without faces or normals")
        self.sentence(self.run_tool("scan", "register", "points.obj", "scan.obj"), 1, "the template has no faces")
        self.sentence(self.run_tool(*words, "scan.obj", "--start", "scan.obj"), 1, "does not have the faces of 'egg.obj'")
        self.write("far.csv", table([("999", (0, 0, 0))]))
        self.sentence(self.run_tool(*words, "scan.obj", "--landmarks", "far.csv"), 1, "vertices 0 to 155")
        self.write("odd.csv", table([("elbow", (0, 0, 0))]))
        self.sentence(self.run_tool(*words, "scan.obj", "--landmarks", "odd.csv"), 1, "'elbow'", "a name in --points")
        self.sentence(self.run_tool(*words, "scan.obj", "--points", "odd.csv"), 2, "--points goes with --landmarks")
        self.sentence(self.run_tool(*words, "scan.obj", "--landmarks", "clicked.csv", "--align", "up"), 2,
                      "--align needs similarity, rigid or none, not 'up'")
        self.sentence(self.run_tool(*words, "scan.obj", "-o", "r.png"), 2, "r.png")
        self.sentence(self.run_tool(*words, "scan.obj", "--reach", "far"), 2, "--reach needs a length")


harness.main()
