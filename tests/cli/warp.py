"""Forms in, a rig of trajectories out: ends and turns, several forms, reports, projects, and wrong inputs."""
import json
import math
import shlex
import signal
import subprocess
import time

import harness

PARTS = 6


def bar(angle, parts=PARTS):
    """A bar along x, bent in the plane of x and y by an angle over its length of 4."""
    points = []
    for i in range(parts + 1):
        s, bend = 4 * i / parts, angle / 4
        x, y = (s, 0) if angle == 0 else (math.sin(bend * s) / bend, (1 - math.cos(bend * s)) / bend)
        for a, z in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
            points.append([x - a * math.sin(bend * s), y + a * math.cos(bend * s), z])
    return points


def faces(parts=PARTS):
    rings = [[4 * i + j + 1, 4 * i + (j + 1) % 4 + 1, 4 * i + 4 + (j + 1) % 4 + 1, 4 * i + 5 + j]
             for i in range(parts) for j in range(4)]
    return rings + [[4, 3, 2, 1], [4 * parts + j for j in range(1, 5)]]


def text(points, corners):
    return "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points) + "".join(
        "f " + " ".join(map(str, face)) + "\n" for face in corners)


class Warped(harness.Case):
    def write(self, name, points, corners=None):
        (self.folder / name).write_text(text(points, corners or faces()))

    def setUp(self):
        super().setUp()
        for name, angle in (("a.obj", 0), ("b.obj", 2.4), ("c.obj", -1.2)):
            self.write(name, bar(angle))

    def pose(self, rig, *words):
        return harness.positions_of(self.succeed("pose", rig, *words, "-o", "-").out)

    def apart(self, one, other):
        return max(abs(x - y) for p, q in zip(one, other) for x, y in zip(p, q))


