"""Alembic files: what Exemplar writes is read by a reader of its own description, what other programs write is learned
from, and the messages for files that cannot be used."""
import math
import struct

import alembic_file
import harness

RINGS, SIDES, FRAMES = 9, 8, 24
START, STEP = 0.5, 0.125


def tube(frame, radius, start, length):
    """A tube along x that bends upwards."""
    bend = 0.8 * (1 - math.cos(2 * math.pi * frame / FRAMES)) + 1e-6
    points = []
    for r in range(RINGS):
        s = start + length * r / (RINGS - 1)
        for k in range(SIDES):
            y, z = radius * math.cos(2 * math.pi * k / SIDES), radius * math.sin(2 * math.pi * k / SIDES)
            point = [math.sin(bend * s) / bend - y * math.sin(bend * s),
                     (1 - math.cos(bend * s)) / bend + y * math.cos(bend * s), z]
            points.append([round(number * 4096) / 4096 for number in point])  # exact as floats, and when halved
    return points


FACES = [[r * SIDES + k, r * SIDES + (k + 1) % SIDES, (r + 1) * SIDES + (k + 1) % SIDES, (r + 1) * SIDES + k]
         for r in range(RINGS - 1) for k in range(SIDES)]


def obj(points):
    lines = ["v %.9g %.9g %.9g" % tuple(point) for point in points]
    for i, face in enumerate(FACES):
        lines += ["g left"] if i == 0 else ["g right"] if i == len(FACES) // 2 else []
        lines.append("f " + " ".join(str(v + 1) for v in face))
    return "\n".join(lines) + "\n"


def pc2(frames):
    flat = [number for frame in frames for point in frame for number in point]
    return (struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(frames[0]), START, STEP, len(frames)) +
            struct.pack(f"<{len(flat)}f", *flat))


