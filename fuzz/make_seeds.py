#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets: make_seeds.py build/release/bin/exemplar

Writes small files of every kind into fuzz/seeds/TARGET/. Existing files of other names stay: those are inputs that
once failed. The seeds are in the repository, so run this only to add kinds or after a change of a format.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "cli"))
import alembic_file

SEEDS = pathlib.Path(__file__).parent / "seeds"


def write(target, name, data):
    path = SEEDS / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


# ---- forms ----

# A strip of two quads and a triangle, with texture coordinates, groups and colours.
POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0.2), (0, 2, 0), (1, 2, 0), (0.5, 3, 0)]
FACES = [(1, 2, 4, 3), (3, 4, 6, 5), (5, 6, 7)]


def form(move=lambda x, y, z: (x, y, z), colours=False):
    lines = []
    for i, point in enumerate(POINTS):
        lines.append("v %g %g %g" % move(*point) + (" %g 0.5 0" % (i / 6) if colours else ""))
    lines += ["vt %g %g" % (x, y / 3) for x, y, z in POINTS]
    for group, face in enumerate(FACES):
        lines.append("g part%d" % group)
        lines.append("f " + " ".join("%d/%d" % (i, i) for i in face))
    return "\n".join(lines) + "\n"


BENT = form(lambda x, y, z: (x, y, z + 0.1 * y * y))
WIDE = form(lambda x, y, z: (2 * x, y, z))
LONG = form(lambda x, y, z: (x, 1.5 * y, z))

# ---- glTF ----


class Gltf:
    """A glTF file with one buffer."""

    def __init__(self):
        self.bytes = b""
        self.root = {"asset": {"version": "2.0"}, "bufferViews": [], "accessors": []}

    def add(self, kind, component, rows):
        formats = {5121: "B", 5123: "H", 5125: "I", 5126: "f"}
        flat = [x for row in rows for x in (row if isinstance(row, (tuple, list)) else (row,))]
        data = struct.pack("<%d%s" % (len(flat), formats[component]), *flat)
        self.root["bufferViews"].append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)})
        accessor = {"bufferView": len(self.root["bufferViews"]) - 1, "componentType": component, "count": len(rows),
                    "type": kind}
        if kind == "VEC3":
            accessor["min"] = [min(r[k] for r in rows) for k in range(3)]
            accessor["max"] = [max(r[k] for r in rows) for k in range(3)]
        self.root["accessors"].append(accessor)
        self.bytes += data + b"\0" * (-len(data) % 4)
        return len(self.root["accessors"]) - 1

    def glb(self):
        self.root["buffers"] = [{"byteLength": len(self.bytes)}]
        text = json.dumps(self.root, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
        chunks += struct.pack("<II", len(self.bytes), 0x004E4942) + self.bytes
        return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks

    def text(self):
        import base64
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.bytes).decode()
        self.root["buffers"] = [{"byteLength": len(self.bytes), "uri": uri}]
        return json.dumps(self.root)


TRIANGLES = [0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4, 4, 5, 6]


