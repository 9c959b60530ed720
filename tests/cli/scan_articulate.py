"""Registered meshes: 'scan articulate' and 'scan run' on a folder of them. A tube that bends gives a rig that bends; wrong
input gives one sentence."""
import math

import harness

RINGS, AROUND, LENGTH, JOINTS = 17, 8, 1.0, (0.35, 0.7)


def turned(point, centre, angle):
    x, y = point[0] - centre[0], point[1] - centre[1]
    return (centre[0] + x * math.cos(angle) - y * math.sin(angle), centre[1] + x * math.sin(angle) + y * math.cos(angle),
            point[2])


def tube(*angles):
    """Vertices of a tube along x, bent in its plane at two joints by degrees; skinned, so that both bones act there."""
    points = []
    for r in range(RINGS):
        for k in range(AROUND):
            a = 2 * math.pi * k / AROUND
            start = (LENGTH * r / (RINGS - 1), 0.05 * math.cos(a), 0.06 * math.sin(a))
            shares = [min(1, max(0, (start[0] - j) / 0.12 + 0.5)) for j in JOINTS]
            middle = turned(start, (JOINTS[0], 0), math.radians(angles[0]))
            end = turned(turned(start, (JOINTS[1], 0), math.radians(angles[1])), (JOINTS[0], 0), math.radians(angles[0]))
            weights = (1 - shares[0], shares[0] * (1 - shares[1]), shares[0] * shares[1])
            points.append([sum(w * p[i] for w, p in zip(weights, (start, middle, end))) for i in range(3)])
    return points


def faces():
    return [[r * AROUND + k, (r + 1) * AROUND + k, (r + 1) * AROUND + (k + 1) % AROUND, r * AROUND + (k + 1) % AROUND]
            for r in range(RINGS - 1) for k in range(AROUND)]


POSES = {"p1": (0, 0), "p2": (60, 10), "p3": (20, 80), "p9": (-40, 50), "p10": (75, -60)}


