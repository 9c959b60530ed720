#!/usr/bin/python3
"""Registered meshes against numpy and scipy: `articulate_oracle.py TOOL DATA`.

body_kick's five frames become a rig. From its file alone, as any viewer reads it, the frames are skinned again: distances
must be those that the tool says. With weights and rest form locked, scipy may not find a better pose; with poses locked,
least squares no better rest form, and a simplex no much better weights. With its layers, the rig must give the frames.

A person of MakeHuman's files whose skin slides and bulges (tests/scan/subject.py), from another person's template: joints,
angles and forms left out.
"""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares, minimize
from scipy.spatial.transform import Rotation

import skips

FRAMES = (0, 24, 36, 42, 48)


def check(what, value, most):
    print(f"{what}: {value:.3g} (at most {most:g})")
    if not value <= most:
        sys.exit(f"{what}: {value:.6g} is more than {most:g}")


def read_obj(path):
    lines = [line.split() for line in open(path)]
    points = np.array([[float(x) for x in line[1:4]] for line in lines if line and line[0] == "v"])
    faces = [[int(c.split("/")[0]) - 1 for c in line[1:]] for line in lines if line and line[0] == "f"]
    return points, faces


class Glb:
    """The first mesh with a skin of a .glb file."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        size = struct.unpack_from("<I", data, 12)[0]
        self.json = json.loads(data[20:20 + size])
        self.bytes = data[28 + size:]
        node = next(n for n in self.json["nodes"] if "skin" in n)
        primitive = self.json["meshes"][node["mesh"]]["primitives"][0]
        attributes = primitive["attributes"]
        self.points = self.read(attributes["POSITION"]).astype(float)
        self.weights = self.read(attributes["WEIGHTS_0"]).astype(float)
        self.joints = self.read(attributes["JOINTS_0"]).astype(int)
        skin = self.json["skins"][node["skin"]]
        self.binds = self.read(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
        self.names = [self.json["nodes"][j]["name"] for j in skin["joints"]]

    def read(self, number):
        a = self.json["accessors"][number]
        view = self.json["bufferViews"][a["bufferView"]]
        kind = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}[a["componentType"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}[a["type"]]
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        step = view.get("byteStride", np.dtype(kind).itemsize * width)
        rows = [np.frombuffer(self.bytes, kind, width, start + i * step) for i in range(a["count"])]
        values = np.array(rows)
        if a.get("normalized"):
            values = values / {"u1": 255, "<u2": 65535}[kind]
        return values


def frames(report, rotations, base):
    """World matrices [joints, 4, 4] of a pose."""
    names = [j["name"] for j in report["joints"]]
    world = np.tile(np.eye(4), (len(names), 1, 1))
    turns = Rotation.from_quat(rotations).as_matrix()
    for b, joint in enumerate(report["joints"]):
        parent = None if joint["parent"] is None else world[names.index(joint["parent"])]
        local = np.eye(4)
        local[:3, :3] = turns[b]
        local[:3, 3] = base if parent is None else joint["translation"]
        world[b] = local if parent is None else parent @ local
    return world


def skin_matrices(report, glb, rotations, base):
    order = [[j["name"] for j in report["joints"]].index(name) for name in glb.names]
    return frames(report, rotations, base)[order] @ glb.binds


def skin(matrices, glb, points=None):
    points = glb.points if points is None else points
    blended = np.einsum("vi,vijk->vjk", glb.weights, matrices[glb.joints])
    return np.einsum("vjk,vk->vj", blended[:, :3, :3], points) + blended[:, :3, 3]


def rms(difference):
    return float(np.sqrt((difference ** 2).sum(axis=1).mean()))


def run(tool, *words):
    return subprocess.run([tool, *map(str, words)], check=True, capture_output=True, text=True, timeout=300).stdout


# ---- five frames of a kick ----

def check_pose(report, glb, form, target):
    """scipy, from the tool's pose, over all joints."""
    start = np.array(form["rotations"])
    count = len(start)
    some = np.arange(0, len(target), 9)
    small = Glb.__new__(Glb)
    small.points, small.weights, small.joints = glb.points[some], glb.weights[some], glb.joints[some]
    small.names, small.binds = glb.names, glb.binds

    def residual(x):
        turns = (Rotation.from_rotvec(x[:3 * count].reshape(-1, 3)) * Rotation.from_quat(start)).as_quat()
        return (skin(skin_matrices(report, small, turns, form["translation"] + x[3 * count:]), small)
                - target[some]).ravel()

    zero = np.zeros(3 * count + 3)
    found = least_squares(residual, zero, max_nfev=6)
    before, after = np.sqrt((residual(zero) ** 2).sum()), np.sqrt((found.fun ** 2).sum())
    check(f"{form['name']}: what scipy gains on the pose", 1 - after / before, 0.05)