def scene(skin=False, targets=0, seams=False, animation=False, parts=1):
    g = Gltf()
    points = [tuple(map(float, p)) for p in POINTS]
    indices = list(TRIANGLES)
    if seams:  # vertices 2 and 3 again for the upper quad
        points += [points[2], points[3]]
        indices = indices[:6] + [{2: 7, 3: 8}.get(i, i) for i in indices[6:]]
    attributes = {"POSITION": g.add("VEC3", 5126, points),
                  "TEXCOORD_0": g.add("VEC2", 5126, [(x, y / 3 + 0.1 * (i > 6)) for i, (x, y, z) in enumerate(points)])}
    primitive = {"attributes": attributes, "indices": g.add("SCALAR", 5123, indices)}
    mesh = {"name": "strip", "primitives": [primitive] * parts}
    nodes = [{"name": "body", "mesh": 0}]
    if targets:
        primitive["targets"] = [
            {"POSITION": g.add("VEC3", 5126, [(0.0, 0.1 * t, 0.1 * y) for x, y, z in points])} for t in range(targets)]
        mesh["extras"] = {"targetNames": ["smile", "blink", "smile", "time"][:targets]}
        mesh["weights"] = [0.0] * targets
    if skin:
        attributes["JOINTS_0"] = g.add("VEC4", 5121, [(0, 1, 0, 0)] * len(points))
        attributes["WEIGHTS_0"] = g.add("VEC4", 5126, [(1 - y / 3, y / 3, 0, 0) for x, y, z in points])
        binds = []
        for y in (0, 1):
            binds.append([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -float(y), 0, 1])
        g.root["skins"] = [{"joints": [2, 3], "inverseBindMatrices": g.add("MAT4", 5126, binds)}]
        nodes[0]["skin"] = 0
        nodes += [{"name": "armature", "children": [2]}, {"name": "root", "children": [3]},
                  {"name": "upper", "translation": [0, 1, 0]}]
    else:
        nodes[0]["translation"] = [0, 0.5, 0]
    if animation:
        g.root["animations"] = [{
            "samplers": [{"input": g.add("SCALAR", 5126, [0.0, 1.0]),
                          "output": g.add("VEC4", 5126, [(0.0, 0, 0, 1), (0.0, 0, 0.6, 0.8)])}],
            "channels": [{"sampler": 0, "target": {"node": len(nodes) - 1, "path": "rotation"}}]}]
    g.root.update(meshes=[mesh], nodes=nodes, scene=0,
                  scenes=[{"nodes": [0, 1] if skin else [0]}])
    return g


def another_node(g, **keys):
    g.root["nodes"].append(keys)
    g.root["scenes"][0]["nodes"].append(len(g.root["nodes"]) - 1)


def without_weights(g, primitive):
    primitive["attributes"]["WEIGHTS_0"] = g.add("VEC4", 5126, [(0, 0, 0, 0)] * len(POINTS))


# What downloaded files have: each is a project that can be built, or is refused.
ODD = {
    "far_scale": lambda g, nodes, mesh, primitive: nodes[0].update(scale=[3e38] * 3),
    "far_translation": lambda g, nodes, mesh, primitive: nodes[0].update(translation=[0, 1e300, 0]),
    "flat_scale": lambda g, nodes, mesh, primitive: nodes[0].update(scale=[1, 0, 1]),
    "joint_names": lambda g, nodes, mesh, primitive: [node.update(name="a\tb") for node in nodes[2:]],
    "joint_scale": lambda g, nodes, mesh, primitive: nodes[3].update(scale=[0, 0, 0]),
    "joint_shear": lambda g, nodes, mesh, primitive: (nodes[1].update(scale=[1, 2, 1]),
                                                      nodes[2].update(rotation=[0, 0, 0.6, 0.8])),
    "no_weights": lambda g, nodes, mesh, primitive: without_weights(g, primitive),
    "two_skins": lambda g, nodes, mesh, primitive: (g.root["skins"].append({"joints": [3, 2]}),
                                                    another_node(g, mesh=0, skin=1)),
    "long_names": lambda g, nodes, mesh, primitive: mesh.update(extras={"targetNames": ["é" * 200]}),
    "far_rest": lambda g, nodes, mesh, primitive: mesh.update(weights=[-1e308]),
    "instances": lambda g, nodes, mesh, primitive: another_node(g, mesh=0, translation=[5, 0, 0], weights=[0.5]),
    "degenerate": lambda g, nodes, mesh, primitive: primitive.update(
        indices=g.add("SCALAR", 5123, [0, 0, 1, 1, 1, 1, 0, 1, 2, 2, 1, 0])),
    "points": lambda g, nodes, mesh, primitive: primitive.update(mode=0),
    "strip": lambda g, nodes, mesh, primitive: primitive.update(mode=5),
}


def make_scenes():
    kinds = {"plain": {}, "targets": {"targets": 4}, "skin": {"skin": True}, "seams": {"seams": True, "skin": True},
             "all": {"skin": True, "targets": 2, "seams": True, "animation": True}, "parts": {"parts": 2, "targets": 1}}
    for name, how in kinds.items():
        for target in ("gltf", "init"):
            write(target, name + ".glb", scene(**how).glb())
    for name, change in ODD.items():
        odd = scene(skin="joint" in name or "weight" in name or "skin" in name, targets=1)
        change(odd, odd.root["nodes"], odd.root["meshes"][0], odd.root["meshes"][0]["primitives"][0])
        write("init", name + ".glb", odd.glb())
    write("gltf", "text.gltf", scene(skin=True, targets=1).text())
    write("init", "text.gltf", scene(skin=True, targets=1).text())


