"""Each command at work: the files it writes, and its output as text and as JSON."""
import fcntl
import json
import math
import os
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time

import harness


def weights_at(case, *words):
    answer = case.succeed("weights", "band.glb", *words, "--json", "--quiet").json()
    return answer["layers"][0]["weights"]


class Built(harness.Case):
    """Tests on a project and its rig."""

    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json")


class Build(Built):
    def test_prints_one_line_of_figures(self):
        out = self.succeed("build", "band.json").out
        self.assertRegex(out, r"^band\.glb: 8 vertices, 1 layer, 4 examples, [\d.]+ kB, [\d.]+ m?s\n$")
        answer = self.succeed("build", "band.json", "--json").json()
        self.assertEqual(set(answer), {"rig", "vertices", "layers", "examples", "bytes", "seconds", "damped"})
        self.assertEqual(answer["damped"], [])
        self.assertEqual(answer["bytes"], (self.folder / "band.glb").stat().st_size)
        self.assertEqual([answer[key] for key in ("rig", "vertices", "layers", "examples")], ["band.glb", 8, 1, 4])

    def test_same_project_same_bytes_wherever_it_goes(self):
        first = (self.folder / "band.glb").read_bytes()
        self.succeed("build", "band.json", "-o", "other.glb")
        self.assertEqual((self.folder / "other.glb").read_bytes(), first)
        outcome = self.succeed("build", "band.json", "-o", "-")
        self.assertEqual(outcome.bytes, first)
        harness.write_project(self.folder / "elsewhere")
        self.succeed("build", self.folder / "elsewhere/band.json", "--threads", "1")
        self.assertEqual((self.folder / "elsewhere/band.glb").read_bytes(), first)

    def test_standard_output_is_the_descriptor_itself(self):
        first = (self.folder / "band.glb").read_bytes()
        for name in ("-", "/dev/stdout"):
            with self.subTest(name), open(self.folder / "log", "wb", buffering=0) as log:
                log.write(b"before")
                self.succeed("build", "band.json", "-o", name, stdout=log)
                log.write(b"between")
                self.succeed("build", "band.json", "-o", name, stdout=log)
                log.write(b"after")
            self.assertEqual((self.folder / "log").read_bytes(), b"before" + first + b"between" + first + b"after")

    def test_standard_output_that_is_a_socket(self):
        first = (self.folder / "band.glb").read_bytes()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.succeed("build", "band.json", "-o", "-", stdout=theirs)
            theirs.close()
            got = b""
            while part := ours.recv(65536):
                got += part
        self.assertEqual(got, first)

    def test_closed_streams(self):
        """Output never ends up in a file that took the place of a closed stream."""
        first = (self.folder / "band.glb").read_bytes()
        for closed, words, code in ((">&-", "build band.json -o -", 1), (">&- 2>&-", "build band.json -o new.glb", 1),
                                    ("<&- >&- 2>&-", "build band.json -o new.glb -q", 0)):
            with self.subTest(closed):
                process = subprocess.run(f"'{harness.TOOL}' {words} {closed}", shell=True, cwd=self.folder,
                                         stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(process.returncode, code)
                if "new" in words:
                    self.assertEqual((self.folder / "new.glb").read_bytes(), first)
                else:
                    self.assertEqual(process.stderr,
                                     b"exemplar: cannot write to standard output: Bad file descriptor\n")

    def test_a_closed_stream_is_no_place_for_a_file(self):
        """The line about an interrupt must not land in a rig that got descriptor 2."""
        self.succeed("demo", "blob")
        whole = (self.folder / "blob/blob.glb").read_bytes()
        os.mkfifo(self.folder / "rig")
        process = subprocess.Popen(f"exec '{harness.TOOL}' build blob/blob.json -o rig 2>&-", shell=True,
                                   cwd=self.folder)
        with open(self.folder / "rig", "rb", buffering=0) as rig:
            room = fcntl.fcntl(rig, fcntl.F_GETPIPE_SZ)
            self.assertLess(room, len(whole))
            waiting = 0
            while waiting < room // 2:
                waiting, = struct.unpack("i", fcntl.ioctl(rig, termios.FIONREAD, b"1234"))
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            got = b""
            while part := rig.read(65536):
                got += part
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertTrue(whole.startswith(got))

    def test_a_link_that_leads_nowhere_is_followed(self):
        (self.folder / "link.glb").symlink_to("target.glb")
        self.succeed("build", "band.json", "-o", "link.glb")
        self.assertTrue((self.folder / "link.glb").is_symlink())
        self.assertEqual((self.folder / "target.glb").read_bytes(), (self.folder / "band.glb").read_bytes())


class Weights(Built):
    def test_at_an_example_it_has_all_the_weight(self):
        for name, (bend, girth) in harness.FORMS.items():
            weights = weights_at(self, f"bend={90 * bend}", f"girth={girth}")
            self.assertEqual(list(weights), list(harness.FORMS))
            for other, weight in weights.items():
                self.assertAlmostEqual(weight, 1.0 if other == name else 0.0, delta=1e-9)

    def test_rest_is_the_default(self):
        self.assertAlmostEqual(weights_at(self)["straight"], 1, delta=1e-9)
        self.assertEqual(weights_at(self, "bend=0", "girth=0"), weights_at(self))
        self.assertNotEqual(weights_at(self, "bend=10"), weights_at(self, "bend=70"))

    def test_huge_weights_are_short(self):
        exact = weights_at(self, "bend=1e12")
        lines = self.succeed("weights", "band.glb", "bend=1e12", "-q").out.splitlines()
        large = 0
        for line in lines[1:-1]:
            name, number = line.split()
            self.assertLessEqual(len(number), 10)
            self.assertAlmostEqual(float(number) / exact[name], 1, delta=1e-5)
            large += abs(exact[name]) >= 1e5
        self.assertGreater(large, 0)

    def test_json_is_exactly_the_promised_form(self):
        outcome = self.succeed("weights", "band.glb", "bend=30", "girth=.25", "--json")
        answer = outcome.json()
        self.assertEqual(list(answer), ["layers"])
        self.assertEqual([list(layer) for layer in answer["layers"]], [["name", "weights"]])
        self.assertEqual(answer["layers"][0]["name"], "body")
        self.assertAlmostEqual(math.fsum(answer["layers"][0]["weights"].values()), 1, delta=1e-6)
        # Python writes doubles with the fewest digits that read back; the tool must too, except for the style of the
        # exponent.
        for number in outcome.out.replace("}", ",").split(":"):
            word = number.split(",")[0]
            if word[0] in "-0123456789":
                digits = word.lower().split("e")[0].replace("-", "").replace(".", "").strip("0")
                expected = repr(float(word)).lower().split("e")[0].replace("-", "").replace(".", "").strip("0")
                self.assertEqual(digits, expected)

    def test_layers_stand_apart(self):
        description = harness.project()
        second = json.loads(json.dumps(description["layers"][0]))
        second["name"] = "other"
        second["examples"] = second["examples"][1:3]
        second["pseudo"] = []
        description["layers"].append(second)
        harness.write_project(self.folder, description)
        self.succeed("build", "band.json")
        first, last = self.succeed("weights", "band.glb", "girth=1", "--json").json()["layers"]
        self.assertEqual((first["name"], list(first["weights"])), ("body", ["straight", "bent", "thick", "both"]))
        self.assertEqual((last["name"], list(last["weights"])), ("other", ["bent", "thick"]))
        for layer in (first, last):
            for name, weight in layer["weights"].items():
                self.assertAlmostEqual(weight, 1.0 if name == "thick" else 0.0, delta=1e-9)
        lines = self.succeed("weights", "band.glb", "girth=1").out.splitlines()
        self.assertEqual([line.split() for line in lines[6:]],
                         [["other"], ["bent", "0.000000"], ["thick", "1.000000"], ["sum", "1.000000"]])

    def test_text_is_a_table_that_ends_with_the_sum(self):
        lines = self.succeed("weights", "band.glb", "bend=90").out.splitlines()
        self.assertEqual(lines[0], "body")
        self.assertEqual([line.split()[0] for line in lines[1:]], [*harness.FORMS, "sum"])
        self.assertEqual([line.split()[1] for line in lines[1:]],
                         ["0.000000", "1.000000", "0.000000", "0.000000", "1.000000"])


class Pose(Built):
    def form(self, name):
        return (self.folder / name).read_text()

    def test_at_an_example_it_is_that_example(self):
        for name, (bend, girth) in harness.FORMS.items():
            self.succeed("pose", "band.glb", f"bend={90 * bend}", f"girth={girth}", "-o", "a.obj")
            for got, expected in zip(harness.positions_of(self.form("a.obj")), harness.bent(bend, girth), strict=True):
                for g, e in zip(got, expected):
                    self.assertAlmostEqual(g, e, delta=1e-5)

    def test_numbers_have_no_more_digits_than_the_rig(self):
        text = harness.obj_text([[0.3 * x, 0.1 + y, z] for x, y, z in harness.REST])
        (self.folder / "straight.obj").write_text(text)
        self.succeed("build", "band.json")
        self.succeed("pose", "band.glb", "-o", "a.obj")
        self.assertIn("v 0.3 0.1 ", self.form("a.obj"))

    def test_binary_files_hold_floats(self):
        self.succeed("pose", "band.glb", "bend=30", "girth=0.3", "-o", "a.ply", "-q")
        head = (self.folder / "a.ply").read_bytes().split(b"end_header")[0]
        self.assertEqual(head.count(b"property float "), 8)  # positions, normals, texture coordinates
        self.assertNotIn(b"double", head)

    def test_keeps_polygons_groups_materials_and_texture_coordinates(self):
        self.succeed("pose", "band.glb", "bend=20", "-o", "a.obj")
        keys = ("faces", "triangles", "quads", "larger", "groups", "materials", "texcoords", "vertices")
        first = self.succeed("info", "a.obj", "--json").json()
        second = self.succeed("info", "straight.obj", "--json").json()
        for key in keys:
            self.assertEqual(first[key], second[key], key)
        self.assertEqual([group["name"] for group in first["groups"]], ["front", "back"])

    def test_prints_what_it_wrote(self):
        self.assertEqual(self.succeed("pose", "band.glb", "-o", "a.obj").out, "a.obj: 8 vertices\n")

    def test_standard_output(self):
        self.succeed("pose", "band.glb", "bend=20", "-o", "a.obj")
        self.assertEqual(self.succeed("pose", "band.glb", "bend=20", "-o", "-").out, self.form("a.obj"))
        with open(self.folder / "b.obj", "wb") as file:
            self.succeed("pose", "band.glb", "bend=20", "-o", "-", stdout=file)
        self.assertEqual(self.form("b.obj"), self.form("a.obj"))

    def test_16_bit_is_near(self):
        self.succeed("pose", "band.glb", "bend=33", "girth=.7", "-o", "a.obj")
        self.succeed("pose", "band.glb", "bend=33", "girth=.7", "-o", "b.obj", "--16-bit")
        a, b = harness.positions_of(self.form("a.obj")), harness.positions_of(self.form("b.obj"))
        worst = max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q))
        self.assertLess(worst, 1e-4)
        self.assertNotEqual(a, b)

    def test_a_table_gives_the_same_forms_as_single_poses(self):
        rows = [(i * 1.25, (i % 7) / 7) for i in range(70)]
        (self.folder / "poses.csv").write_text("bend,girth\n" + "".join(f"{b!r},{g!r}\n" for b, g in rows))
        for threads in ("1", "4"):
            out = self.succeed("pose", "band.glb", "--poses", "poses.csv", "-o", f"t{threads}/deep",
                               "--threads", threads).out
            self.assertEqual(out, f"t{threads}/deep: 70 forms of 8 vertices\n")
            names = sorted(os.listdir(self.folder / f"t{threads}/deep"))
            self.assertEqual(names, [f"pose_{i + 1:05d}.obj" for i in range(70)])
        for i in (0, 1, 31, 32, 63, 64, 69):
            self.succeed("pose", "band.glb", f"bend={rows[i][0]!r}", f"girth={rows[i][1]!r}", "-o", "single.obj")
            for threads in ("1", "4"):
                self.assertEqual(self.form(f"t{threads}/deep/pose_{i + 1:05d}.obj"), self.form("single.obj"))

    def test_a_table_overwrites_only_when_told(self):
        (self.folder / "poses.csv").write_text("bend\n0\n10\n20\n")
        (self.folder / "out").mkdir()
        (self.folder / "out/pose_00003.obj").write_text("old")
        before = self.listing()
        words = ["pose", "band.glb", "--poses", "poses.csv", "-o", "out"]
        self.sentence(self.run_tool(*words), 1, "out/pose_00003.obj", "--force")
        self.assertEqual(self.listing(), before)
        (self.folder / "out/pose_00003.obj").unlink()
        (self.folder / "out/pose_00002.obj").symlink_to("gone")
        self.sentence(self.run_tool(*words), 1, "out/pose_00002.obj", "--force")
        (self.folder / "out/pose_00002.obj").unlink()
        self.succeed(*words)
        (self.folder / "out/pose_00002.obj").write_text("old")
        self.succeed(*words, "--force")
        self.assertIn("\nf ", self.form("out/pose_00002.obj"))

    def test_a_form_beyond_float_is_refused(self):
        # The only vertex that moves is in the middle of the mesh; a table names the form.
        description = harness.project()
        layer = description["layers"][0]
        layer["weigh"], layer["pseudo"] = {"kind": "direct"}, []
        layer["space"] = [{"name": "far", "min": 0, "max": 1, "rest": 0}]
        layer["examples"] = [{"name": "far", "mesh": "bent.obj"}]
        harness.write_project(self.folder, description)
        points = [list(point) for point in harness.REST]
        points[5][1] = 3e38
        (self.folder / "bent.obj").write_text(harness.obj_text(points))
        self.succeed("build", "band.json")
        self.succeed("pose", "band.glb", "far=1", "-o", "-")
        (self.folder / "poses.csv").write_text("far\n0\n1\n-2\n")
        before = self.listing()
        sentence = "vertex 5 of this pose is too far away for a float"
        self.sentence(self.run_tool("pose", "band.glb", "far=2", "-o", "a.obj", "-q"), 1, f"exemplar: {sentence}")
        self.sentence(self.run_tool("pose", "band.glb", "far=2", "-o", "-", "-q"), 1, sentence)
        self.sentence(self.run_tool("pose", "band.glb", "--poses", "poses.csv", "-o", "out"), 1,
                      f"out/pose_00003.obj: {sentence}")
        self.assertEqual(self.listing(), before)


