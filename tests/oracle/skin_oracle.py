#!/usr/bin/python3
"""Plays glTF animations with skeletons and skins, through skin_probe, and compares with numpy and scipy.

  skin_oracle.py PROBE DATA   DATA is a folder with gltf/*.glb; one line per file and method, then "N passed, M failed"

The files are parsed here independently: nodes are 4 x 4 matrices in double, animations are sampled by scipy's Slerp,
and vertices move by the glTF specification (linear) or by unit dual quaternions (Kavan et al. 2008). Positions agree
within 1e-5 of the form's height, matrices within 1e-5, normals within 1e-4; un-posing gives back the form.
"""
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

import skips

TIMES = 10
FILES = ["CesiumMan.glb", "RiggedFigure.glb", "RiggedSimple.glb"]
TYPES = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read_glb(path):
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20:20 + size]), data[20 + size + 8:]


def accessor(gltf, binary, index):
    a = gltf["accessors"][index]
    view = gltf["bufferViews"][a["bufferView"]]
    kind, width = np.dtype(TYPES[a["componentType"]]), WIDTHS[a["type"]]
    step = view.get("byteStride", kind.itemsize * width)
    start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
    rows = [np.frombuffer(binary, kind, width, start + i * step) for i in range(a["count"])]
    values = np.array(rows, float)
    return values / np.iinfo(kind).max if a.get("normalized") else values


def node_parts(node):
    """Translation, rotation x y z w, scale."""
    if "matrix" not in node:
        rest = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}
        return tuple(np.array(node.get(name, value), float) for name, value in rest.items())
    m = np.array(node["matrix"], float).reshape(4, 4).T
    scale = np.linalg.norm(m[:3, :3], axis=0)
    return m[:3, 3], Rotation.from_matrix(m[:3, :3] / scale).as_quat(), scale


def matrix(parts):
    m = np.eye(4)
    m[:3, :3] = Rotation.from_quat(parts[1]).as_matrix() * parts[2]
    m[:3, 3] = parts[0]
    return m


def sample(gltf, binary, parts, time):
    parts = [list(p) for p in parts]
    for animation in gltf.get("animations", []):
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            assert sampler.get("interpolation", "LINEAR") == "LINEAR"
            keys = accessor(gltf, binary, sampler["input"])[:, 0]
            values = accessor(gltf, binary, sampler["output"])
            place = ["translation", "rotation", "scale"].index(channel["target"]["path"])
            t = min(max(time, keys[0]), keys[-1])
            if place == 1 and len(keys) > 1:
                value = Slerp(keys, Rotation.from_quat(values))(t).as_quat()
            elif place == 1:
                value = values[0]
            else:
                value = [np.interp(t, keys, values[:, c]) for c in range(3)]
            parts[channel["target"]["node"]][place] = np.array(value)
    return parts


def dual_blend(matrices, joints, weights, points):
    """Rigid matrices [J, 4, 4]; joints and weights [V, 4]."""
    q = Rotation.from_matrix(matrices[:, :3, :3]).as_quat()
    t = matrices[:, :3, 3]
    d = np.empty_like(q)  # t q / 2
    d[:, :3] = (t * q[:, 3:] + np.cross(t, q[:, :3])) / 2
    d[:, 3] = -np.sum(t * q[:, :3], axis=1) / 2
    heaviest = np.argmax(weights, axis=1)
    pivot = q[joints[np.arange(len(joints)), heaviest]]
    sides = np.where(np.einsum("vik,vk->vi", q[joints], pivot) < 0, -1.0, 1.0) * weights
    real, dual = np.einsum("vi,vik->vk", sides, q[joints]), np.einsum("vi,vik->vk", sides, d[joints])
    length = np.linalg.norm(real, axis=1, keepdims=True)
    real, dual = real / length, dual / length
    moved = 2 * (real[:, 3:] * dual[:, :3] - dual[:, 3:] * real[:, :3] + np.cross(real[:, :3], dual[:, :3]))
    return Rotation.from_quat(real).apply(points) + moved


def words(values):
    return " ".join(repr(float(v)) for v in np.ravel(values))


