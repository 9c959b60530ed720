"""exemplar scan fit with motion capture: a small skeleton found from a TRC file, as a fit, as BVH, and refusals."""
import json
import math

import harness

FRAMES = 12
BIRD = {"exemplar_skeleton": 1, "name": "bird", "joints": [
    {"name": "trunk", "joint": "base", "translation": [0, 1, 0]},
    {"name": "wing", "parent": "trunk", "joint": "ball", "translation": [0.2, 0.1, 0]},
    {"name": "tip", "parent": "wing", "joint": "hinge", "translation": [0.3, 0, 0], "axis": [0, 0, 1]}],
    "markers": [{"name": name, "joint": joint, "at": at} for name, joint, at in (
        ("A", "trunk", [0.1, 0, 0.1]), ("B", "trunk", [-0.1, 0, 0.1]), ("C", "trunk", [0, 0.2, -0.1]),
        ("D", "wing", [0.1, 0.05, 0]), ("E", "wing", [0.25, 0, 0.05]), ("F", "tip", [0.1, 0, 0]),
        ("G", "tip", [0.2, 0, 0.05]))]}


def turn(axis, angle):
    a, b = (axis + 1) % 3, (axis + 2) % 3
    m = [[float(i == j) for j in range(3)] for i in range(3)]
    m[a][a] = m[b][b] = math.cos(angle)
    m[a][b], m[b][a] = -math.sin(angle), math.sin(angle)
    return m


def times(m, v):
    return [sum(m[i][k] * v[k] for k in range(3)) for i in range(3)]


def product(m, n):
    return [[sum(m[i][k] * n[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def trial():
    """The markers of a bird that flaps, in millimetres, and a marker that does not belong to it."""
    lines = ["PathFileType\t4\t(X/Y/Z)", "DataRate\tNumFrames\tNumMarkers\tUnits", f"50\t{FRAMES}\t8\tmm",
             "Frame#\tTime\t" + "\t\t\t".join("abcdefg") + "\t\t\tball", ""]
    for f in range(FRAMES):
        trunk = turn(1, 0.2 * f)
        wing = product(trunk, product(turn(2, 0.8 * math.sin(0.6 * f)), turn(1, 0.5 * math.cos(0.9 * f))))
        frames = {"trunk": (trunk, [0.05 * f, 1.1, 0])}
        frames["wing"] = (wing, [p + d for p, d in zip(frames["trunk"][1], times(trunk, [0.2, 0.1, 0]))])
        frames["tip"] = (product(wing, turn(2, 0.7 * math.cos(0.6 * f) + 0.4)),
                         [p + d for p, d in zip(frames["wing"][1], times(wing, [0.3, 0, 0]))])
        cells = []
        for marker in BIRD["markers"]:
            m, place = frames[marker["joint"]]
            cells += [f"{1000 * (p + d):.3f}" for p, d in zip(place, times(m, marker["at"]))]
        lines.append("\t".join([str(f + 3), f"{f / 50}"] + cells + ["0", "0", "0"]))
    return "\n".join(lines) + "\n"


class Capture(harness.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "bird.json").write_text(json.dumps(BIRD))
        (self.folder / "flap.trc").write_text(trial())

    def test_results(self):
        words = ["scan", "fit", "flap.trc", "--skeleton", "bird.json", "--up", "+Y"]
        outcome = self.succeed(*words, "--bvh", "flap.bvh", "-o", "fit.json")
        self.assertRegex(outcome.out, r"^flap.trc: 12 frames, 7 of 8 markers used\nmarkers are [\d.]+ \S+ \(rms\)")
        self.assertIn("  tip            hinge    300", outcome.out)
        self.assertIn("not used: ball: never seen\n", outcome.out)
        motion = self.succeed("info", "flap.bvh", "--json").json()
        self.assertEqual([motion["frames"], motion["frame_time"]], [FRAMES, 0.02])
        self.assertEqual([joint["name"] for joint in motion["joints"]], ["trunk", "wing", "tip", "tip_end"])
        fit = json.loads((self.folder / "fit.json").read_text())
        self.assertEqual([scan["name"] for scan in fit["scans"]], [f"frame_{f + 3}" for f in range(FRAMES)])
        answer = self.succeed(*words, "--frames", "6", "--json").json()
        self.assertEqual(answer["markers"]["a"], "A")
        self.assertIsNone(answer["markers"]["ball"])
        self.assertLess(answer["rms"], 0.001)
        self.assertAlmostEqual(answer["bones"]["tip"], 0.3, delta=0.005)

    def test_refusals(self):
        self.sentence(self.run_tool("scan", "fit", "flap.trc"), 1, "0 of the markers (a, b", "of the skeleton 'full'")
        self.sentence(self.run_tool("scan", "fit", "flap.trc", "--up", "north"), 1, "'north' is not a direction")
        self.sentence(self.run_tool("scan", "fit", "flap.trc", "--frames", "0"), 2, "--frames needs a number")
        self.sentence(self.run_tool("scan", "fit", "flap.trc", "--even"), 2, "--even goes with a session")
        self.sentence(self.run_tool("scan", "fit", "flap.trc", "--bvh", "flap.txt"), 2, "does not end in .bvh")
        self.sentence(self.run_tool("scan", "fit", ".", "--bvh", "flap.bvh"), 2, "--bvh goes with motion capture")
        (self.folder / "cut.trc").write_text(trial()[:-200])
        self.sentence(self.run_tool("scan", "fit", "cut.trc"), 1, "cut.trc", "11 of 12 frames")


harness.main()