class Alembic(harness.Case):
    def setUp(self):
        super().setUp()
        self.bars = [tube(f, 0.1, 0, 1) for f in range(FRAMES)]
        self.sleeves = [tube(f, 0.13, 0.15, 0.7) for f in range(FRAMES)]
        for name, frames in (("bar", self.bars), ("sleeve", self.sleeves)):
            self.write(f"{name}.obj", obj(frames[0]).encode())
            self.write(f"{name}.pc2", pc2(frames))

    def write(self, name, data):
        (self.folder / name).write_bytes(data)

    def learn(self, output, *words):
        self.succeed("drive", "learn", *words, "--keys", "4", "-o", output)

    def frames(self, name, count):
        data = (self.folder / name).read_bytes()[32:]
        size = 12 * count
        return [struct.unpack("<%df" % (3 * count), data[at:at + size]) for at in range(0, len(data), size)]

    def test_what_is_written(self):
        self.learn("s.glb", "--driver", "bar.pc2", "--driver-mesh", "bar.obj", "--driven", "sleeve.pc2", "--driven-mesh",
                   "sleeve.obj")
        for output in ("out.abc", "out.pc2"):
            self.succeed("drive", "apply", "s.glb", "--driver", "bar.pc2", "-o", output)
        archive = alembic_file.read(self.folder / "out.abc")
        self.assertEqual(list(archive.objects), ["/", "/out", "/out/outShape"])
        metadata, properties = archive.objects["/out/outShape"]
        self.assertEqual(metadata["schema"], "AbcGeom_PolyMesh_v1")
        self.assertEqual(archive.objects["/out"][0]["schema"], "AbcGeom_Xform_v3")
        self.assertEqual(properties[".geom"]["metadata"].split(";")[0], "schema=AbcGeom_PolyMesh_v1")
        geometry = properties[".geom"]["properties"]
        points = geometry["P"]
        self.assertEqual((points["kind"], points["type"], points["extent"]), ("array", "f", 3))
        self.assertIn("interpretation=point", points["metadata"])
        self.assertEqual(points["samples"], self.frames("out.pc2", len(self.sleeves[0])))
        self.assertEqual(archive.samplings[points["sampling"]], (FRAMES, STEP, (START,)))
        for box, frame in zip(geometry[".selfBnds"]["samples"], points["samples"]):
            self.assertEqual(box, tuple(f(frame[axis::3]) for f in (min, max) for axis in range(3)))
        counts, indices = geometry[".faceCounts"]["samples"][0], geometry[".faceIndices"]["samples"][0]
        faces, at = [], 0
        for count in counts:
            faces.append(list(indices[at:at + count])[::-1])
            at += count
        self.assertEqual((faces, at), (FACES, len(indices)))

        # Objects have hashes of their own, the same for the same frames and others for others.
        self.succeed("drive", "apply", "s.glb", "--driver", "bar.pc2", "-o", "again.abc")
        self.succeed("drive", "apply", "s.glb", "--driver", "bar.pc2", "-o", "less.abc", "--frames", "2:")
        hashes = [list(alembic_file.read(self.folder / name).hashes.values()) for name in ("out.abc", "again.abc",
                                                                                           "less.abc")]
        self.assertEqual(hashes[0], hashes[1])
        parts = [row[at:at + 16] for row in hashes[0] + hashes[2] for at in (0, 16)]
        self.assertEqual(len(set(parts)), 12)

        # A group has its own vertices and faces; the tool reads what it wrote.
        self.succeed("drive", "apply", "s.glb", "--driver", "bar.pc2", "-o", "part.abc", "--group", "left")
        part = alembic_file.read(self.folder / "part.abc").objects["/part/partShape"][1][".geom"]["properties"]
        self.assertEqual(max(part[".faceIndices"]["samples"][0]) + 1, len(part["P"]["samples"][0]) // 3)
        facts = self.succeed("info", "out.abc", "--json").json()
        self.assertEqual((facts["format"], facts["frames"], facts["start"], facts["step"]),
                         ("Alembic", FRAMES, START, STEP))

    def test_uneven_times(self):
        """The period that stands for none has all its bits: readers compare it with the largest double / 32."""
        times = [START + f * f / 64 for f in range(FRAMES)]
        flat = [x for frame in self.bars for point in frame for x in point]
        self.write("uneven.mdd", struct.pack(">ii", FRAMES, len(self.bars[0])) + struct.pack(f">{FRAMES}f", *times) +
                   struct.pack(f">{len(flat)}f", *flat))
        self.learn("s.glb", "--driver", "bar.pc2", "--driver-mesh", "bar.obj", "--driven", "sleeve.pc2", "--driven-mesh",
                   "sleeve.obj")
        self.succeed("drive", "apply", "s.glb", "--driver", "uneven.mdd", "-o", "out.abc")
        archive = alembic_file.read(self.folder / "out.abc")
        points = archive.objects["/out/outShape"][1][".geom"]["properties"]["P"]
        self.assertEqual(archive.samplings[points["sampling"]], (FRAMES, alembic_file.ACYCLIC, tuple(times)))
        for name in ("uneven.mdd", "out.abc"):
            facts = self.succeed("info", name, "--json").json()
            self.assertEqual((facts["frames"], facts["start"]), (FRAMES, START))

    def scene(self):
        """Both meshes in one file, the bar in a transform that doubles and moves it."""
        halves = [[[x / 2 - 1, y / 2, z / 2] for x, y, z in frame] for frame in self.bars]
        w = alembic_file.Writer()
        bar = w.mesh(halves, FACES)
        sleeve = w.mesh(self.sleeves, FACES)
        body = w.xform([0x10, 0x00], [[2, 0, 0, 2, 2, 2]], [("barShape", "AbcGeom_PolyMesh_v1", bar)])
        return w.finish([("body", "AbcGeom_Xform_v3", body), ("sleeve", "AbcGeom_SubD_v1", sleeve)], START, STEP)

    def test_what_is_read(self):
        self.write("scene.abc", self.scene())
        # Without meshes: the file has them. Numbers are exact, so the rigs are the same.
        self.learn("a.glb", "--driver", "scene.abc:/body/barShape", "--driven", "scene.abc:/sleeve")
        self.learn("b.glb", "--driver", "bar.pc2", "--driver-mesh", "bar.obj", "--driven", "sleeve.pc2", "--driven-mesh",
                   "sleeve.obj")
        for name in ("a", "b"):
            self.succeed("drive", "apply", f"{name}.glb", "--driver", "scene.abc:/body/barShape", "-o", f"{name}_out.pc2")
        self.assertEqual(self.frames("a_out.pc2", RINGS * SIDES), self.frames("b_out.pc2", RINGS * SIDES))
        lines = self.succeed("info", "scene.abc:/sleeve").out
        self.assertIn(f"vertices  {RINGS * SIDES}\nframes    {FRAMES}, from 0.5 s to {START + (FRAMES - 1) * STEP:g} s", lines)
        self.write("first.obj", b"".join(line + b"\n" for line in obj(self.bars[0]).encode().splitlines()
                                         if not line.startswith(b"g")))
        self.succeed("diff", "scene.abc:/body/barShape", "first.obj", "--tolerance", "1e-5")

    def test_messages(self):
        scene = self.scene()
        self.write("scene.abc", scene)
        self.write("cut.abc", scene[:-100])
        self.write("old.abc", b"\x89HDF\r\n\x1a\n" + bytes(100))
        for name, fragment in [("scene.abc", "scene.abc has 2 meshes: choose one, as in scene.abc:/NAME, from "
                                             "/body/barShape, /sleeve"),
                               ("scene.abc:/shirt", "scene.abc has no mesh '/shirt'; it has /body/barShape, /sleeve"),
                               ("cut.abc", "cut.abc: the Alembic file is damaged"),
                               ("old.abc", "save it as Ogawa"),
                               ("gone.abc:/a", "gone.abc")]:
            with self.subTest(name=name):
                self.sentence(self.run_tool("info", name), 1, fragment)
        self.learn("s.glb", "--driver", "scene.abc:/body/barShape", "--driven", "scene.abc:/sleeve")
        outcome = self.run_tool("drive", "apply", "s.glb", "--driver", "scene.abc:/body/barShape", "-o", "scene.abc")
        self.sentence(outcome, 2, "'scene.abc' is also an input and would be overwritten")
        self.assertEqual((self.folder / "scene.abc").read_bytes(), scene)


harness.main()