class Rigs(Warped):
    def test_from_one_to_the_other(self):
        line = self.succeed("warp", "a.obj", "b.obj", "-o", "w.glb").out
        self.assertRegex(line, r"^w\.glb: 28 vertices, 1 layer, 1 example, ")
        self.assertLess(self.apart(self.pose("w.glb", "t=0"), bar(0)), 1e-5)
        self.assertLess(self.apart(self.pose("w.glb", "t=1"), bar(2.4)), 1e-5)
        half = self.pose("w.glb", "t=0.5")
        lengths = [math.dist(half[4 * i], half[4 * i + 4]) for i in range(PARTS)]
        ends = [[math.dist(form[4 * i], form[4 * i + 4]) for i in range(PARTS)] for form in (bar(0), bar(2.4))]
        for length, before, after in zip(lengths, *ends):
            self.assertAlmostEqual(length, (before + after) / 2, delta=0.02)
        straight = [[(x + y) / 2 for x, y in zip(p, q)] for p, q in zip(bar(0), bar(2.4))]
        self.assertGreater(self.apart(half, straight), 0.2)

    def test_the_reference_may_be_another(self):
        self.succeed("warp", "a.obj", "b.obj", "--reference", "b.obj", "-o", "w.glb")
        self.assertLess(self.apart(self.pose("w.glb", "t=0"), bar(2.4)), 1e-5)
        self.assertLess(self.apart(self.pose("w.glb", "t=1"), bar(0)), 1e-5)

    def test_several_forms(self):
        self.succeed("warp", "a.obj", "b.obj", "c.obj", "b.obj", "-o", "w.glb", "--threads", "2")
        layer = self.succeed("info", "w.glb", "--json").json()["layers"][0]
        self.assertEqual([axis["name"] for axis in layer["space"]], ["b", "c", "b-2"])
        self.assertEqual(layer["shape"], "trajectory")
        mixture = layer["mixture"]
        self.assertEqual(mixture["bytes"], 24 + 12 * (3 + mixture["corrector_count"]))
        self.assertRegex(self.succeed("info", "w.glb").out,
                         fr"\n  mixture of \d+ nodes?, \d+ edges? and \d+ correctors?, {mixture['bytes']} bytes a vertex\n")
        self.assertNotIn("bytes", layer["examples"][0])
        self.assertLess(self.apart(self.pose("w.glb", "c=1"), bar(-1.2)), 1e-5)
        self.assertLess(self.apart(self.pose("w.glb", "b-2=1"), bar(2.4)), 1e-5)
        self.succeed("warp", "a.obj", "b.obj", "c.obj", "b.obj", "-o", "one.glb", "--threads", "1")
        self.assertEqual((self.folder / "w.glb").read_bytes(), (self.folder / "one.glb").read_bytes())

    def test_other_kinds_of_files(self):
        self.succeed("warp", "a.obj", "b.obj", "-o", "w.glb")
        for kind in ("ply", "glb"):
            for name, t in (("a", 0), ("b", 1)):
                self.succeed("pose", "w.glb", f"t={t}", "-o", f"{name}.{kind}")
            self.succeed("warp", f"a.{kind}", f"b.{kind}", "-o", f"{kind}.glb")
            self.assertEqual(len(self.pose(f"{kind}.glb", "t=1")) >= 28, True)

    def test_unpacked_it_builds_to_the_same_bytes(self):
        (self.folder / "seg.txt").write_text("# ends\n1 0\n2 0\n3 0\n4 0\n21 1\n22 1\n23 1\n24 1\n")
        for number, how in enumerate((["--correctors", "2"],
                                      ["--mode", "paper", "--terms", "pose,rotation", "--weights", "rotation=0.2"],
                                      ["--mode", "paper", "--bases", "--segments", "seg.txt", "--segment-angle", "30",
                                       "--root", "0", "--iterations", "3"])):
            self.succeed("warp", "a.obj", "b.obj", *how, "-o", "w.glb", "-q")
            self.succeed("unpack", "w.glb", "-o", f"again{number}")
            self.succeed("build", f"again{number}/w.json", "-q")
            self.assertEqual((self.folder / "w.glb").read_bytes(),
                             (self.folder / f"again{number}/w.glb").read_bytes())

    def test_other_commands_take_it(self):
        self.succeed("warp", "a.obj", "b.obj", "-o", "w.glb")
        (self.folder / "move.csv").write_text("time,t\n0,0\n0.5,1\n")
        baked = self.succeed("bake", "w.glb", "--motion", "move.csv", "--fps", "10", "-o", "w.pc2").out
        self.assertIn("6 frames of 28 vertices", baked)
        baked = self.succeed("bake", "w.glb", "--motion", "move.csv", "--fps", "10", "-o", "flat.glb").out
        self.assertIn("not exact: glTF morphs along straight lines", baked)
        self.succeed("sheet", "w.glb", "--axes", "t", "-o", "sheet.png")
        self.assertEqual(self.succeed("weights", "w.glb", "t=0.25", "--json").json()["layers"][0]["weights"],
                         {"b": 0.25})
        self.succeed("unpack", "w.glb", "-o", "again")
        self.assertIn("[mixture]", self.succeed("check", "again/w.json").out)
        self.assertIn("b  layer1_001_b.obj", self.succeed("example", "list", "again/w.json").out)

    def test_one_basis_alone(self):
        how = ["--mode", "paper", "--bases", "--segment-angle", "30", "-q"]
        self.succeed("warp", "a.obj", "b.obj", *how, "--basis", "0", "--at", "0.5", "-o", "own.obj")
        self.succeed("warp", "a.obj", "b.obj", *how, "--basis", "2", "--at", "t=0.5", "-o", "second.obj")
        own = harness.positions_of((self.folder / "own.obj").read_text())
        second = harness.positions_of((self.folder / "second.obj").read_text())
        self.assertEqual((len(own), len(second)), (28, 28))
        self.assertGreater(self.apart(own, second), 0.01)


