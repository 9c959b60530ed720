"""A sleeve that follows a bending tube: built from files, posed by files, changed, unpacked, and refusals."""
import json
import math

import harness

RINGS, SIDES = 9, 8


def bent(radius, angle, first, last):
    """Rings of a tube along x; its middle third is an arc of that angle in radians."""
    places = []
    for ring in range(first, last + 1):
        along = 2 * ring / (RINGS - 1)
        turn = angle * min(max(along - 2 / 3, 0), 2 / 3) / (2 / 3)
        x = y = 0.0
        for i in range(100):
            here = angle * min(max(along * (i + 0.5) / 100 - 2 / 3, 0), 2 / 3) / (2 / 3)
            x += math.cos(here) * along / 100
            y += math.sin(here) * along / 100
        for side in range(SIDES):
            a = 2 * math.pi * side / SIDES
            places.append((x - math.sin(turn) * radius * math.cos(a), y + math.cos(turn) * radius * math.cos(a),
                           radius * math.sin(a)))
    return places


def obj(positions):
    rings = len(positions) // SIDES
    lines = ["v %.9g %.9g %.9g" % p for p in positions]
    for r in range(rings - 1):
        for s in range(SIDES):
            face = (r * SIDES + s, r * SIDES + (s + 1) % SIDES, (r + 1) * SIDES + (s + 1) % SIDES, (r + 1) * SIDES + s)
            lines.append("f " + " ".join(str(v + 1) for v in face))
    return "\n".join(lines) + "\n"


def body(angle):
    return obj(bent(0.25, angle, 0, RINGS - 1))


def sleeve(angle):
    return obj(bent(0.3, angle, 2, RINGS - 3))