class PoseOfLevels(harness.Case):
    """Forms at a level, and files next to a form."""

    def build(self, **more):
        harness.write_project(self.folder, {**harness.project(), **more})
        self.succeed("build", "band.json", "-q")

    def test_levels_by_name(self):
        self.build(subdivide={"scheme": "catmull_clark", "levels": 2, "limit": True})
        for level, count in (("cage", 8), ("0", 8), ("1", 21), ("2", 65), ("limit", 65)):
            self.assertIn(f"{count} vertices", self.succeed("pose", "band.glb", "--level", level, "-o", "a.obj").out)
        self.sentence(self.run_tool("pose", "band.glb", "--level", "3", "-o", "a.obj"), 1, "no level '3'",
                      "the cage, levels 1 to 2 and the limit;")
        for word in ("-1", "2x", "top"):
            self.sentence(self.run_tool("pose", "band.glb", "--level", word, "-o", "a.obj"), 2, f"not '{word}'")

    def test_levels_that_are_there_are_named(self):
        for subdivide, named in (({"levels": 1}, "the cage and level 1;"),
                                 ({"levels": 0, "limit": True}, "the cage and the limit;"),
                                 ({"levels": 1, "limit": True}, "the cage, level 1 and the limit;")):
            self.build(subdivide={"scheme": "catmull_clark", **subdivide})
            self.sentence(self.run_tool("pose", "band.glb", "--level", "5", "-o", "a.obj"), 1, named)
        self.build()
        self.sentence(self.run_tool("pose", "band.glb", "--level", "1", "-o", "a.obj"), 1, "the cage only;")

    def test_limit_without_levels_keeps_groups(self):
        self.build(subdivide={"scheme": "catmull_clark", "levels": 0, "limit": True})
        self.succeed("pose", "band.glb", "-o", "limit.obj", "-q")
        self.succeed("pose", "band.glb", "-o", "cage.obj", "-q", "--level", "cage")
        kept = [[line for line in (self.folder / name).read_text().splitlines() if line.split()[0] in ("g", "usemtl")]
                for name in ("limit.obj", "cage.obj")]
        self.assertEqual(kept[0], kept[1])
        self.assertTrue(kept[0])

    def test_files_beside_a_form_are_not_overwritten_or_left(self):
        for name, colour in (("a.png", (10, 20, 30)), ("b.png", (200, 0, 0))):
            (self.folder / name).write_bytes(harness.png(4, 4, colour))
        description = harness.project()
        layer = description["layers"][0]
        layer["weigh"], layer["pseudo"] = {"kind": "direct"}, []
        layer["space"] = [{"name": "far", "min": 0, "max": 1, "rest": 0}]
        layer["examples"] = [{"name": "far", "mesh": "bent.obj"}]
        description["layers"].append(
            {"name": "look", "shape": "pixels", "texture": "base_color",
             "space": [{"name": "age", "min": 0, "max": 1}],
             "examples": [{"name": "young", "image": "a.png", "at": {"age": 0}},
                          {"name": "old", "image": "b.png", "at": {"age": 1}}]})
        harness.write_project(self.folder, description)
        points = [list(point) for point in harness.REST]
        points[5][1] = 3e38
        (self.folder / "bent.obj").write_text(harness.obj_text(points))
        self.succeed("build", "band.json", "-q")
        for kind, more, beside in (("obj", ["--textures"], "pose_00002.base_color.png"), ("gltf", [], "pose_00002.bin"),
                                   ("glb", ["--textures"], None)):
            out = self.folder / kind
            out.mkdir()
            words = ["pose", "band.glb", "--poses", "poses.csv", "--kind", kind, "-o", kind, *more]
            # The third form leaves the range of float: files written before it are removed.
            (self.folder / "poses.csv").write_text("far,age\n0,0\n1,1\n-2,0\n")
            self.sentence(self.run_tool(*words), 1, f"pose_00003.{kind}", "too far away")
            self.assertEqual(list(out.iterdir()), [])
            (self.folder / "poses.csv").write_text("far,age\n0,0\n1,1\n")
            if beside:
                (out / beside).write_text("mine")
                self.sentence(self.run_tool(*words), 1, beside, "exists already", "--force")
                self.assertEqual([path.name for path in out.iterdir()], [beside])
                self.assertEqual((out / beside).read_text(), "mine")
            self.succeed(*words, "--force", "-q")
            self.assertEqual(len(list(out.iterdir())), 4 if beside else 2)