# ---- projects and rigs ----


def axis(name, low=0, high=1, **more):
    return {"name": name, "min": low, "max": high, **more}


def layer(name, space, examples, **more):
    return {"name": name, "space": space, "examples": examples, **more}


def example(name, mesh, at=None, **more):
    made = {"name": name, "mesh": mesh, **more}
    return made if at is None else {**made, "at": at}


def along(axis_name, **more):
    return [example("rest", "mesh.obj", {axis_name: 0}, **more), example("bent", "bent.obj", {axis_name: 0.5}),
            example("wide", "wide.obj", {axis_name: 1})]


ANGLE = {"name": "bend", "joint": "upper", "angle": "x", "min": -90, "max": 90}
POSED = [example("rest", "mesh.obj", {"bend": 0}), example("bent", "bent.obj", {"bend": 60})]


def projects():
    def project(*layers, **more):
        return {"exemplar": 1, "mesh": "mesh.obj", **more, "layers": list(layers)}

    made = {"empty": project()}
    for kind, parameters in (("cardinal", {"kernel": "thin_plate"}), ("gaussian", {"falloff": 0.4}),
                             ("shepard", {"power": 3}), ("nearest", {"k": 2})):
        made[kind] = project(layer("l", [axis("a")], along("a"), weigh={"kind": kind, **parameters}))
    made["cardinal"]["layers"][0]["pseudo"] = [{"from": {"a": 0.2}, "at": {"a": 0.8}}]
    made["direct"] = project(layer("l", [axis("a"), axis("b", -1, 1, rest=0.5)],
                                   [example("a", "bent.obj"), example("b", "wide.obj")], weigh={"kind": "direct"}))
    made["rotation"] = project(layer("l", [{"name": "r", "rotation": "swing", "about": "y"}, axis("a")],
                                     [example("rest", "mesh.obj", {}), example("bent", "bent.obj", {"r": {"x": 40}}),
                                      example("wide", "wide.obj", {"a": 1})], mask={"group": "part1"}))
    made["skin"] = project(layer("l", [ANGLE], POSED, shape="unposed"), skeleton="bones.glb")
    made["dual"] = project(layer("l", [ANGLE], POSED, shape="unposed", mask={"joints": ["upper"]}),
                           skeleton="bones.glb", skinning="dual_quaternion")
    made["offsets"] = project(layer("l", [ANGLE], POSED, shape="offsets", weigh={"kind": "gaussian"}),
                              skeleton="bones.glb")
    made["skinned"] = project(layer("l", [ANGLE], POSED, shape="offsets", frame="skinned"), skeleton="bones.glb")
    made["trajectory"] = project(layer("l", [axis("a")], [example("bent", "bent.obj")], shape="trajectory",
                                       weigh={"kind": "direct"}, trajectory={"correctors": 1}))
    made["paper"] = project(layer("l", [axis("a")], [{"name": "rest", "reference": True, "at": {"a": 0}},
                                                     example("bent", "bent.obj", {"a": 1})], shape="trajectory",
                                  trajectory={"mode": "paper", "bases": True}))
    made["pixels"] = project(layer("l", [axis("a")], [{"name": "dark", "image": "dark.png", "at": {"a": 0}},
                                                      {"name": "light", "image": "light.png", "at": {"a": 1}}],
                                   shape="pixels", texture="base_color"))
    made["refined"] = project(layer("l", [axis("a")], along("a")),
                              subdivide={"scheme": "catmull_clark", "levels": 1, "limit": True})
    made["displaced"] = project(layer("l", [axis("a")], [{"name": "flat", "map": "flat.ply", "at": {"a": 0}},
                                                         {"name": "high", "map": "high.ply", "at": {"a": 1}}],
                                      shape="displacement", weigh={"kind": "nearest"}),
                                subdivide={"scheme": "loop", "levels": 1, "limit": "all"})
    made["driven"] = project(layer("l", [{"name": "body", "driver": True}],
                                   [example("rest", "mesh.obj", {"body": "body.obj"}),
                                    example("bent", "bent.obj", {"body": "body_bent.obj"})],
                                   weigh={"kind": "convex"}, shape="unposed"),
                             driver={"mesh": "body.obj", "frames": {"count": 2, "influences": 2}},
                             settle={"residual": "none", "thickness": 0.01})
    made["motion"] = project(layer("l", [{"name": "body", "driver": True}],
                                   [example("mean", "mesh.obj", posed=False), example("bent", "bent.obj", posed=False)],
                                   weigh={"kind": "motion", "predictor": "small.predictor"}, shape="unposed"),
                             driver={"mesh": "body.obj", "frames": {"count": 2, "influences": 2}},
                             settle={"residual": "none", "thickness": 0.01})
    made["two"] = project(layer("first", [axis("a")], along("a")),
                          layer("second", [axis("b")], [example("long", "long.obj")], weigh={"kind": "direct"},
                                muted=True))
    return made