class Projects(Warped):
    def test_examples_are_changed_but_the_reference_stays(self):
        (self.folder / "p.json").write_text(json.dumps({"exemplar": 1, "mesh": "a.obj", "layers": [{
            "name": "l", "space": [{"name": "d", "min": -1, "max": 1}], "shape": "trajectory", "examples": [
                {"name": "r", "reference": True, "at": {"d": 0}}, {"name": "b", "mesh": "b.obj", "at": {"d": 1}},
                {"name": "c", "mesh": "c.obj", "at": {"d": -1}}]}]}))
        listed = self.succeed("example", "list", "p.json").out
        self.assertIn("r  d=0  a.obj  reference\n", listed)
        self.succeed("example", "move", "p.json", "--name", "b", "--at", "d=0.9")
        self.succeed("example", "mute", "p.json", "--name", "c")
        before = (self.folder / "p.json").read_bytes()
        for words, sentence in ((["remove", "--name", "r"], "'r' is the reference of layer 'l'"),
                                (["mute", "--name", "r"], "'r' is the reference, which all others start from"),
                                (["remove", "--name", "b"], "the reference alone moves nothing")):
            with self.subTest(words=words):
                self.sentence(self.run_tool("example", words[0], "p.json", *words[1:]), 1, sentence)
        self.assertEqual((self.folder / "p.json").read_bytes(), before)
        self.succeed("build", "p.json")
        self.assertLess(self.apart(self.pose("p.glb", "d=0.9"), bar(2.4)), 1e-5)
        # Another form goes onto the same axis, with or without the layer's name.
        for words in (["--layer", "l"], []):
            (self.folder / "p.json").write_bytes(before)
            self.assertEqual(self.run_tool("example", "add", "p.json", "--name", "n", "--at", "d=0.5", *words, "c.obj").code, 0)
            layer, = json.loads((self.folder / "p.json").read_text())["layers"]
            self.assertEqual(layer["examples"][-1], {"name": "n", "mesh": "c.obj", "at": {"d": 0.5}})
            self.succeed("build", "p.json", "-q")
            self.assertLess(self.apart(self.pose("p.glb", "d=0.5"), harness.positions_of((self.folder / "c.obj").read_text())), 1e-5)


class Reports(Warped):
    def test_text(self):
        lines = self.succeed("warp", "a.obj", "b.obj", "--report").out.splitlines()
        self.assertRegex(lines[0], r"^b: 1 component, \d+ bytes a vertex; pairs of triangles that cross: 0 at the start")
        self.assertEqual(lines[1].split()[:2], ["method", "t"])
        rows = [line.split() for line in lines[2:27]]
        self.assertEqual([row[0] for row in rows[::5]], ["linear", "poisson", "rigid", "polynomial", "guided"])
        self.assertEqual([row[1] for row in rows[:5]], ["0.1", "0.3", "0.5", "0.7", "0.9"])
        self.assertEqual([path.name for path in self.folder.iterdir() if path.suffix == ".glb"], [])

    def test_json_and_pictures(self):
        answer = self.succeed("warp", "a.obj", "b.obj", "c.obj", "--mode", "paper", "--iterations", "30", "--report",
                              "--json", "--picture", "p.png", "-o", "w.glb", "-q").json()
        self.assertEqual((answer["file"], len(answer["reports"])), ("w.glb", 2))
        for report, name in zip(answer["reports"], "bc"):
            self.assertEqual((report["example"], report["components"], len(report["rows"])), (name, 1, 25))
            row = report["rows"][-3]
            self.assertEqual((row["method"], row["t"], row["flipped"]), ("paper", 0.5, 0))
            self.assertLess(row["stretch"][2], report["rows"][2]["stretch"][2])
            self.assertTrue((self.folder / f"p-{name}.png").read_bytes().startswith(b"\x89PNG"))
        self.assertTrue((self.folder / "w.glb").exists())


