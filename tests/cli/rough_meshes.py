"""Meshes as people have them: OFF files, and meshes with a few reversed, repeated or degenerate faces, edges of three
faces, touching vertices and vertices without faces. All commands that read a mesh take them, and say what they mend."""
import json
import math
import struct
import unittest

import harness

AROUND, ALONG = 8, 6


def tube(angle):
    """A closed tube of quads with caps, bent by an angle."""
    points = []
    for j in range(ALONG + 1):
        turn, radius = angle * j / ALONG, 0.3
        reach = (math.sin(turn) / angle, (1 - math.cos(turn)) / angle) if angle else (j / ALONG, 0)
        for i in range(AROUND):
            across, up = radius * math.cos(2 * math.pi * i / AROUND), radius * math.sin(2 * math.pi * i / AROUND)
            points.append([4 * reach[0] - across * math.sin(turn), 4 * reach[1] + across * math.cos(turn), up])
    return points


def quads():
    sides = [[AROUND * j + i, AROUND * j + (i + 1) % AROUND, AROUND * (j + 1) + (i + 1) % AROUND, AROUND * (j + 1) + i]
             for j in range(ALONG) for i in range(AROUND)]
    return sides + [list(range(AROUND))[::-1], [AROUND * ALONG + i for i in range(AROUND)]]


def reversed_faces(points, faces):
    for f in (3, 20, 41):
        faces[f] = faces[f][::-1]


def faces_twice(points, faces):
    faces += [list(faces[5]), faces[7][::-1]]


def vertices_twice(points, faces):
    faces += [[9, 9, 10], [11, 12, 11, 12], [13, 13, 13]]


def three_at_an_edge(points, faces):
    points.append([2 * x for x in points[17]])
    faces.append([17, 18, len(points) - 1])


def touching(points, faces):
    points += [[x + 0.5 for x in points[26]], [1.5 * x + 0.5 for x in points[26]]]
    faces.append([26, len(points) - 2, len(points) - 1])


def no_area(points, faces):
    points.append([(x + y) / 2 for x, y in zip(points[33], points[34])])
    faces.append([33, len(points) - 1, 34])


def unused(points, faces):
    points += [[0, 0, 0], [1, 1, 1]]


FAULTS = {reversed_faces: ["3 faces, the first is face 3 (counting from 0), run against their neighbours"],
          faces_twice: ["2 faces, the first is face 50 (counting from 0), have the same vertices as others"],
          vertices_twice: ["3 faces, the first is face 50 (counting from 0), have a vertex more than once"],
          three_at_an_edge: ["the edge between vertices 17 and 18 (counting from 0) has more than two faces"],
          touching: [], no_area: ["the edge between vertices 33 and 34"], unused: []}


def with_faults(angle, *faults):
    points, faces = tube(angle), quads()
    for fault in faults:
        fault(points, faces)
    return points, faces


def obj(points, faces):
    return "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points) + \
        "".join("f " + " ".join(str(v + 1) for v in face) + "\n" for face in faces)


def off(points, faces):
    return f"OFF\n{len(points)} {len(faces)} 0\n" + "".join(f"{x!r} {y!r} {z!r}\n" for x, y, z in points) + \
        "".join(" ".join(map(str, [len(face)] + face)) + "\n" for face in faces)


def binary_off(points, faces):
    return b"OFF BINARY\n" + struct.pack(">iii", len(points), len(faces), 0) + \
        b"".join(struct.pack(">fff", *p) for p in points) + \
        b"".join(struct.pack(f">{len(face) + 2}i", len(face), *face, 0) for face in faces)


class Rough(harness.Case):
    def write(self, name, form, how=obj):
        text = how(*form)
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def goes_on(self, *words):
        """Runs a command that may have something to say."""
        outcome = self.run_tool(*words)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome

    def positions(self, *words):
        return harness.positions_of(self.succeed("pose", *words, "-o", "-", "-q").out)

    def project(self, *faults, scheme="catmull_clark"):
        for name, angle in (("rest.obj", 0), ("bent.obj", 1.5)):
            self.write(name, with_faults(angle, *faults))
        (self.folder / "p.json").write_text(json.dumps(
            {"exemplar": 1, "mesh": "rest.obj", "subdivide": {"scheme": scheme, "levels": 2, "limit": True},
             "layers": [{"name": "l", "space": [{"name": "t", "min": 0, "max": 1}], "weigh": {"kind": "nearest"},
                         "examples": [{"name": "rest", "mesh": "rest.obj", "at": {"t": 0}},
                                      {"name": "bent", "mesh": "bent.obj", "at": {"t": 1}}]}]}))