class Articulate(harness.Case):
    def write(self, path, points, its_faces=None):
        lines = ["v %.6f %.6f %.6f" % tuple(p) for p in points]
        lines += ["f " + " ".join(str(c + 1) for c in f) for f in (faces() if its_faces is None else its_faces)]
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")

    def setUp(self):
        super().setUp()
        for name, angles in POSES.items():
            self.write(self.folder / "tube" / f"{name}.obj", tube(*angles))
        self.files = [f"tube/{name}.obj" for name in POSES]

    def distance(self, path, angles):
        """Of a posed rig's vertices from the truth, without where both stand and how the base is turned."""
        posed = [[float(x) for x in line.split()[1:4]] for line in (self.folder / path).read_text().splitlines()
                 if line.startswith("v ")]
        truth, worst = tube(*angles), 0
        for a in range(0, len(posed), 11):  # distances between vertices do not depend on either
            for b in range(0, len(posed), 7):
                worst = max(worst, abs(math.dist(posed[a], posed[b]) - math.dist(truth[a], truth[b])))
        return worst

    def test_rig(self):
        answer = self.succeed("scan", "articulate", *self.files, "-o", "rig.glb", "--bones", "3", "--poses", "p.csv",
                              "--json").json()
        self.assertEqual([j["name"] for j in answer["joints"]], ["bone_1", "bone_2", "bone_3"])
        self.assertEqual([j["parent"] for j in answer["joints"]], [None, "bone_1", "bone_1"])
        self.assertEqual([f["name"] for f in answer["forms"]], list(POSES))
        self.assertLess(answer["rms"], 0.003)
        self.assertTrue(all(f["left_out"]["rms"] > 0 for f in answer["forms"]))
        self.succeed("pose", "rig.glb", "--poses", "p.csv", "-o", "posed")
        for number, angles in enumerate(POSES.values()):
            self.assertLess(self.distance(f"posed/pose_{number + 1:05d}.obj", angles), 0.02)
        told = self.succeed("scan", "articulate", *self.files, "-o", "rig.glb", "--no-report", "--no-layers").out
        self.assertIn("joints, found\n", told)
        self.assertNotIn("ratio: left out", told)
        self.assertIn("rig.glb: 136 vertices, 0 layers", told)

    def test_start(self):
        """A rig with weights is where the next one starts, with all of its names; and other joints can be left away."""
        self.succeed("scan", "articulate", *self.files, "-o", "first.glb", "--bones", "3", "--no-report")
        answer = self.succeed("scan", "articulate", *self.files, "--weights", "first.glb", "-o", "second.glb",
                              "--json").json()
        self.assertEqual(len(answer["joints"]), 3)
        self.assertLess(answer["rms"], 0.003)
        (self.folder / "two.json").write_text(
            '{"exemplar_skeleton": 1, "name": "two", "joints": [{"name": "bone_1", "joint": "base", "translation": '
            '[0, 0, 0]}, {"name": "bone_2", "parent": "bone_1", "joint": "hinge", "axis": [0, 0, 1], "translation": '
            '[0, 0, 0]}], "markers": []}')
        answer = self.succeed("scan", "articulate", *self.files, "--weights", "first.glb", "--skeleton", "two.json", "-o",
                              "third.glb", "--json", "--no-report").json()
        self.assertEqual([j["name"] for j in answer["joints"]], ["bone_1", "bone_2"])
        self.sentence(self.run_tool("scan", "articulate", *self.files, "--weights", "first.glb", "--skeleton", "full",
                                    "-o", "third.glb"), 1, "'first.glb' has no joint 'hips'", "skeleton 'full'")

    def test_folder(self):
        outcome = self.run_tool("scan", "run", "tube")
        self.assertEqual(outcome.code, 0)
        self.assertIn("5 meshes are taken as one body in 5 poses", outcome.err)
        self.assertTrue((self.folder / "tube/body.glb").exists() and (self.folder / "tube/poses.csv").exists())
        rows = outcome.out.split("\n")
        order = [row.split()[0] for row in rows if row.startswith("p")]
        self.assertEqual(order, ["p1", "p2", "p3", "p9", "p10"])  # as people count
        again = self.run_tool("scan", "run", "tube")  # its own results are not meshes of the set
        self.assertEqual(again.code, 0)
        self.assertIn("5 meshes", again.err)

    def test_unit_and_up(self):
        """The same tube, three times as large, in centimetres with z up: the same rig."""
        for name, angles in POSES.items():
            points = [[3 * x for x in p] for p in tube(*angles)]
            self.write(self.folder / "plain" / f"{name}.obj", points)
            self.write(self.folder / "odd" / f"{name}.obj", [[100 * x, -100 * z, 100 * y] for x, y, z in points])
        words = ["--bones", "3", "--no-report", "--json"]
        plain = self.succeed("scan", "articulate", *[f"plain/{n}.obj" for n in POSES], "-o", "a.glb", *words).json()
        odd = self.run_tool("scan", "articulate", *[f"odd/{n}.obj" for n in POSES], "--up", "z", "-o", "b.glb", *words)
        self.assertEqual(odd.code, 0)
        self.assertIn("read as centimetres: --unit says otherwise", odd.err)
        told = self.succeed("scan", "articulate", *[f"odd/{n}.obj" for n in POSES], "--up", "z", "--unit", "cm", "-o",
                            "b.glb", *words).json()
        for result in odd.json(), told:
            for a, b in zip(plain["joints"], result["joints"]):
                self.assertLess(math.dist(a["translation"], b["translation"]), 1e-4)

    def test_refusals(self):
        run = ["scan", "articulate"]
        self.sentence(self.run_tool(*run, self.files[0], "-o", "rig.glb"), 1, "one form alone does not show how")
        self.sentence(self.run_tool(*run, *[self.files[1]] * 3, "-o", "rig.glb"), 1, "all 3 forms are the same")
        self.write(self.folder / "short.obj", tube(0, 0)[:-AROUND], faces()[:-AROUND])
        self.sentence(self.run_tool(*run, *self.files, "short.obj", "-o", "rig.glb"), 1,
                      "'short.obj' has 128 vertices and 120 faces, but 'tube/p1.obj' has 136 and 128")
        self.write(self.folder / "other.obj", tube(0, 0), [f[1:] + f[:1] for f in faces()])
        self.sentence(self.run_tool(*run, *self.files, "other.obj", "-o", "rig.glb"), 1, "'other.obj'", "'tube/p1.obj'")
        self.write(self.folder / "nan.obj", [[math.nan, 0, 0]] + tube(0, 0)[1:])
        self.sentence(self.run_tool(*run, *self.files, "nan.obj", "-o", "rig.glb"), 1, "nan.obj")
        self.sentence(self.run_tool(*run, *self.files, "--weights", self.files[0], "-o", "rig.glb"), 1, "p1.obj")
        self.sentence(self.run_tool(*run, *self.files), 2, "-o RIG.glb is missing")
        self.sentence(self.run_tool(*run, *self.files, "--skeleton", "full", "-o", "rig.glb"), 2, "--skeleton needs --weights")
        self.sentence(self.run_tool(*run, *self.files, "-o", "rig.obj"), 2, "rig.obj")
        self.sentence(self.run_tool(*run, *self.files, "nowhere.obj", "-o", "rig.glb"), 1, "nowhere.obj")
        self.assertFalse((self.folder / "rig.glb").exists())
        self.sentence(self.run_tool(*run, *self.files, "-o", "rig.glb", "--unit", "furlong"), 2, "not 'furlong'")
        self.sentence(self.run_tool(*run, *self.files, "-o", "rig.glb", "--up", "x"), 2, "--up needs y or z")
        (self.folder / "empty").mkdir()
        self.sentence(self.run_tool("scan", "run", "empty"), 1, "empty")


harness.main()