class Mixtures(Warped):
    """The paper's mode with its first term alone stretches bars that bend, so its mixtures are weak."""
    WEAK = ["--mode", "paper", "--terms", "pose", "--iterations", "2"]

    def report(self, *words):
        return self.succeed("warp", *words, "--report", "--json", "-q").json()["mixtures"]

    def test_all_kinds_are_measured(self):
        self.write("d.obj", bar(0.7))
        found = self.report("a.obj", "b.obj", "c.obj", "d.obj", "--mixtures", "7")
        kinds = [row["kind"] for row in found["rows"]]
        self.assertEqual({kind: kinds.count(kind) for kind in kinds},
                         {"path": 33, "pair": 33, "thirds": 4, "all": 1, "random": 7})
        self.assertEqual((found["mixture_count"], found["candidate_count"]), (78, 78))
        ratios = [row["ratio"] for row in found["rows"]]
        self.assertEqual(ratios, sorted(ratios, reverse=True))
        self.assertAlmostEqual(found["median"], (ratios[38] + ratios[39]) / 2)
        self.assertEqual(found["weak_count"], sum(row["weak"] for row in found["rows"]))
        for row in found["rows"]:
            self.assertAlmostEqual(sum(row["weights"].values()) + row["reference"], 1)
            self.assertAlmostEqual(row["ratio"], max(row["path"]["stretch"][2], 0.003) / max(row["rigid"]["stretch"][2], 0.003))
            self.assertLessEqual(row["rigid"]["stretch"][2], row["linear"]["stretch"][2] + 0.003)
        times = sorted(row["weights"]["b"] for row in found["rows"] if row["kind"] == "path" and "b" in row["weights"])
        self.assertEqual(times, [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])

    def test_a_bad_mixture_is_said(self):
        out = self.succeed("warp", "a.obj", "b.obj", "c.obj", *self.WEAK, "--report", "--picture", "p.svg", "-q").out
        lines = out.splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("mixtures: "))
        self.assertRegex(lines[head], r"^mixtures: 54 measured, [1-9]\d* of them weak; .*median [\d.]+ times, worst [\d.]+ times$")
        self.assertEqual(lines[head + 1].split(), ["ratio", "path", "rigid", "linear", "folded", "(rigid)", "mixture"])
        ratios = [float(line.split()[0]) for line in lines[head + 2:-2]]
        self.assertEqual(ratios, sorted(ratios, reverse=True))
        self.assertGreater(ratios[0], 2)
        self.assertRegex(lines[-2], r"^The worst mixture is [\d.]+ [abc]( \+ [\d.]+ [abc])+: 99 of 100 triangles are stretched by up "
                                    r"to [\d.]+, [\d.]+ times as much as in the as-rigid-as-possible form\.$")
        self.assertEqual(lines[-1], "To mend it, use --mode guided, which follows as-rigid-as-possible forms.")
        picture = (self.folder / "p-worst-mixture.svg").read_text()
        for words in ("as rigid as possible", "on the paths", lines[-2].split(": ")[0].removeprefix("The worst mixture is ")):
            self.assertIn(words, picture)
        found = self.report("a.obj", "b.obj", "c.obj", *self.WEAK)
        self.assertEqual((found["remedy"], found["commands"]), ("guided", []))
        self.assertTrue(found["worst"]["weak"])

    def test_a_good_one_is_not(self):
        self.write("near.obj", bar(0.05))
        self.write("beside.obj", bar(-0.08))
        out = self.succeed("warp", "a.obj", "near.obj", "beside.obj", "--report").out
        self.assertIn("mixtures: 54 measured, 0 of them weak", out)
        self.assertRegex(out.splitlines()[-1], r"^All mixtures hold\. The worst is .*, with 1\.\d\d times the stretch of the "
                                               r"as-rigid-as-possible form\.$")
        self.assertEqual(self.report("a.obj", "near.obj", "beside.obj")["remedy"], "none")

    def test_the_commands_that_mend_it_work(self):
        self.write("one way.obj", bar(3))
        self.write("other.obj", bar(-3))
        words = ["a.obj", "one way.obj", "other.obj", "--correctors", "0", "-o", "w.glb", "-q"]
        found = self.succeed("warp", *words, "--report", "--json").json()["mixtures"]
        self.assertGreater(found["weak_count"], 0)  # so few vertices have one node, which correctors would help
        self.assertIn(found["remedy"], ("example", "between"))
        for line in found["commands"]:
            words = shlex.split(line)
            self.assertEqual(words[0], "exemplar")
            self.succeed(*words[1:], "-q")
        layers = json.loads((self.folder / "mend/w.json").read_text())["layers"]
        self.assertEqual(layers[-1]["examples"][-1]["name"], "between")
        at = layers[-1]["examples"][-1]["at"]
        self.assertEqual({name: round(value, 3) for name, value in at.items() if value},
                         {name: round(value, 3) for name, value in found["worst"]["weights"].items()})

    def test_two_outputs_need_two_names(self):
        outcome = self.run_tool("warp", "a.obj", "b.obj", "-o", "same.glb", "--report", "--rigid", "same.glb")
        self.assertEqual(outcome.code, 2)
        self.assertIn("-o and --rigid both name 'same.glb'", outcome.err)
        self.assertFalse((self.folder / "same.glb").exists())

    def test_the_rigid_form_mends_it(self):
        self.write("other.obj", bar(-2.4))
        words = ["a.obj", "b.obj", "other.obj", "-o", "w.glb", "--report", "--rigid", "still.obj"]
        found = self.succeed("warp", *words, *self.WEAK, "--json", "-q").json()["mixtures"]
        self.assertEqual(len(harness.positions_of((self.folder / "still.obj").read_text())), 28)
        pose = [f"{name}={weight:.4g}" for name, weight in found["worst"]["weights"].items()]
        self.assertGreater(self.apart(self.pose("w.glb", *pose), harness.positions_of((self.folder / "still.obj").read_text())), 0.05)
        self.succeed("unpack", "w.glb", "-o", "mend")
        weak = [self.weak_in("mend/w.json")]
        self.succeed("example", "add", "mend/w.json", "--name", "between", "--at", *pose, "still.obj", "-q")
        weak.append(self.weak_in("mend/w.json"))
        self.assertLess(weak[1], weak[0] - 1)  # not only the mixture itself

    def weak_in(self, project):
        finding, = [finding for finding in self.succeed("check", project, "--json").json()["findings"]
                    if finding["kind"] == "mixture"]
        return int(finding["text"].split(" are weak")[0].split()[-1])

    def test_check_says_it_too(self):
        self.succeed("warp", "a.obj", "b.obj", "c.obj", *self.WEAK, "-o", "w.glb", "-q")
        self.succeed("unpack", "w.glb", "-o", "again")
        out = self.succeed("check", "again/w.json").out
        self.assertRegex(out, r"\n  layers\[0\]: of 44 mixtures in 'warp', \d+ are weak; the worst is [\d.]+ [bc] .*; "
                              r'"mode": "guided" would follow it  \[mixture\]\n')
        finding, = [finding for finding in self.succeed("check", "again/w.json", "--json").json()["findings"]
                    if finding["kind"] == "mixture"]
        self.assertEqual((finding["severity"], finding["where"]), ("warning", "layers[0]"))
        self.assertGreater(finding["value"], 2)
        self.assertRegex(finding["pose"], r"^[bc]=0\.\d+( c=0\.\d+)?$")
        lines = [line.strip() for line in out.splitlines() if line.startswith("  exemplar ")]
        self.assertEqual([line.split()[1] for line in lines], ["render", "pose", "example"])
        self.assertTrue(all(f" {finding['pose']} " in line for line in lines))
        self.succeed("build", "again/w.json", "-q")
        for line in lines:
            words = shlex.split(line)[1:] + ["-q"] + (["--size", "80x80"] if "render" in line else [])
            self.assertEqual(self.run_tool(*words).code, 0)
        self.assertTrue((self.folder / "worst.png").exists())
        after, = [finding for finding in self.succeed("check", "again/w.json", "--json").json()["findings"]
                  if finding["kind"] == "mixture"]
        self.assertNotEqual(after["pose"], finding["pose"])  # an example is there now

    def test_check_measures_what_is_asked(self):
        self.succeed("warp", "a.obj", "b.obj", "c.obj", *self.WEAK, "-o", "w.glb", "-q")
        self.succeed("unpack", "w.glb", "-o", "again")
        self.assertIn("of 22 mixtures", self.succeed("check", "again/w.json", "--mixtures", "2").out)
        out = self.succeed("check", "again/w.json", "--mixtures", "0").out
        self.assertNotIn("mixture", out)
        self.assertNotIn("worst.png", out)

    def test_two_forms_have_points_on_one_path(self):
        out = self.succeed("warp", "a.obj", "b.obj", *self.WEAK, "--report").out
        self.assertIn("mixtures: 11 measured", out)
        rows = [line for line in out.splitlines() if line.endswith(" a") or line.endswith(" b")]
        self.assertEqual(len(rows), 6)

    def test_forms_without_size_have_no_picture(self):
        self.write("point.obj", [[0, 0, 0]] * 28)
        out = self.succeed("warp", "point.obj", "point.obj", "--report", "--picture", "p.svg").out
        self.assertIn("All mixtures hold.", out)
        self.assertTrue((self.folder / "p.svg").exists())
        self.assertFalse((self.folder / "p-worst-mixture.svg").exists())

    def test_none_are_measured(self):
        self.assertNotIn("mixture", self.succeed("warp", "a.obj", "b.obj", "--report", "--mixtures", "0").out)
        answer = self.succeed("warp", "a.obj", "b.obj", "--report", "--mixtures", "0", "--json").json()
        self.assertNotIn("mixtures", answer)