def check_rest(all_matrices, glb, targets):
    """The rest form: least squares over the forms, vertex by vertex."""
    worst = 0
    for v in range(0, len(glb.points), 41):
        rows, sides = [], []
        for matrices, target in zip(all_matrices, targets):
            blended = np.einsum("i,ijk->jk", glb.weights[v], matrices[glb.joints[v]])
            rows.append(blended[:3, :3])
            sides.append(target[v] - blended[:3, 3])
        best = np.linalg.lstsq(np.concatenate(rows), np.concatenate(sides), rcond=None)[0]
        worst = max(worst, np.linalg.norm(best - glb.points[v]))
    check("rest form, metres from least squares", worst, 2e-4)


def check_weights(all_matrices, glb, targets):
    """Weights over each vertex's own joints; the tool's are also smooth, so they may be a little worse."""
    ours = best = 0
    for v in range(0, len(glb.points), 101):
        used = glb.weights[v] > 0
        columns = np.array([[m[j] @ np.append(glb.points[v], 1) for j in glb.joints[v][used]] for m in all_matrices])
        apart = (columns[..., :3] - np.array(targets)[:, None, v]).transpose(0, 2, 1).reshape(-1, used.sum())
        gram = apart.T @ apart * 1e6
        found = minimize(lambda w: w @ gram @ w, glb.weights[v][used], jac=lambda w: 2 * gram @ w, method="SLSQP",
                         bounds=[(0, 1)] * used.sum(), constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1}])
        ours += glb.weights[v][used] @ gram @ glb.weights[v][used]
        best += min(found.fun, glb.weights[v][used] @ gram @ glb.weights[v][used])
    check("squared distance by the tool's weights, to the best", ours / best, 1.2)


def check_kick(tool, data, folder):
    paths = [data / "body_kick" / f"shell{n}.obj" for n in FRAMES]
    targets = [read_obj(path)[0] for path in paths]
    report = json.loads(run(tool, "scan", "articulate", *paths, "-o", folder / "skin.glb", "--no-layers", "--no-report",
                            "--json"))
    glb = Glb(folder / "skin.glb")
    if len(glb.points) != len(targets[0]):
        sys.exit(f"the rig's mesh has {len(glb.points)} vertices, not {len(targets[0])}")
    check("largest sum of weights off 1", float(np.abs(glb.weights.sum(axis=1) - 1).max()), 1e-5)
    all_matrices = []
    for form, target in zip(report["forms"], targets):
        matrices = skin_matrices(report, glb, form["rotations"], form["translation"])
        all_matrices.append(matrices)
        distance = rms(skin(matrices, glb) - target)
        check(f"{form['name']}: metres off the distance that the tool says", abs(distance - form["rms"]), 1e-6)
        check(f"{form['name']}: metres, skinned", distance, 0.0025)
    check_pose(report, glb, report["forms"][4], targets[4])
    check_rest(all_matrices, glb, targets)
    check_weights(all_matrices, glb, targets)
    told = json.loads(run(tool, "scan", "articulate", *paths, "-o", folder / "body.glb", "--poses",
                          folder / "poses.csv", "--json"))
    check("forms left out, of one form alone", told["ratio"], 1.0)
    run(tool, "pose", folder / "body.glb", "--poses", folder / "poses.csv", "-o", folder / "posed")
    for path, target in zip(sorted((folder / "posed").glob("*.obj")), targets):
        posed = read_obj(path)[0]  # the base does not move in a table of poses
        check(f"{path.name}: metres, the rig with its layers",
              rms(posed - posed.mean(axis=0) - target + target.mean(axis=0)), 0.0012)


# ---- a person ----

def write_template(path, person, names, parents):
    """A .glb file with the skin of a person in the pose of MakeHuman's files."""
    order = np.argsort(-person.weights, axis=1)[:, :4]
    weights = np.take_along_axis(person.weights, order, 1)
    weights /= weights.sum(axis=1, keepdims=True)
    binds = np.tile(np.eye(4), (len(names), 1, 1))
    binds[:, :3, 3] = -person.centres
    parts = [person.points.astype("<f4"), order.astype("<u2"), weights.astype("<f4"), person.triangles.astype("<u4"),
             binds.transpose(0, 2, 1).astype("<f4")]
    kinds = [(5126, "VEC3"), (5123, "VEC4"), (5126, "VEC4"), (5125, "SCALAR"), (5126, "MAT4")]
    counts = [len(person.points)] * 3 + [person.triangles.size, len(names)]
    views, data = [], b""
    for part in parts:
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": part.nbytes})
        data += part.tobytes()
    accessors = [{"bufferView": i, "componentType": kind, "type": shape, "count": count}
                 for i, ((kind, shape), count) in enumerate(zip(kinds, counts))]
    accessors[0].update(min=parts[0].min(axis=0).tolist(), max=parts[0].max(axis=0).tolist())
    nodes = []
    for j, name in enumerate(names):
        at = person.centres[j] - (person.centres[parents[j]] if parents[j] >= 0 else 0)
        nodes.append({"name": name, "translation": at.tolist()})
        below = [k for k in range(len(names)) if parents[k] == j]
        nodes[j].update({"children": below} if below else {})
    nodes.append({"mesh": 0, "skin": 0})
    scene = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, len(names)]}], "nodes": nodes,
             "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}, "indices": 3}]}],
             "skins": [{"joints": list(range(len(names))), "inverseBindMatrices": 4}], "accessors": accessors,
             "bufferViews": views, "buffers": [{"byteLength": len(data)}]}
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    Path(path).write_bytes(struct.pack("<4sIII4s", b"glTF", 2, 28 + len(text) + len(data), len(text), b"JSON") + text
                           + struct.pack("<I4s", len(data), b"BIN\0") + data)


