#!/usr/bin/python3
"""Makes a project from MakeHuman's own files: bodies over gender, age and muscle, each with its own skeleton.

  makehuman.py DATA FOLDER   DATA is a folder with 3dobjs, rigs and targets; FOLDER gets body.json, body_dual.json
                             (the same with dual quaternions), the base body, its skeleton with the skin weights, and a
                             mesh and a skeleton for each of the 18 examples

MakeHuman describes a body in decimetres. A .target file has lines `vertex dx dy dz`; a body is the base mesh plus the
sum over targets of target times the product of its factors. Of the targets in our data, caucasian-GENDER-AGE gives the
figure (factor gender x age) and universal-GENDER-young-MUSCLEmuscle-averageweight the muscles (gender x muscle). The
muscle targets of children and old people are not in our data: they get those of the young, scaled by the ratio of the
figures' heights. At a corner all factors are 0 or 1. A joint is the mean of some vertices of the entire mesh, including
helpers, so it moves with the targets. Bones have a head, a tail, and three joints that span the plane in which they
bend.

The result is in metres, with feet at height 0, and only the body (the helpers are numbered after it and left out). A
joint is at its bone's head, y along the bone, x across the plane of bending, so that elbows and knees bend by positive
turns about x. All skeletons have the directions of the base body and differ only in positions.
"""
import itertools
import json
import struct
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

VERTICES = 13380  # of the body; helpers follow
METRES = 0.1      # per unit of MakeHuman
GENDERS = {"female": 0.0, "male": 1.0}
AGES = {"child": 10.0, "young": 25.0, "old": 90.0}  # MakeHuman's own years, except for the old
MUSCLES = {"min": 0.0, "average": 0.5, "max": 1.0}
AXES = [{"name": "gender", "min": 0, "max": 1, "rest": 0.5},
        {"name": "age", "min": 10, "max": 90, "rest": 25, "unit": "years"},
        {"name": "muscle", "min": 0, "max": 1, "rest": 0.5}]


class Body:
    """A form of the body and the heads and tails of its bones, in metres, as in the files."""

    def __init__(self, source, whole):
        whole = (whole - [0, whole[:VERTICES, 1].min(), 0]) * METRES
        self.form = whole[:VERTICES].astype(np.float32)
        spot = {name: whole[vertices].mean(axis=0) for name, vertices in source.spots.items()}
        self.heads = np.array([spot[bone["head"]] for bone in source.bones.values()])
        self.tails = np.array([spot[bone["tail"]] for bone in source.bones.values()])
        self.planes = np.array([[spot[name] for name in source.planes[bone["rotation_plane"]]]
                                for bone in source.bones.values()])

    def height(self):
        return float(np.ptp(self.form[:, 1]))