WRONG = [
    (["a.obj", "b.obj", "--report", "--mixtures", "-1"], "--mixtures needs a whole number from 0 to 10000, not '-1'"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mixtures", "3"], "--mixtures goes with --report"),
    (["a.obj", "b.obj", "-o", "w.glb", "--rigid", "r.obj"], "--rigid goes with --report"),
    (["a.obj", "b.obj", "--report", "--rigid", "r.obj", "--mixtures", "0"], "--mixtures 0 measures none"),
    (["a.obj", "b.obj", "--report", "--rigid", "r.txt"], "'r.txt' does not end in .obj, .ply, .glb or .gltf"),
    (["a.obj"], "at least two forms are needed"),
    (["a.obj", "b.obj"], "-o is required: it names the output"),
    (["a.obj", "b.obj", "-o", "w.obj"], "does not end in .glb"),
    (["a.obj", "b.obj", "-o", "w.glb", "--reference", "c.obj"], "'c.obj' is none of them"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mode", "printed"], "--mode needs guided or paper, not 'printed'"),
    (["a.obj", "b.obj", "-o", "w.glb", "--correctors", "65"], "a whole number from 0 to 64 or auto, not '65'"),
    (["a.obj", "b.obj", "-o", "w.glb", "--bases"], "--bases goes with --mode paper"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mode", "paper", "--correctors", "1"], "--correctors goes with --mode guided"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mode", "paper", "--terms", "pose,turn"], "--terms needs some of"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mode", "paper", "--terms", "pose,pose"], "--terms names a term twice"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mode", "paper", "--weights", "pose=1,pose=2"], "--weights names a term twice"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mode", "paper", "--terms", "pose", "--weights", "gradient=2"],
     "--weights names a term that --terms leaves out"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mode", "paper", "--weights", "pose=-1"], "--weights needs numbers above 0"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mode", "paper", "--root", "1"], "--root goes with --bases"),
    (["a.obj", "b.obj", "-o", "w.glb", "--mode", "paper", "--bases", "--segment-angle", "0"], "degrees above 0"),
    (["a.obj", "b.obj", "-o", "w.glb", "--picture", "p.png"], "--picture goes with --report"),
    (["a.obj", "b.obj", "-o", "-", "--report"], "cannot both go to standard output"),
    (["a.obj", "b.obj", "--report", "--picture", "p.jpg"], "'p.jpg' does not end in .png or .svg"),
    (["a.obj", "b.obj", "-o", "f.obj", "--at", "0.5"], "--at goes with --basis"),
    (["a.obj", "b.obj", "-o", "f.obj", "--basis", "0", "--at", "half"], "--at needs a number"),
    (["a.obj", "b.obj", "c.obj", "-o", "f.obj", "--basis", "0", "--at", "0.5"], "--at needs numbers after the forms'"),
]