def write_skeleton(path, person, subject):
    joints = []
    for j, name in enumerate(subject.NAMES):
        parent, kind, _ = subject.JOINTS[name]
        at = person.centres[j] - (person.centres[subject.PARENTS[j]] if j else 0)
        joints.append({"name": name, "joint": kind, "translation": at.tolist()})
        joints[j].update({"parent": parent} if parent else {})
        joints[j].update({"axis": person.axes[name].tolist()} if kind == "hinge" else {})
    path.write_text(json.dumps({"exemplar_skeleton": 1, "name": "person", "joints": joints, "markers": []}))


def check_person(tool, data, folder, subject, who, template, limits):
    person = subject.Person(data / "makehuman", uneven=0.006, **subject.PEOPLE[who])
    other = subject.Person(data / "makehuman", uneven=0, **subject.PEOPLE[template])
    folder.mkdir()
    write_template(folder / "start.glb", other, subject.NAMES, subject.PARENTS)
    write_skeleton(folder / "start.json", other, subject)
    truth = subject.all_poses(person, subject.library(12, 1, 3.0, held=False))
    for number, posed in enumerate(truth):
        subject.write_obj(folder / f"{number:02d}.obj", posed.surface, person.quads)
    told = json.loads(run(tool, "scan", "articulate", *sorted(folder.glob("??.obj")), "--weights", folder / "start.glb",
                          "--skeleton", folder / "start.json", "-o", folder / "body.glb", "--json"))
    order = [subject.NAMES.index(j["name"]) for j in told["joints"]]
    names = [j["name"] for j in told["joints"]]
    parents = [names.index(j["parent"]) if j["parent"] else -1 for j in told["joints"]]
    worlds = [frames(told, form["rotations"], form["translation"]) for form in told["forms"]]
    apart = np.array([np.linalg.norm(w[:, :3, 3] - t.joints[order], axis=1) for w, t in zip(worlds, truth)])
    # A joint's angle is measured from its own rest; what is the same in all forms is no error.
    turns = [np.array([w[:, :3, :3] for w in worlds]), np.array([t.turns[order] for t in truth])]
    for b in range(len(names)):
        shift = Rotation.from_matrix(turns[1][:, b].transpose(0, 2, 1) @ turns[0][:, b]).mean().as_matrix()
        turns[1][:, b] = turns[1][:, b] @ shift
    local = [np.array([[w[b] if parents[b] < 0 else w[parents[b]].T @ w[b] for b in range(len(names))] for w in t])
             for t in turns]
    off = Rotation.from_matrix((local[0].transpose(0, 1, 3, 2) @ local[1]).reshape(-1, 3, 3)).magnitude()
    what = f"{who} from the template of {template}"
    check(f"{what}: joint centres, metres, mean", float(apart.mean()), limits[0])
    check(f"{what}: joint centres, metres, most", float(apart.max()), limits[1])
    check(f"{what}: angles, degrees RMS", float(np.degrees(np.sqrt((off ** 2).mean()))), limits[2])
    check(f"{what}: forms left out, of one form alone", told["ratio"], 0.7)


def main():
    tool, data = sys.argv[1], skips.data_folder(sys.argv[2])
    people = Path(__file__).resolve().parent.parent / "scan"
    with tempfile.TemporaryDirectory() as name:
        if skips.has_data(data, "body_kick"):
            check_kick(tool, data, Path(name))
        if not (people / "subject.py").exists():
            skips.note("there are no people to test with (tests/scan/subject.py)")
        elif skips.has_data(data, "makehuman"):
            sys.path.insert(0, str(people))
            import subject
            check_person(tool, data, Path(name) / "own", subject, "adult", "adult", (0.006, 0.015, 4))
            check_person(tool, data, Path(name) / "other", subject, "adult", "woman", (0.015, 0.035, 5))
    skips.finish(False)


if __name__ == "__main__":
    main()