class Source:
    """MakeHuman's files: the parts of the base mesh that a body needs, and bodies made from targets."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.read_mesh(self.folder / "3dobjs/base.obj")
        rig = json.loads((self.folder / "rigs/default.mhskel").read_text())
        self.bones, self.spots, self.planes = rig["bones"], rig["joints"], rig["planes"]
        self.names = list(self.bones)
        self.parents = [self.names.index(b["parent"]) if b["parent"] else -1 for b in self.bones.values()]
        self.read_weights(self.folder / "rigs/default_weights.mhw")
        self.base = Body(self, self.points)
        self.frames = [frame(*bone) for bone in zip(self.base.heads, self.base.tails, self.base.planes)]

    def read_mesh(self, path):
        """Points of the entire mesh; texture coordinates and faces (pairs vertex, texture coordinate) of the body."""
        points, texcoords, corners, group = [], [], [], None
        for line in path.read_text().splitlines():
            words = line.split()
            if not words:
                continue
            if words[0] == "v":
                points.append(words[1:4])
            elif words[0] == "vt":
                texcoords.append(words[1:3])
            elif words[0] == "g":
                group = words[1]
            elif words[0] == "f" and group == "body":
                corners.append([[int(number) - 1 for number in word.split("/")] for word in words[1:]])
        self.points, corners = np.array(points, float), np.array(corners)
        used, places = np.unique(corners[:, :, 1], return_inverse=True)
        self.faces, self.texcoords = corners[:, :, 0], np.array(texcoords, float)[used]
        self.face_texcoords = places.reshape(self.faces.shape)
        assert np.array_equal(np.unique(self.faces), np.arange(VERTICES)), "the body's vertices are not the first ones"

    def read_weights(self, path):
        """[vertices, bones], rows normalised to sum 1, which the file's rows are not."""
        self.weights = np.zeros((VERTICES, len(self.names)))
        for name, pairs in json.loads(path.read_text())["weights"].items():
            for vertex, weight in pairs:
                if vertex < VERTICES:
                    self.weights[vertex, self.names.index(name)] += weight
        self.raw_sums = self.weights.sum(axis=1)
        self.weights /= self.raw_sums[:, None]

    def target(self, name):
        """[points of the entire mesh, 3]; a target that moves nothing has no lines."""
        moved = np.zeros_like(self.points)
        lines = (self.folder / f"targets/macrodetails/{name}.target").read_text().splitlines()
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
        if rows:
            rows = np.array(rows, float)
            moved[rows[:, 0].astype(int)] = rows[:, 1:]
        return moved

    def body(self, gender, age, muscle):
        def height(points):
            return np.ptp(points[:VERTICES, 1])

        figure = self.points + self.target(f"caucasian-{gender}-{age}")
        young = self.points + self.target(f"caucasian-{gender}-young")
        muscles = self.target(f"universal-{gender}-young-{muscle}muscle-averageweight")
        return Body(self, figure + muscles * (height(figure) / height(young)))

    def examples(self):
        """{name: (point of the space, body)}"""
        return {f"{gender}_{age}_{muscle}": ([GENDERS[gender], AGES[age], MUSCLES[muscle]],
                                             self.body(gender, age, muscle))
                for gender, age, muscle in itertools.product(GENDERS, AGES, MUSCLES)}


def frame(head, tail, plane):
    """A bone's axes as columns: y along it, x across the plane, which is arbitrary if its points are on a line."""
    y = (tail - head) / np.linalg.norm(tail - head)
    x = np.cross(plane[2] - plane[1], plane[1] - plane[0])
    x -= y * (x @ y)
    if np.linalg.norm(x) < 1e-9:
        x = np.cross(y, np.eye(3)[np.argmin(np.abs(y))])
    x /= np.linalg.norm(x)
    return np.stack([x, y, np.cross(x, y)], axis=1)


# ---- files ----

def write_obj(path, source, form):
    """Nine digits reproduce a float."""
    with open(path, "w") as file:
        np.savetxt(file, form, "v %.9g %.9g %.9g")
        np.savetxt(file, source.texcoords, "vt %.9g %.9g")
        file.write("g body\n")
        corners = np.stack([source.faces, source.face_texcoords], axis=2).reshape(len(source.faces), -1) + 1
        np.savetxt(file, corners, "f %d/%d %d/%d %d/%d %d/%d")


class Glb:
    """Collects arrays, then writes them with the JSON that names them."""

    def __init__(self):
        self.json = {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": []}
        self.bytes = b""

    def array(self, rows, kind, **more):
        components = {"<f4": 5126, "u1": 5121, "<u2": 5123}
        data = np.ascontiguousarray(rows, kind)
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": data.nbytes}
        self.bytes += data.tobytes() + b"\0" * (-data.nbytes % 4)
        self.json["bufferViews"].append(view)
        self.json["accessors"].append({"bufferView": len(self.json["bufferViews"]) - 1, "count": len(data),
                                       "componentType": components[kind], **more})
        return len(self.json["accessors"]) - 1

    def write(self, path):
        self.json["buffers"] = [{"byteLength": len(self.bytes)}]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
        chunks += struct.pack("<II", len(self.bytes), 0x004E4942) + self.bytes
        Path(path).write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks)