class Driven(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("body.obj", body(0))
        self.write("sleeve.obj", sleeve(0))
        examples = []
        for i, angle in enumerate((0.0, 0.7, 1.4)):
            self.write(f"body_{i}.obj", body(angle))
            self.write(f"sleeve_{i}.obj", sleeve(angle))
            examples.append({"name": f"k{i}", "mesh": f"sleeve_{i}.obj", "at": {"body": f"body_{i}.obj"}})
        self.project = {"exemplar": 1, "mesh": "sleeve.obj", "driver": {"mesh": "body.obj", "frames": 3},
                        "layers": [{"name": "driven", "space": [{"name": "body", "driver": True}],
                                    "weigh": {"kind": "convex"}, "examples": examples}]}
        self.write("p.json", json.dumps(self.project))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def test_way(self):
        self.succeed("build", "p.json", "-o", "p.glb")
        self.succeed("check", "p.json")
        for i in range(3):
            weights = json.loads(self.succeed("weights", "p.glb", f"body=body_{i}.obj", "--json").out)
            self.assertAlmostEqual(weights["layers"][0]["weights"][f"k{i}"], 1, places=6)
            self.succeed("pose", "p.glb", f"body=body_{i}.obj", "-o", "posed.obj")
            difference = json.loads(self.run_tool("diff", "posed.obj", f"sleeve_{i}.obj", "--json").out)
            self.assertLess(difference["farthest"], 1e-5)
        info = json.loads(self.succeed("info", "p.glb", "--json").out)
        self.assertEqual(info["driver"]["frames"], 3)
        self.assertEqual(info["inputs"][0]["kind"], "driver")
        self.assertIn("body=body_1.obj", self.succeed("example", "list", "p.json").out)
        self.succeed("unpack", "p.glb", "-o", "again")
        self.succeed("build", "again/p.json", "-o", "again.glb")
        self.assertEqual((self.folder / "p.glb").read_bytes(), (self.folder / "again.glb").read_bytes())
        self.succeed("render", "p.glb", "body=body_2.obj", "-o", "p.png", "--size", "64x64")

    def test_joints(self):
        """A rig whose driver hangs on a joint: a cache has no joints, so no command takes one for it."""
        nodes = [{"name": "hips", "children": [1]}, {"name": "chest", "translation": [0, 0.5, 0]}]
        self.write("bones.gltf", json.dumps({"asset": {"version": "2.0"}, "nodes": nodes, "scenes": [{"nodes": [0]}],
                                             "skins": [{"joints": [0, 1]}]}))
        self.project["driver"] = {"mesh": "body.obj", "frame": {"joint": "hips"}}
        self.project["skeleton"] = "bones.gltf"
        self.write("jointed.json", json.dumps(self.project))
        self.succeed("build", "jointed.json", "-o", "jointed.glb")
        for i in range(3):
            self.write(f"walk_{i + 1:04}.obj", body(0.1 * i))
        for words in (("apply", "-o", "worn.pc2"), ("report",), ("suggest",)):
            refused = self.run_tool("drive", words[0], "jointed.glb", "--driver", "walk.obj", *words[1:])
            self.assertEqual(refused.code, 1, words)
            self.assertIn("the rig moves with joint 'hips', but a cache does not hold the pose of joints", refused.err)

    def test_over(self):
        """A sleeve over a shirt that is 2 cm farther out, then over both ways of saying it wrong."""
        self.succeed("build", "p.json", "-o", "p.glb")
        for i in range(4):
            self.write(f"walk_{i + 1:04}.obj", body(0.4 * i))
            self.write(f"shirt_{i + 1:04}.obj", obj(bent(0.32, 0.4 * i, 1, RINGS - 2)))
        over = ("--over", "shirt.obj", "--over-mesh", "shirt_0001.obj")
        plain = json.loads(self.succeed("drive", "report", "p.glb", "--driver", "walk.obj", "--json").out)
        self.assertIsNone(plain["frames"][0]["covered"])
        self.assertEqual([f["crossings"] for f in plain["frames"]], [0, 0, 0, 0])
        report = json.loads(self.succeed("drive", "report", "p.glb", "--driver", "walk.obj", *over, "--untangle",
                                         "--csv", "t.csv", "--json").out)
        for frame in report["frames"]:
            self.assertGreater(frame["covered_before"], 20)
            self.assertEqual(frame["covered"], 0)
        header, *rows = (self.folder / "t.csv").read_text().splitlines()
        at = header.split(",").index("covered_before")
        self.assertEqual([int(float(r.split(",")[at])) for r in rows],
                         [f["covered_before"] for f in report["frames"]])
        text = self.succeed("drive", "report", "p.glb", "--driver", "walk.obj", *over).out
        self.assertIn("inside garments below", text)
        self.succeed("drive", "apply", "p.glb", "--driver", "walk.obj", *over, "--untangle", "-o", "jacket.obj")
        made = [tuple(map(float, line.split()[1:])) for line in (self.folder / "jacket_0001.obj").read_text().splitlines()
                if line.startswith("v ")]
        inner = min(math.hypot(y, z) for x, y, z in made)
        self.assertGreater(inner, 0.32 * math.cos(math.pi / SIDES))
        for words, code, said in ((("--over", "shirt.obj"), 2, "--over-mesh"),
                                  (("--over", "shirt.obj", "--over-mesh", "nowhere.obj"), 1, "nowhere.obj"),
                                  (("--over", "shirt.obj", "--over-mesh", "body.obj"), 1, "shirt")):
            with self.subTest(words=words):
                done = self.run_tool("drive", "apply", "p.glb", "--driver", "walk.obj", *words, "-o", "x.pc2")
                self.assertEqual(done.code, code)
                self.assertIn(said, done.err)
                self.assertFalse((self.folder / "x.pc2").exists())

    def test_examples(self):
        self.write("body_3.obj", body(1.0))
        self.write("sleeve_3.obj", sleeve(1.0))
        self.succeed("example", "add", "p.json", "--layer", "driven", "--name", "k3", "--at", "body=body_3.obj",
                     "sleeve_3.obj")
        self.assertIn("body=body_3.obj", self.succeed("example", "list", "p.json").out)
        self.succeed("example", "move", "p.json", "--name", "k0", "--at", "body=body.obj")
        self.succeed("example", "mute", "p.json", "--name", "k1")
        self.succeed("example", "remove", "p.json", "--name", "k3")

    def test_refused(self):
        self.succeed("build", "p.json", "-o", "p.glb")
        self.write("poses.csv", "body\n1\n")
        for words, said in ((("bake", "p.glb", "--motion", "poses.csv", "-o", "x.pc2"), "drive apply"),
                            (("plot", "p.glb", "-o", "x.png"), "weighed by a driver"),
                            (("sheet", "p.glb", "--axes", "body", "-o", "x.png"), "a driver"),
                            (("pose", "p.glb", "--poses", "poses.csv", "-o", "x"), "drive apply"),
                            (("weights", "p.glb", "body=sleeve.obj"), "not a form of the driver"),
                            (("weights", "p.glb", "body=nowhere.obj"), "nowhere.obj"),
                            (("example", "mirror", "p.json", "--name", "k1"), "follows the forms of a driver, which have no mirror images")):
            with self.subTest(words=words):
                done = self.run_tool(*words)
                self.assertEqual(done.code, 1)
                self.assertIn(said, done.err)


if __name__ == "__main__":
    harness.main()