def check_file(probe, path):
    gltf, binary = read_glb(path)
    nodes = gltf["nodes"]
    parents = [-1] * len(nodes)
    for i, node in enumerate(nodes):
        for child in node.get("children", []):
            parents[child] = i
    holder = next(i for i, n in enumerate(nodes) if "skin" in n)
    skin, mesh = gltf["skins"][nodes[holder]["skin"]], gltf["meshes"][nodes[holder]["mesh"]]
    binds = accessor(gltf, binary, skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    parts = [node_parts(n) for n in nodes]
    columns = {"POSITION": [], "NORMAL": [], "JOINTS_0": [], "WEIGHTS_0": []}
    for primitive in mesh["primitives"]:
        for name, column in columns.items():
            column.append(accessor(gltf, binary, primitive["attributes"][name]))
    points, normals, joints, weights = (np.concatenate(c) for c in columns.values())
    joints = joints.astype(int)
    weights = weights / weights.sum(axis=1, keepdims=True)
    height = np.ptp(points, axis=0).max()

    # For the probe, every node is a joint. Nodes that are not joints in the file get a bind that moves no vertex.
    inverse = np.tile(np.eye(4), (len(nodes), 1, 1))
    inverse[skin["joints"]] = binds
    lines = [f"joints {len(nodes)}"]
    for i in range(len(nodes)):
        lines.append(f"{parents[i]} " + " ".join(words(p) for p in parts[i]) + " " + words(inverse[i, :3]))
    lines.append(f"vertices {len(points)}")
    for v in range(len(points)):
        pairs = " ".join(f"{skin['joints'][j]} {float(w)!r}" for j, w in zip(joints[v], weights[v]))
        lines.append(f"{words(points[v])} {words(normals[v])} {joints.shape[1]} {pairs}")
    ends = [accessor(gltf, binary, s["input"]).max() for a in gltf.get("animations", []) for s in a["samplers"]]
    times = np.linspace(0, max(ends, default=0), TIMES)
    poses = [sample(gltf, binary, parts, t) for t in times]
    methods = ["linear", "dual_quaternion"]
    for pose in poses:
        for method in methods:
            lines.append(f"pose {method}")
            lines += [" ".join(words(p) for p in node) for node in pose]
    run = subprocess.run([probe], input="\n".join(lines) + "\n", capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{probe} ended with status {run.returncode}: {run.stderr.strip()}")
    answers = iter(run.stdout.splitlines())

    worst = {m: np.zeros(4) for m in methods}
    damped = {m: 0 for m in methods}
    for pose in poses:
        local, world = [matrix(p) for p in pose], [None] * len(nodes)

        def place(i):
            if world[i] is None:
                world[i] = local[i] if parents[i] < 0 else place(parents[i]) @ local[i]
            return world[i]

        moving = np.array([place(j) @ b for j, b in zip(skin["joints"], binds)])
        rigid = np.abs(moving[:, :3, :3] @ moving[:, :3, :3].transpose(0, 2, 1) - np.eye(3)).max() < 1e-4
        for method in methods:
            matrices = np.array(next(answers).split(), float).reshape(-1, 3, 4)
            moved, turned, back = (np.array(next(answers).split(), float).reshape(-1, 3) for _ in range(3))
            damped[method] += int(next(answers))
            blend = np.einsum("vi,vijk->vjk", weights, moving[joints])
            if method == "linear":
                expected = np.einsum("vjk,vk->vj", blend[:, :3, :3], points) + blend[:, :3, 3]
                n = np.linalg.solve(blend[:, :3, :3].transpose(0, 2, 1), normals[:, :, None])[:, :, 0]
                n /= np.linalg.norm(n, axis=1, keepdims=True)
                n_error = np.abs(turned - n).max()
            elif rigid:
                expected, n_error = dual_blend(moving, joints, weights, points), 0.0
            else:
                expected, n_error = moved, 0.0
            errors = [np.abs(matrices[skin["joints"]] - moving[:, :3]).max(), np.abs(moved - expected).max() / height,
                      n_error, np.abs(back - points).max() / height]
            worst[method] = np.maximum(worst[method], errors)
    passed = failed = 0
    for method in methods:
        good = bool(np.all(worst[method] <= [1e-5, 1e-5, 1e-4, 1e-5])) and damped[method] == 0
        passed, failed = passed + good, failed + (not good)
        w = worst[method]
        print(f"{path.name:18s} {method:16s} {len(points):5d} vertices, {len(times)} times: matrices {w[0]:.1e}, "
              f"positions {w[1]:.1e} of the height, normals {w[2]:.1e}, un-posed {w[3]:.1e}, "
              f"damped {damped[method]}: {'ok' if good else 'FAILED'}")
    return passed, failed


def main():
    probe, data = sys.argv[1], skips.data_folder(sys.argv[2])
    skips.need_data(data, *(f"gltf/{name}" for name in FILES))
    totals = np.sum([check_file(probe, data / "gltf" / name) for name in FILES], axis=0)
    print(f"{totals[0]} passed, {totals[1]} failed")
    sys.exit(1 if totals[1] else 0)


if __name__ == "__main__":
    main()