def write_skeleton(path, source, heads, form=None):
    """Joints at heads [bones, 3]; with a form, a mesh of it that they move."""
    glb, nodes, binds = Glb(), [], []
    for name, parent, head, axes in zip(source.names, source.parents, heads, source.frames):
        place, turn = head, axes
        if parent >= 0:
            place, turn = source.frames[parent].T @ (head - heads[parent]), source.frames[parent].T @ axes
        nodes.append({"name": name, "translation": list(place), "rotation": list(Rotation.from_matrix(turn).as_quat())})
        bind = np.eye(4)
        bind[:3] = np.column_stack([axes.T, -axes.T @ head])
        binds.append(bind.T.ravel())
    for number, parent in enumerate(source.parents):
        if parent >= 0:
            nodes[parent].setdefault("children", []).append(number)
    glb.json["skins"] = [{"joints": list(range(len(nodes))), "inverseBindMatrices":
                          glb.array(binds, "<f4", type="MAT4")}]
    roots = [number for number, parent in enumerate(source.parents) if parent < 0]
    if form is not None:
        roots.append(len(nodes))
        nodes.append({"name": "body", "mesh": 0, "skin": 0})
        glb.json["meshes"] = [{"name": "body", "primitives": [primitive(glb, source, form)]}]
    glb.json.update(nodes=nodes, scenes=[{"nodes": roots}], scene=0)
    glb.write(path)


def primitive(glb, source, form):
    """All influences of a vertex, heaviest first, in as many sets of four as the largest number needs."""
    attributes = {"POSITION": glb.array(form, "<f4", type="VEC3", min=form.min(axis=0).tolist(),
                                        max=form.max(axis=0).tolist())}
    most = int((source.weights > 0).sum(axis=1).max())
    order = np.argsort(-source.weights, axis=1, kind="stable")[:, :-(-most // 4) * 4]
    weights = np.take_along_axis(source.weights, order, axis=1)
    joints = np.where(weights > 0, order, 0)
    for number in range(order.shape[1] // 4):
        columns = slice(4 * number, 4 * number + 4)
        attributes[f"JOINTS_{number}"] = glb.array(joints[:, columns], "u1", type="VEC4")
        attributes[f"WEIGHTS_{number}"] = glb.array(weights[:, columns], "<f4", type="VEC4")
    triangles = source.faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1)
    return {"attributes": attributes, "indices": glb.array(triangles, "<u2", type="SCALAR")}


def project(examples, skinning):
    listed = [{"name": name, "mesh": f"{name}.obj", "skeleton": f"{name}.glb",
               "at": {axis["name"]: value for axis, value in zip(AXES, point)}}
              for name, (point, _) in examples.items()]
    return {"exemplar": 1, "mesh": "base.obj", "skeleton": "base.glb", "skinning": skinning,
            "layers": [{"name": "body", "space": AXES, "weigh": {"kind": "cardinal", "kernel": "bspline"},
                        "shape": "positions", "examples": listed}]}


def convert(source, folder):
    """Writes the projects and all their files; returns the examples."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    examples = source.examples()
    write_obj(folder / "base.obj", source, source.base.form)
    write_skeleton(folder / "base.glb", source, source.base.heads, source.base.form)
    for name, (_, body) in examples.items():
        write_obj(folder / f"{name}.obj", source, body.form)
        write_skeleton(folder / f"{name}.glb", source, body.heads)
    for name, skinning in (("body", "linear"), ("body_dual", "dual_quaternion")):
        (folder / f"{name}.json").write_text(json.dumps(project(examples, skinning), indent=1) + "\n")
    return examples


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} DATA FOLDER")
    for name, (point, body) in convert(Source(sys.argv[1]), sys.argv[2]).items():
        print(f"{name:22s} {body.height():.3f} m")