class Off(Rough):
    def test_same_rigs_as_from_obj(self):
        for name, angle in (("a", 0), ("b", 1.5)):
            self.write(name + ".obj", with_faults(angle))
            self.write(name + ".off", with_faults(angle), off)
        for kind in ("obj", "off"):
            self.succeed("warp", f"a.{kind}", f"b.{kind}", "-o", f"{kind}.glb")
            self.succeed("init", f"a.{kind}", f"b.{kind}", "-o", kind)
            self.succeed("build", f"{kind}/a.json")
            self.succeed("render", f"b.{kind}", "-o", f"{kind}.png", "--size", "64x64")
        for one, other in (("obj.glb", "off.glb"), ("obj/a.glb", "off/a.glb"), ("obj.png", "off.png")):
            self.assertEqual((self.folder / one).read_bytes(), (self.folder / other).read_bytes())
        self.assertIn("same", self.succeed("diff", "a.obj", "a.off").out)

    def test_examples_and_folders(self):
        (self.folder / "forms").mkdir()
        for name, angle in (("rest", 0), ("bent", 1.5), ("half", 0.7)):
            self.write(f"forms/{name}.off", with_faults(angle), off)
        self.goes_on("init", "forms", "-o", "p")
        self.write("more.off", with_faults(1.1), off)
        self.goes_on("example", "add", "p/forms.json", "--name", "more", "--at", "bent=0.5", "more.off")
        self.assertIn("0 errors", self.succeed("check", "p/forms.json").out)

    def test_info(self):
        self.write("a.off", with_faults(0), off)
        self.write("b.off", with_faults(0), binary_off)
        for name in ("a.off", "b.off"):
            found = self.succeed("info", name, "--json").json()
            self.assertEqual((found["kind"], found["vertices"], found["quads"], found["larger"]), ("form", 56, 48, 2))
        self.assertIn("form .obj .ply .off", self.succeed("info", "--capabilities").out)

    def test_refused_with_a_reason(self):
        (self.folder / "a.off").write_text("4OFF\n1 0 0\n0 0 0 1\n")
        self.sentence(self.run_tool("info", "a.off"), 1, "a.off:1", "export the mesh with x, y and z")
        self.write("b.obj", with_faults(0), off)
        self.sentence(self.run_tool("render", "b.obj", "-o", "b.png"), 1, "this is an OFF file: rename it to end in .off")
        self.write("c.off", with_faults(0), off)
        self.write("d.off", with_faults(1), off)
        self.succeed("warp", "c.off", "d.off", "-o", "w.glb")
        self.sentence(self.run_tool("pose", "w.glb", "-o", "w.off"), 2, ".obj, .ply, .glb or .gltf")


class Faults(Rough):
    def test_all_commands_go_on(self):
        self.write("clean_a.obj", with_faults(0))
        self.write("clean_b.obj", with_faults(1.5))
        self.succeed("warp", "clean_a.obj", "clean_b.obj", "-o", "clean.glb")
        clean = self.positions("clean.glb", "t=0.5")
        for faults in [[fault] for fault in FAULTS] + [list(FAULTS)]:
            with self.subTest(faults=[fault.__name__ for fault in faults]):
                self.write("a.off", with_faults(0, *faults), off)
                self.write("b.obj", with_faults(1.5, *faults))
                self.succeed("warp", "a.off", "b.obj", "-o", "w.glb")
                self.succeed("warp", "a.off", "b.obj", "--report")
                for p, q in zip(clean, self.positions("w.glb", "t=0.5")):
                    self.assertLess(math.dist(p, q), 0.1)
                self.succeed("init", "a.off", "b.obj", "-o", "p", "--force")
                self.succeed("build", "p/a.json")
                self.succeed("check", "p/a.json")
                self.succeed("render", "b.obj", "-o", "b.png", "--size", "64x64")
                self.succeed("pose", "p/a.glb", "b=0.5", "-o", "h.ply")
                self.succeed("info", "h.ply")

    def test_subdividing_says_what_it_mends(self):
        for fault, sentences in FAULTS.items():
            for scheme in ("catmull_clark", "loop"):
                with self.subTest(fault=fault.__name__, scheme=scheme):
                    self.project(fault, scheme=scheme)
                    checked, built = self.succeed("check", "p.json"), self.goes_on("build", "p.json")
                    self.assertIn("0 errors", checked.out)
                    for sentence in sentences:
                        self.assertIn(sentence, checked.out)
                        self.assertIn("rest.obj: " + sentence, built.err)
                    if not sentences:
                        self.assertEqual(harness.without_progress(built.err), "")

    def test_mended_like_the_clean_mesh(self):
        self.project()
        self.succeed("build", "p.json", "-o", "clean.glb")
        clean = sorted(self.positions("clean.glb", "t=1", "--level", "limit"))
        for fault in (reversed_faces, faces_twice, vertices_twice):
            with self.subTest(fault=fault.__name__):
                self.project(fault)
                self.succeed("build", "p.json", "-o", "p.glb", "-q")
                # The order of new vertices in a face depends on its first corner.
                self.assertEqual(sorted(self.positions("p.glb", "t=1", "--level", "limit")), clean)


if __name__ == "__main__":
    harness.main()