def pack_of(path):
    """The pack in a rig file, without the scene for viewers."""
    data = path.read_bytes()
    at = data.find(b"EXEMPLAR")
    while struct.unpack_from("<I", data, at + 12)[0] > len(data) or data[at + 8] == 0:
        at = data.find(b"EXEMPLAR", at + 1)
    size = struct.unpack_from("<Q", data, at + 24)[0]
    return data[at:at + size]


def make_map(height, count):
    head = "ply\nformat ascii 1.0\nelement vertex %d\nproperty float displacement\nproperty uchar state\nend_header\n"
    return head % count + "".join("%g 1\n" % (height * (i % 3)) for i in range(count))


def checksum(data):
    state = 0x9E3779B97F4A7C15 ^ len(data)
    for i in range(0, len(data), 8):
        state = (state ^ int.from_bytes(data[i:i + 8], "little")) * 0xD6E8FEB86659FD93 % 2**64
        state ^= state >> 32
    return state


def make_predictor(frames=3, components=2, landmarks=3, weights=2):
    """A predictor of small numbers (docs/reference/rig.md)."""
    length = 12 * (frames - 1) + 3 + 13 * frames
    groups = [0.1 * i if i < landmarks else 0 for _ in range(components) for i in range(16)]
    many = 3 * frames + 2 * length + length * components
    rest = weights + components * weights + 2 * landmarks * weights
    numbers = [0.1 * (i % 7 - 3) for i in range(many)] + groups + [0.1 * (i % 5 - 2) for i in range(rest)]
    size = (88 + 4 * len(numbers) + 7) // 8 * 8
    block = struct.pack("<Q4i2I4f5d", size, frames, components, landmarks, weights, 1, 0, 0, 1, 0, 0, 0.04, 100, 2, 1, 3)
    block = (block + struct.pack("<%df" % len(numbers), *numbers)).ljust(size, b"\0")
    return b"EXPREDIC" + struct.pack("<IIQ", 1, 0, checksum(block)) + block