class Refusals(Warped):
    def test_wrong_usage(self):
        before = self.listing()
        for words, sentence in WRONG:
            with self.subTest(words=words):
                self.sentence(self.run_tool("warp", *words), 2, sentence)
        self.assertEqual(self.listing(), before)

    def test_forms_that_do_not_belong_together(self):
        self.write("flip.obj", bar(1), [face[::-1] for face in faces()])
        self.write("short.obj", bar(1, 5), faces(5))
        (self.folder / "nan.obj").write_text("v nan 0 0\n" + text(bar(0)[1:], faces()))
        (self.folder / "far.obj").write_text("v 1e39 0 0\n" + text(bar(0)[1:], faces()))
        (self.folder / "off.obj").write_text("v 1e31 0 0\n" + text(bar(0)[1:], faces()))
        (self.folder / "empty.obj").write_text("# nothing\n")
        (self.folder / "points.obj").write_text("v 0 0 0\nv 1 0 0\n")
        before = self.listing()
        for first, second, words in (("a.obj", "flip.obj", ["'flip.obj'", "its faces are wound the other way round"]),
                                     ("a.obj", "short.obj", ["24 vertices here and 28 in the mesh"]),
                                     ("a.obj", "nan.obj", ["nan.obj:1: cannot read 'nan'"]),
                                     ("a.obj", "far.obj", ["too far away"]),
                                     ("a.obj", "off.obj", ["vertex 0 ", "must be below 1e30"]),
                                     ("a.obj", "empty.obj", ["empty.obj has no vertices"]),
                                     ("points.obj", "points.obj", ["'points.obj' has no faces"]),
                                     ("a.obj", "missing.obj", ["missing.obj"])):
            with self.subTest(form=second):
                self.sentence(self.run_tool("warp", first, second, "-o", "w.glb"), 1, *words)
        self.assertEqual(self.listing(), before)

    def test_a_few_reversed_faces_do_not_matter(self):
        self.write("one.obj", bar(2.4), faces()[:3] + [faces()[3][::-1]] + faces()[4:])
        self.succeed("warp", "a.obj", "b.obj", "-o", "clean.glb")
        self.succeed("warp", "a.obj", "one.obj", "-o", "one.glb")
        self.assertEqual(self.pose("clean.glb", "t=0.5"), self.pose("one.glb", "t=0.5"))

    def test_bases_that_are_not_there(self):
        self.sentence(self.run_tool("warp", "a.obj", "b.obj", "--basis", "1", "-o", "f.obj"), 1, "there is no basis 1")
        for lines, words in (("99 0\n", "seg.txt:1: there is no face 99"),
                             ("1 0\n1 0\n1 1\n", "seg.txt:3: face 1 is already in segment 0")):
            (self.folder / "seg.txt").write_text(lines)
            self.sentence(self.run_tool("warp", "a.obj", "b.obj", "--mode", "paper", "--bases", "--segments", "seg.txt",
                                        "-o", "w.glb"), 1, words)

    def test_an_interrupt_leaves_nothing(self):
        self.write("long_a.obj", bar(0, 3000), faces(3000))
        self.write("long_b.obj", bar(3, 3000), faces(3000))
        before = self.listing()
        process = subprocess.Popen([harness.TOOL, "warp", "long_a.obj", "long_b.obj", "-o", "w.glb", "--report"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=100)
        if process.returncode != 0:  # a faster machine may have written the rig by then
            self.assertEqual(process.returncode, 130, err)
            after = self.listing()
            after.pop("w.glb", None)
            self.assertEqual(after, before)

    def test_a_full_disk_leaves_nothing(self):
        if harness.THREAD_SANITIZED:
            return
        before = self.listing()
        self.sentence(self.run_tool("warp", "a.obj", "b.obj", "-o", "w.glb", file_size=100), 1, "w.glb")
        self.assertEqual(self.listing(), before)


harness.main()