class Info(Built):
    def test_project(self):
        answer = self.succeed("info", "band.json", "--json").json()
        self.assertEqual(answer["kind"], "project")
        self.assertEqual(answer["mesh"], "straight.obj")
        layer, = answer["layers"]
        self.assertEqual([axis["name"] for axis in layer["space"]], ["bend", "girth"])
        self.assertEqual(layer["examples"][1], {"name": "bent", "mesh": "bent.obj", "at": {"bend": 90, "girth": 0}})
        self.assertEqual(layer["pseudo"], [{"at": {"bend": 50, "girth": 0.5}, "from": {"bend": 45, "girth": 0.5}}])
        text = self.succeed("info", "band.json").out
        for fragment in ("band.json: a project", "straight.obj", "layer body: cardinal, bspline, linear", "2 axes",
                         "4 examples", "bend=90  girth=1", "1 pseudo-example", "both.obj"):
            self.assertIn(fragment, text)

    def test_rig(self):
        answer = self.succeed("info", "band.glb", "--json").json()
        project = self.succeed("info", "band.json", "--json").json()
        self.assertEqual(answer["kind"], "rig")
        self.assertEqual([answer[key] for key in ("vertices", "faces", "triangles", "examples")], [8, 3, 6, 4])
        for got, expected in zip(answer["box"], [0, 0, 0, 3, 1, 0], strict=True):
            self.assertAlmostEqual(got, expected, delta=1e-6)
        self.assertEqual([axis["name"] for axis in answer["inputs"]], ["bend", "girth"])
        layer, original = answer["layers"][0], project["layers"][0]
        self.assertEqual(layer["space"], original["space"])
        self.assertEqual(layer["weigh"], original["weigh"])
        self.assertEqual(layer["pseudo"], original["pseudo"])
        self.assertEqual([e["at"] for e in layer["examples"]], [e["at"] for e in original["examples"]])
        text = self.succeed("info", "band.glb").out
        for fragment in ("band.glb: a rig", "vertices  8", "layer body", "bend=90  girth=1"):
            self.assertIn(fragment, text)

    def test_weighers(self):
        """In the words of project files, for a project and its rig; unpack writes the same."""
        description = harness.project()
        cases = [({"kind": "nearest", "k": 3, "form": "paper"}, "nearest, k 3, paper"),
                 ({"kind": "nearest", "k": 8, "form": "next"}, "nearest, k 8, next"),
                 ({"kind": "shepard", "power": 3.5}, "shepard, power 3.5"),
                 ({"kind": "cardinal", "kernel": "wendland", "linear": False, "radius": 2, "ridge": 0.5},
                  "cardinal, wendland, not linear, radius 2, ridge 0.5")]
        for weigh, words in cases:
            description["layers"][0]["weigh"] = weigh
            harness.write_project(self.folder, description, "weighed.json")
            self.succeed("build", "weighed.json", "-o", "weighed.glb", "-q")
            for name in ("weighed.json", "weighed.glb"):
                self.assertEqual(self.succeed("info", name, "--json").json()["layers"][0]["weigh"], weigh)
                self.assertIn(f"layer body: {words}\n", self.succeed("info", name).out)
            self.succeed("unpack", "weighed.glb", "-o", "unpacked", "-q", "--force")
            project, = (self.folder / "unpacked").glob("*.json")
            written = {key: value for key, value in weigh.items() if (key, value) != ("form", "next")}  # the default, left out
            self.assertEqual(json.loads(project.read_text())["layers"][0]["weigh"], written)
        for weigh, text in (({"kind": "nearest", "k": 65}, "weigh.k: a whole number from 1 to 64"),
                            ({"kind": "shepard", "power": 0}, "weigh.power: must be above 0 and at most 64"),
                            ({"kind": "shepard", "k": 3}, 'weigh.k: unknown key')):
            description["layers"][0]["weigh"] = weigh
            harness.write_project(self.folder, description, "weighed.json")
            self.sentence(self.run_tool("check", "weighed.json"), 1, f"layers[0].{text}")

    def test_offsets(self):
        """Frames, participation, moved vertices and muting; build reports its choices."""
        description = harness.project()
        layer = description["layers"][0]
        del layer["pseudo"]
        layer.update(shape="offsets", participation="moved", muted=True, weigh={"kind": "gaussian", "falloff": "auto"})
        layer["examples"][3]["muted"] = True
        layer["examples"][1]["falloff"] = 2
        harness.write_project(self.folder, description, "offsets.json")
        outcome = self.run_tool("build", "offsets.json")
        self.assertEqual(outcome.code, 0)
        self.assertIn("exemplar: layer 'body': \"auto\" chose ", outcome.err)
        self.assertEqual(self.succeed("build", "offsets.json", "-q").err, "")
        answer, = self.succeed("info", "offsets.glb", "--json").json()["layers"]
        self.assertEqual([answer[key] for key in ("shape", "frame", "participation", "muted")],
                         ["offsets", "rest", "moved", True])
        moved = [example["moved"] for example in answer["examples"]]
        self.assertEqual(len(moved), 3)
        self.assertEqual(moved[0], 0)
        self.assertTrue(all(0 < count <= 8 for count in moved[1:]))
        text = self.succeed("info", "offsets.glb").out
        for fragment in ("offsets in the frame rest, participation moved, muted", "falloff 2", f"moves {moved[1]} vert"):
            self.assertIn(fragment, text)
        text = self.succeed("info", "offsets.json").out
        for fragment in ("falloff chosen by the build, muted", "  muted\n"):
            self.assertIn(fragment, text)
        layer.update(participation="layer", muted=False)
        harness.write_project(self.folder, description, "offsets.json")
        answer, = self.succeed("info", "offsets.json", "--json").json()["layers"]
        self.assertEqual([answer["participation"], answer["muted"]], ["layer", False])

    def test_form(self):
        answer = self.succeed("info", "bent.obj", "--json").json()
        self.assertEqual(answer["kind"], "form")
        self.assertEqual([answer[key] for key in ("vertices", "faces", "triangles", "quads", "larger", "texcoords")],
                         [8, 3, 0, 3, 0, 8])
        self.assertEqual(answer["groups"], [{"name": "front", "faces": 1}, {"name": "back", "faces": 2}])
        self.assertEqual(answer["box"], [0, 0, 0, 3, 1, 1])
        self.assertIn("faces     3: 0 triangles, 3 quads, 0 larger", self.succeed("info", "bent.obj").out)
        (self.folder / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.assertIn("faces     1: 1 triangle, 0 quads, 0 larger", self.succeed("info", "one.obj").out)

    def test_motion(self):
        text = ("HIERARCHY\nROOT Hips\n{\nOFFSET 0 10 0\nCHANNELS 4 Xposition Yposition Zposition Xrotation\nJOINT Knee\n{\n"
                "OFFSET 1 -5 0\nCHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 0 -6 0\n}\n}\n}\nMOTION\nFrames: 3\n"
                "Frame Time: 0.25\n" + "0 0 0 0 0\n" * 3)
        (self.folder / "walk.bvh").write_text(text)
        answer = self.succeed("info", "walk.bvh", "--json").json()
        self.assertEqual([answer[key] for key in ("kind", "frames", "seconds", "frame_time", "root_moves", "height")],
                         ["motion", 3, 0.5, 0.25, True, 11])
        self.assertEqual(answer["joints"][1:], [{"name": "Knee", "parent": "Hips", "end": False},
                                                {"name": "Knee_end", "parent": "Knee", "end": True}])
        out = self.succeed("info", "walk.bvh").out
        for fragment in ("walk.bvh: a motion", "frames    3 frames, 0.5 s, 4 a second", "root      moves",
                         "height    11 at rest", "joints    2 joints, 1 end site",
                         "      0 Hips\n      1   Knee\n      2     Knee_end\n"):
            self.assertIn(fragment, out)
        os.rename(self.folder / "walk.bvh", self.folder / "walk.txt")
        self.assertIn("a motion", self.succeed("info", "walk.txt").out)
        (self.folder / "cut.bvh").write_text(text[:-9])
        self.sentence(self.run_tool("info", "cut.bvh"), 1, "cut.bvh", "2 of 3 frames")
        self.sentence(self.run_tool("render", "cut.bvh", "-o", "a.png"), 1, "cut.bvh", "a motion, not a rig")
        self.sentence(self.run_tool("diff", "cut.bvh", "bent.obj"), 1, "cut.bvh", "a motion")

    def test_markers(self):
        text = ("PathFileType\t4\t(X/Y/Z)\nDataRate\tNumFrames\tNumMarkers\tUnits\n50\t4\t3\tmm\nFrame#\tTime\tHEAD\t\t\tKNEE"
                "\t\t\tTOE\n\n" + "".join(f"{f + 7}\t0\t10\t1700\t20\t" + ("10\t500\t20\t" if f != 2 else "\t\t\t") +
                                      "30\t100\t50\n" for f in range(4)))
        (self.folder / "walk.trc").write_text(text)
        answer = self.succeed("info", "walk.trc", "--json").json()
        self.assertEqual([answer[key] for key in ("kind", "frames", "first_frame", "rate", "unit", "up")],
                         ["markers", 4, 7, 50, "mm", "+Y"])
        self.assertEqual(answer["markers"][1], {"name": "KNEE", "seen": 3, "gaps": 1, "longest_gap": 1})
        out = self.succeed("info", "walk.trc").out
        for fragment in ("walk.trc: markers over time", "frames    4 frames, from 7 on, 50 a second, 0.06 s",
                         "unit      mm, +Y up", "markers   3, 2 of them seen in every frame",
                         "  KNEE seen in 3, 1 gap of at most 1", "  always: HEAD TOE\n"):
            self.assertIn(fragment, out)
        os.rename(self.folder / "walk.trc", self.folder / "walk.txt")
        self.assertIn("markers over time", self.succeed("info", "walk.txt").out)
        (self.folder / "cut.c3d").write_bytes(b"\x02\x50" + bytes(510))
        self.sentence(self.run_tool("info", "cut.c3d"), 1, "cut.c3d, byte 0", "copy or export it again")
        self.sentence(self.run_tool("render", "cut.c3d", "-o", "a.png"), 1, "cut.c3d", "markers over time, not a rig")
        self.sentence(self.run_tool("diff", "cut.c3d", "bent.obj"), 1, "cut.c3d", "markers over time")

    def test_cache(self):
        points = struct.pack("<9f", *range(9))
        pc2 = b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 3, 0.5, 0.25, 2) + points * 2
        (self.folder / "a.pc2").write_bytes(pc2)
        (self.folder / "a.mdd").write_bytes(struct.pack(">ii2f", 2, 3, 0.5, 0.75) + points * 2)
        for name, kind in (("a.pc2", "PC2"), ("a.mdd", "MDD")):
            answer = self.succeed("info", name, "--json").json()
            self.assertEqual([answer[key] for key in ("kind", "format", "vertices", "frames", "start", "end", "step")],
                             ["cache", kind, 3, 2, 0.5, 0.75, 0.25])
            out = self.succeed("info", name).out
            for fragment in (f"{name}: a point cache", f"format    {kind}", "vertices  3", "from 0.5 s to 0.75 s"):
                self.assertIn(fragment, out)
        (self.folder / "a.pc2").write_bytes(pc2[:-1])
        self.sentence(self.run_tool("info", "a.pc2"), 1, "a.pc2", "1 of 2 frames")

    def test_kinds_are_told_by_content(self):
        os.rename(self.folder / "band.glb", self.folder / "band.dat")
        self.assertIn("a rig", self.succeed("info", "band.dat").out)
        os.rename(self.folder / "band.json", self.folder / "band.text")
        self.assertIn("a project", self.succeed("info", "band.text").out)

    def test_odd_names_make_good_json(self):
        names = [b'a "quoted\\ name', b"tab\there", b"\xc3\xa9t\xc3\xa9", b"broken \xff\xc3 bytes", b"\xed\xa0\x80",
                 b"\x7f\x01"]
        text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n" + b"".join(b"g " + name + b"\nf 1 2 3\n" for name in names)
        (self.folder / "odd.obj").write_bytes(text)
        groups = [group["name"] for group in self.succeed("info", "odd.obj", "--json").json()["groups"]]
        self.assertEqual(groups[0], 'a "quoted\\ name')
        self.assertIn("\u00e9t\u00e9", groups)
        self.assertIn("broken \ufffd\ufffd bytes", groups)
        self.assertIn("\ufffd\ufffd\ufffd", groups)

    def test_files_cannot_write_on_the_terminal(self):
        escape = "\x1b[31m"
        (self.folder / "odd.obj").write_bytes(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nt \x1b[31m 0/0/0\nf 1 2 3\n")
        description = {**harness.project(), "mesh": f"{escape}.obj"}
        (self.folder / "odd.json").write_text(json.dumps(description))
        image = {"bufferView": 0, "mimeType": escape}
        (self.folder / "odd.gltf").write_text(json.dumps(
            {"asset": {"version": "2.0"}, "images": [image],
             "buffers": [{"byteLength": 3, "uri": "data:application/octet-stream;base64,AAAA"}],
             "bufferViews": [{"buffer": 0, "byteLength": 3}]}))
        for name in ("odd.obj", "odd.json", "odd.gltf"):
            out = self.succeed("info", name, "-q").out
            self.assertIn("\\x1b[31m", out)
            self.assertNotIn("\x1b", out)

    def test_capabilities(self):
        answer = self.succeed("info", "--capabilities", "--json").json()
        self.assertEqual(self.succeed("--version").out, f"exemplar {answer['version']}\n")
        self.assertIn(answer["simd"], ("neon", "sse2", "avx2", "avx512", "scalar"))
        self.assertEqual(answer["storage"], ["float", "16 bit"])
        self.assertIn("bspline", answer["kernels"])
        self.assertIn("cardinal", answer["weighers"])
        self.assertTrue(isinstance(answer["abi"], int) and isinstance(answer["format"], int))
        self.assertIn("kernels   bspline, gaussian", self.succeed("info", "--capabilities").out)


class Unpack(Built):
    def test_build_again_gives_the_same_bytes(self):
        out = self.succeed("unpack", "band.glb", "-o", "new/folder").out
        self.assertEqual(out, "new/folder/band.json: 1 layer, 4 examples\n")
        self.succeed("build", "new/folder/band.json")
        self.assertEqual((self.folder / "new/folder/band.glb").read_bytes(), (self.folder / "band.glb").read_bytes())

    def test_overwrites_only_when_told(self):
        self.succeed("unpack", "band.glb", "-o", "again")
        before = self.listing()
        self.sentence(self.run_tool("unpack", "band.glb", "-o", "again"), 1, "again/band.json", "--force")
        self.assertEqual(self.listing(), before)
        (self.folder / "again/band.json").write_text("old")
        self.succeed("unpack", "band.glb", "-o", "again", "--force")
        after = self.listing()
        kept = {name: after.pop(name) for name in list(after) if ".versions" in name}
        self.assertEqual(after, before)
        self.assertTrue(kept["again/.band.json.versions/000001.undo"].endswith(b"\nold"))


class Check(Built):
    def test_a_good_project(self):
        outcome = self.succeed("check", "band.json")
        self.assertRegex(outcome.out, r"\nband\.json: 0 errors, \d+ warnings?\n$|^band\.json: 0 errors, \d+ warnings?\n$")
        answer = self.succeed("check", "band.json", "--json").json()
        self.assertEqual(list(answer), ["errors", "warnings", "findings"])
        for finding in answer["findings"]:
            self.assertEqual(list(finding), ["severity", "kind", "where", "text", "value"])

    def test_errors_give_exit_code_1_and_stand_first(self):
        description = harness.project()
        description["layers"].insert(0, json.loads(json.dumps(description["layers"][0])))
        description["layers"][0]["name"] = "near"
        description["layers"][0]["examples"][2]["at"] = {"bend": 0.01, "girth": 0}
        description["layers"][1]["examples"][3]["at"] = {"bend": 90, "girth": 0}
        harness.write_project(self.folder, description)
        outcome = self.run_tool("check", "band.json", "--json")
        answer = outcome.json()
        self.assertEqual(outcome.code, 1)
        self.assertEqual(outcome.err, "")
        severities = [finding["severity"] for finding in answer["findings"]]
        self.assertEqual(answer["errors"], severities.count("error"))
        self.assertEqual(answer["warnings"], severities.count("warning"))
        self.assertGreater(answer["errors"], 0)
        self.assertGreater(answer["warnings"], 0)
        text = self.run_tool("check", "band.json")
        self.assertRegex(text.out, r"\n  layers\[0\](\S*) \(near\): ", "the layer is named, as there are two")
        self.assertEqual(text.code, 1)
        self.assertRegex(text.out, r"(?s)^errors:\n  layers\[1\].*'both'.*\nwarnings:\n  layers\[0\].*'thick'.*\nnotes:\n")
        quiet = self.run_tool("check", "band.json", "-q").out
        self.assertEqual(text.out.split("notes:\n")[0], quiet)

    def test_an_unreadable_project_is_one_finding(self):
        (self.folder / "bad.json").write_text('{"exemplar": 1, "mesh": "straight.obj", "layer": []}')
        outcome = self.run_tool("check", "bad.json", "--json")
        self.sentence(outcome, 1, "layer")
        self.assertEqual(outcome.json()["errors"], 1)
        self.assertIn("layer", outcome.json()["findings"][0]["text"])


class Demo(harness.Case):
    def test_writes_builds_and_says_what_to_try(self):
        out = self.succeed("demo", "blob").out
        self.assertIn("blob/blob.json\n", out)
        self.assertRegex(out, r"blob/blob\.glb: 642 vertices, 1 layer, 5 examples")
        lines = [line.strip() for line in out.split("Try next:\n")[1].splitlines()]
        self.assertEqual(len(lines), 4)
        for line in lines:
            words = shlex.split(line)
            self.assertEqual(words[0], harness.TOOL)
            self.succeed(*words[1:])
        for line in self.succeed("demo", "blob", "-o", "it's a 'blob'").out.split("Try next:\n")[1].splitlines():
            self.succeed(*shlex.split(line)[1:])
        self.assertTrue((self.folder / "it's a 'blob'/posed.png").exists())
        self.assertTrue((self.folder / "blob/posed.obj").exists())
        self.assertTrue((self.folder / "blob/posed.png").exists())

    def test_overwrites_only_when_told(self):
        self.succeed("demo", "blob", "-o", "here")
        before = self.listing()
        self.sentence(self.run_tool("demo", "blob", "-o", "here"), 1, "'here' is not empty", "--force")
        self.assertEqual(self.listing(), before)
        (self.folder / "here/mine").write_text("mine")
        self.succeed("demo", "blob", "-o", "here", "-f")
        after = {name: data for name, data in self.listing().items() if ".versions" not in name}
        self.assertEqual(after, before | {"here/mine": b"mine"})  # and a version to undo
        (self.folder / "empty").mkdir()
        self.succeed("demo", "blob", "-o", "empty")

    def test_without_a_name_a_list(self):
        lines = self.succeed("demo").out.splitlines()
        listed = self.succeed("demo", "--json").json()["demos"]
        self.assertEqual([line.split()[0] for line in lines[:-2]], [demo["name"] for demo in listed])
        self.assertIn({"name": "body", "long": True}.items(), [{k: d[k] for k in ("name", "long")}.items() for d in listed])
        self.assertEqual(self.listing(), {})
        self.sentence(self.run_tool("demo", "--quick"), 2, "--quick", "name of a demo")
        self.sentence(self.run_tool("demo", "blob", "--takes", "2"), 2, "--takes goes with")
        self.sentence(self.run_tool("demo", "blob", "--all"), 2, "leave out 'blob'")

    def test_with_a_folder_alone_all_of_them(self):
        out = self.succeed("demo", "-o", "all/of/them").out
        self.assertIn("blob: ", out)
        self.assertTrue((self.folder / "all/of/them/blob/blob.glb").exists())
        self.assertFalse((self.folder / "all/of/them/sleeve").exists(), "those that simulate are asked for by name")
        self.succeed("check", "all/of/them/blob/blob.json")


class Interrupted(harness.Case):
    """A signal ends the work soon, with a line, its own exit code and without temporary files."""

    def interrupt(self, number, target, *words):
        """Sends the signal when the first new file appears below target; returns the output."""
        before = len(os.listdir(target)) if target.is_dir() else 0
        process = subprocess.Popen([harness.TOOL, *words], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        while not (target.is_dir() and len(os.listdir(target)) > before) and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (128 + number, b""))
        self.assertRegex(err, rb"^exemplar: interrupted: [^\n]*\n$")
        return err.decode()

    def large_rig(self):
        description = harness.project()
        layer = description["layers"][0]
        layer["weigh"] = {"kind": "nearest"}
        layer["pseudo"] = []
        layer["examples"] = [{"name": f"e{i}", "mesh": "long.obj", "at": {"bend": i, "girth": 0}} for i in range(100)]
        description["mesh"] = "long.obj"
        harness.write_project(self.folder, description)
        points = [(math.sin(i), math.cos(i), math.sin(i * i)) for i in range(6000)]
        (self.folder / "long.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in points) + "f 1 2 3\n")
        self.succeed("build", "band.json")

    def test_where_all_threads_write(self):
        harness.write_project(self.folder)
        self.succeed("build", "band.json")
        (self.folder / "poses.csv").write_text("bend\n" + "".join(f"{i % 90}\n" for i in range(200000)))
        for attempt in range(6):
            number = (signal.SIGINT, signal.SIGTERM)[attempt % 2]
            target = self.folder / f"frames{attempt}"
            said = self.interrupt(number, target, "pose", "band.glb", "--poses", "poses.csv", "-o", target,
                                  "--threads", "4")
            self.assertEqual(said, "exemplar: interrupted: what was written has been removed\n")
            self.assertFalse(target.exists())

    def test_a_turn_of_pictures(self):
        """Old pictures stay, and the signal may come twice: programs send it to the tool and to its group."""
        harness.write_project(self.folder)
        self.succeed("build", "band.json")
        target = self.folder / "turn"
        target.mkdir()
        self.succeed("render", "band.glb", "--turntable", "40", "--size", "16x16", "-o", "turn/t.png")
        before = {path.name: path.read_bytes() for path in target.iterdir()}
        self.assertEqual(len(before), 40)
        process = subprocess.Popen([harness.TOOL, "render", "band.glb", "--turntable", "40", "-o", "turn/t.png"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not any(path.is_dir() and list(path.iterdir()) for path in target.iterdir()) and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err),
                         (130, b"", b"exemplar: interrupted: no picture was written\n"))
        self.assertEqual({path.name: path.read_bytes() for path in target.iterdir()}, before)

    def test_where_files_belong_together(self):
        self.large_rig()
        for attempt in range(4):
            number = (signal.SIGINT, signal.SIGTERM)[attempt % 2]
            target = self.folder / f"again{attempt}/deep"
            said = self.interrupt(number, target, "unpack", "band.glb", "-o", target)
            self.assertIn("removed", said)
            self.assertFalse(target.parent.exists())

    def test_in_a_folder_that_was_there(self):
        self.large_rig()
        target = self.folder / "here"
        target.mkdir()
        self.assertIn("removed", self.interrupt(signal.SIGINT, target, "unpack", "band.glb", "-o", target))
        self.assertEqual(os.listdir(target), [])
        (target / "mine").write_text("mine")
        self.assertIn("removed", self.interrupt(signal.SIGTERM, target, "unpack", "band.glb", "-o", target))
        self.assertEqual(os.listdir(target), ["mine"])
        (target / "mesh.obj").write_text("mine")
        said = self.interrupt(signal.SIGINT, target, "unpack", "band.glb", "-o", target, "--force")
        self.assertIn("removed", said)
        self.assertEqual({path.name: path.read_text() for path in target.iterdir()}, {"mine": "mine", "mesh.obj": "mine"})

    def test_where_nothing_is_written_yet(self):
        """Reads a project from a pipe that nobody fills."""
        os.mkfifo(self.folder / "wait.json")
        process = subprocess.Popen([harness.TOOL, "build", "wait.json"], cwd=self.folder, stderr=subprocess.PIPE)
        with open(self.folder / "wait.json", "wb"):
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=60)[1], b"exemplar: interrupted\n")
        self.assertEqual(process.returncode, 130)

    def test_a_reader_that_has_seen_enough(self):
        """Silent, like other programs; an error message if the parent wants broken pipes to be errors."""
        harness.write_project(self.folder)
        self.succeed("build", "band.json")
        for words in (["info", "band.glb"], ["build", "band.json", "-o", "-"], ["demo", "blob", "-o", "out"]):
            for ignore in (False, True):
                with self.subTest(words=words, ignore=ignore):
                    ours, theirs = os.pipe()
                    os.close(ours)
                    action = signal.SIG_IGN if ignore else signal.SIG_DFL
                    process = subprocess.run([harness.TOOL, *words], cwd=self.folder, stdout=theirs, timeout=60,
                                             stderr=subprocess.PIPE, restore_signals=False,
                                             preexec_fn=lambda: signal.signal(signal.SIGPIPE, action))
                    os.close(theirs)
                    said = b"exemplar: cannot write to standard output: Broken pipe\n" if ignore else b""
                    self.assertEqual((process.returncode, process.stderr), (1 if ignore else 141, said))
                    if words[0] == "demo":
                        self.assertTrue((self.folder / "out/blob.glb").exists())
                        shutil.rmtree(self.folder / "out")


harness.main()