def make_rigs(tool):
    body = "v -0.1 0 -0.3\nv 1.1 0 -0.3\nv 1.1 3 -0.3\nv -0.1 3 -0.3\nv 0.5 1.5 -0.6\n" \
           "f 1 2 3 4\nf 2 1 5\nf 3 2 5\nf 4 3 5\nf 1 4 5\n"
    bent_body = body.replace("1.1 3 -0.3", "1.1 3 0.4").replace("-0.1 3 -0.3", "-0.1 3 0.4")
    # Loop's first level of the strip, cut into five triangles: 7 vertices and 11 edges.
    files = {"mesh.obj": form(colours=True), "bent.obj": BENT, "wide.obj": WIDE, "long.obj": LONG,
             "bones.glb": scene(skin=True).glb(), "dark.png": make_png(8, 2, 4, 2), "light.png": make_png(8, 6, 4, 2),
             "flat.ply": make_map(0, 18), "high.ply": make_map(0.1, 18), "body.obj": body, "body_bent.obj": bent_body,
             "small.predictor": make_predictor()}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, data in files.items():
            (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        for name, project in projects().items():
            text = json.dumps(project)
            write("project", name + ".json", text)
            (folder / (name + ".json")).write_text(text)
            subprocess.run([tool, "build", "--quiet", str(folder / (name + ".json"))], check=True)
            write("rig", name + ".rig", pack_of(folder / (name + ".glb")))
        write("rig", "whole.glb", (folder / "direct.glb").read_bytes())
    write("obj", "strip.obj", form(colours=True))
    write("obj", "body.obj", body + "# end\ng a b\ns 1\nusemtl m\nl 1 2\nvn 0 0 1\nf 1//1 2//-1 3//1\n")


# ---- images ----


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def make_png(depth, colour, width, height, packed=True, interlaced=False, extra=b""):
    """packed False: rows as they are, which only the fuzz target packs."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    rows = b""
    # The seven passes of an interlaced image: first column and row, and their steps.
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    for x, y, dx, dy in passes if interlaced else [(0, 0, 1, 1)]:
        columns, lines = -(-(width - x) // dx) if width > x else 0, -(-(height - y) // dy) if height > y else 0
        for line in range(lines if columns > 0 else 0):
            size = (columns * channels * depth + 7) // 8
            rows += bytes([line % 5]) + bytes((37 * line + 11 * i) % (4 if colour == 3 and depth == 8 else 256)
                                              for i in range(size))
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + \
        chunk(b"IDAT", zlib.compress(rows) if packed else rows) + chunk(b"IEND", b"")


def make_images():
    for colour, depths in ((0, (1, 2, 4, 8, 16)), (2, (8, 16)), (3, (1, 2, 4, 8)), (4, (8, 16)), (6, (8, 16))):
        for depth in depths:
            extra = b""
            if colour == 3:
                extra = chunk(b"PLTE", bytes(range(3 * min(2 ** depth, 16)))) + chunk(b"tRNS", b"\x40")
            elif colour in (0, 2) and depth == 8:
                extra = chunk(b"gAMA", struct.pack(">I", 45455)) + chunk(b"tRNS", b"\0\1" * (1 if colour == 0 else 3))
            write("png", "colour%d_%d.png" % (colour, depth), make_png(depth, colour, 5, 3, False, False, extra))
    write("png", "interlaced.png", make_png(8, 6, 9, 9, False, True))
    write("png", "packed.png", make_png(8, 2, 6, 4))


# ---- text ----

BVH = """HIERARCHY
ROOT hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0 -0.5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -0.5 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0416667
0 1 0 0 10 0 0 20 0
0 1 0.1 5 10 0 0 30 0
"""

TRC = """PathFileType\t4\t(X/Y/Z)\tshort.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
100\t100\t2\t2\tmm\t100\t1\t2
Frame#\tTime\thead\t\t\tfoot\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

1\t0\t1\t2\t3\t4\t5\t6
2\t0.01\t1\t2\t3\t\t\t
"""

JOINT = {"name": "base", "joint": "base", "translation": [0, 1, 0]}
KINEMATICS = {"exemplar_skeleton": 1, "name": "two", "joints": [
    JOINT, {"name": "elbow.L", "parent": "base", "joint": "hinge", "translation": [0.3, 0, 0], "axis": [0, 0, 1],
            "range": [0, 140], "lock": ["axis"]},
    {"name": "elbow.R", "parent": "base", "joint": "hinge", "mirror": "elbow.L"}],
    "markers": [{"name": "m1", "joint": "elbow.L", "at": [0.1, 0, 0], "colour": [255, 0, 0]},
                {"name": "m2", "joint": "base", "colour": [0, 255, 0]}]}
SESSION = {"exemplar_scan": 1, "skeleton": "upper", "markers": "markers.csv", "reference": "a", "average": "b",
           "levels": 2, "reach": 0.05, "neighbours": 4, "mirror": False,
           "parts": [{"name": "arm", "joints": ["elbow.L", "forearm.L"], "covers": ["shoulder.L"]}],
           "scans": [{"name": "a", "part": "arm", "files": ["scans/a.ply"]},
                     {"name": "b", "part": "arm", "files": ["b_1.ply", "b_2.ply"], "pose": {"elbow.L": 60}}]}


def make_c3d():
    """Two markers, two frames, floats, little-endian."""
    parameters = b"\0\0\x02\x54" + b"\x05\xffPOINT" + struct.pack("<h", 3) + b"\0"

    def value(name, kind, sizes, data):
        body = bytes([kind & 0xFF, len(sizes), *sizes]) + data + b"\0"
        return bytes([len(name), 1]) + name + struct.pack("<h", len(body) + 2) + body

    parameters += value(b"LABELS", -1, (4, 2), b"headfoot") + value(b"SCALE", 4, (), struct.pack("<f", -1))
    parameters += value(b"RATE", 4, (), struct.pack("<f", 100)) + value(b"UNITS", -1, (2,), b"mm")
    parameters += value(b"USED", 2, (), struct.pack("<h", 2)) + value(b"FRAMES", 2, (), struct.pack("<h", 2))
    parameters += value(b"DATA_START", 2, (), struct.pack("<h", 4)) + b"\0\0"
    parameters = parameters.ljust(1024, b"\0")
    header = struct.pack("<BBHHHHHfHHf", 2, 0x50, 2, 0, 1, 2, 0, -1.0, 4, 0, 100.0).ljust(512, b"\0")
    points = struct.pack("<16f", *[float(i) for i in range(16)]).ljust(512, b"\0")
    return header + parameters + points


def make_alembic():
    frames = [[(x, y, z + f) for x, y, z in POINTS] for f in range(3)]
    faces = [[i - 1 for i in face] for face in FACES]
    w = alembic_file.Writer()
    one = w.finish([("b", "AbcGeom_PolyMesh_v1", w.mesh(frames, faces))], 0, 1)
    write("alembic", "one", b"\0" + one)
    write("alembic", "cut", b"\0" + one[:-200])
    w = alembic_file.Writer()
    mesh, other = w.mesh(frames[:1], faces), w.mesh(frames, faces)
    moved = w.xform([0x10, 0x20, 0x00, 0x30, 0x40], [[f, 0, 0, 0, 1, 0, 90, 1, 2, 3] + [1.0, 0, 0, 0, 0] * 3 + [1, 30]
                                                     for f in range(4)],
                    [("b", "AbcGeom_PolyMesh_v1", mesh)])
    write("alembic", "two", b"\1" + w.finish([("a", "AbcGeom_Xform_v3", moved), ("c", "AbcGeom_SubD_v1", other)], 1, 0.04))
    w = alembic_file.Writer()
    at = len(w.data) + 8 + 4 + 1 + 1 + 4 + 7 + len("AbcGeom_Xform_v3") + 32
    circle = w.object(0, [("a", "AbcGeom_Xform_v3", at)])
    write("alembic", "circle", b"\0" + w.finish([("a", "AbcGeom_Xform_v3", circle)], 0, 1))


def make_texts():
    write("bvh", "two.bvh", BVH)
    write("markers", "two.trc", TRC)
    write("markers", "two.c3d", make_c3d())
    write("cache", "pc2", b"\0POINTCACHE2\0" + struct.pack("<iiffi", 1, 2, 0, 1, 2) + struct.pack("<12f", *range(12)))
    write("cache", "mdd", b"\1" + struct.pack(">ii", 2, 2) + struct.pack(">2f", 0, 1) + struct.pack(">12f", *range(12)))
    make_alembic()
    head = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\n" \
           "property uchar green\nproperty uchar blue\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    rows = [(0, 0, 0, 255, 0, 0), (1, 0, 0, 0, 255, 0), (0, 1, 0, 0, 0, 255)]
    write("ply", "ascii.ply", "ply\nformat ascii 1.0\ncomment c\n" + head +
          "".join(" ".join(map(str, r)) + "\n" for r in rows) + "3 0 1 2\n")
    for order, sign in (("little", "<"), ("big", ">")):
        data = b"".join(struct.pack(sign + "fffBBB", *r) for r in rows) + struct.pack(sign + "Biii", 3, 0, 1, 2)
        write("ply", order + ".ply", ("ply\nformat binary_%s_endian 1.0\n" % order + head).encode() + data)
    write("off", "text.off", "OFF\n# c\n4 2\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 0.5 0.5 0.5\n3 0 1 1\n")
    write("off", "all.off", "STCNOFF 3 1 3\n" + "".join("%d %d 0 0 0 1 255 0 0 255 0.5 1\n" % r[:2] for r in rows) + "3 0 1 2\n")
    write("off", "binary.off", b"OFF BINARY\n" + struct.pack(">iii", 3, 1, 0) +
          b"".join(struct.pack(">fff", *r[:3]) for r in rows) + struct.pack(">iiiii", 3, 0, 1, 2, 0))
    write("poses", "dials.csv", "time,size,tan\n0,0.5,1\n0.5,1,0\n1.5,-1e3,0.25\n")
    write("poses", "joints.csv", "elbow,joint:elbow.x,joint:elbow.y,joint:elbow.z,joint:elbow.w,\"wet\"\n30,0,0,0,1,0\n"
          "\n60,0.1,0.2,0.3,0.9,1\n")
    for name, words in {"place": "place\nd=0.5\naim=x30y-10z5\njoint:arm=q:0,0,.38,.92", "joints": "joints\narm=x20",
                        "numbers": "numbers\na=1,b=-2.5\nc=1e3", "falloff": "falloff\nelbow=30,b=2",
                        "one": "falloff\n0.25", "pose": "pose\nsize=0.5\ntan=1,5\nelbow=30\njoint:elbow=x90\nwet: 1",
                        "space": "space\nbend, weight\nsmile:1,0\na:b:0.5,1e3", "evenly": "space\nkick"}.items():
        write("words", name, words)


def make_small_files():
    for name, text in {"k_two": json.dumps(KINEMATICS), "s_two": json.dumps(SESSION),
                       "m_two": "marker,joint,r,g,b,x,y,z\nm1,elbow.L,255,0,0,0.1,0,0\nm2,shoulder.L,0,255,0,,,\n",
                       "f_two": "x,y,z,r,g,b,size,view,strength\n0,1,0,255,0,0,0.012,0,0.5\n0.1,1,0,0,255,0,0.01,1,1\n",
                       "f_plain": "x,y,z,r,g,b\n0,1,0,255,0,0\n",
                       "l_two": "marker,x,y,z,confidence\nm1,0,1,0,\nm2,0.1,1,0,0.95\n",
                       "p_two": "name,part,elbow,size\nrest,,0,0\nbent,arm,60,0.5\nheld,held,10,1\n",
                       "c_two": "marker,joint,r,g,b,x,y,z\nm1,elbow,255,0,0,0,0,0.1\nm2,wrist,0,255,0,0,1,0\n",
                       "j_two": json.dumps({"exemplar_fit": 1, "skeleton": KINEMATICS, "scans": [
                           {"name": "a", "rms": 0.001, "base": [0, 1, 0], "pose": {"base": [0, 0, 0.6, 0.8],
                                                                                     "elbow.L": 30}},
                           {"name": "b", "base": [0, 1, 0], "pose": {}, "open": ["elbow.R"]}]})}.items():
        write("scan", name, name[0] + text)
    for name, text in {"a_mask": "# vertex value\n0 1\n3 0.25\n", "d_map": make_map(0.1, 3),
                       "i_joints": json.dumps({"joints": {"elbow.L": "LeftArm", "knee": {"from": "k", "hinge": "x"},
                                                          "hip": {"from": "h", "align": False}}}),
                       "b_binds": json.dumps({"binds": [{"driven": "left", "driver": ["left", "right"]},
                                                        {"driven": {"colour": "g"}, "driver": {"colour": "r"}}]}),
                       "g_segments": "# face segment\n1 0\n2 1\n4 0\n"}.items():
        write("side", name, name[0] + text)
    write("side", "p_predictor", b"p" + make_predictor())


def main():
    tool = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
    make_scenes()
    make_rigs(tool)
    make_images()
    make_texts()
    make_small_files()
    total = sum(path.stat().st_size for path in SEEDS.rglob("*") if path.is_file())
    print("%d bytes in %s" % (total, SEEDS))


main()
