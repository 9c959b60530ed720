#!/usr/bin/python3
"""Parses and poses glTF files independently, and compares with the reader, through gltf_probe.

  gltf_oracle.py PROBE DATA   every file of DATA/gltf and DATA/hand; one line each, then "N passed, M failed"; exit 1 if
                              any failed, 77 if DATA is missing

Every animation at ten times, from before its first key to after its last; files without one as they are. World
positions, in double on both sides, agree within 1e-5 of the figure's height (the largest extent). Then the same for the
file that the probe wrote again, as .glb and as .gltf with .bin.

Then some of them as gltfpack writes them: quantised, and compressed with meshopt, which meshopt_reference.py decodes; or
with the uncompressed copy beside it, which only the parser here reads.
"""
import base64
import functools
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.parse

import numpy as np

import meshopt_reference
import skips

TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
SCALES = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
TOLERANCE = 1e-5


class File:
    def __init__(self, path):
        data = open(path, "rb").read()
        self.folder, chunk = os.path.dirname(path), None
        if data[:4] == b"glTF":
            size = struct.unpack_from("<I", data, 12)[0]
            self.json = json.loads(data[20:20 + size])
            if len(data) > 20 + size:
                chunk = data[28 + size:28 + size + struct.unpack_from("<I", data, 20 + size)[0]]
        else:
            self.json = json.loads(data)
        self.buffers = [self.fetch(b["uri"]) if "uri" in b else chunk if i == 0 else None
                        for i, b in enumerate(self.json.get("buffers", []))]
        self.arrays, self.unpacked = {}, {}

    def fetch(self, uri):
        if uri.startswith("data:"):
            return base64.b64decode(uri.split(",", 1)[1])
        return open(os.path.join(self.folder, urllib.parse.unquote(uri)), "rb").read()

    def rows(self, view, offset, count, component, width):
        """Reads elements one by one: slow, and unlike the reader."""
        v = self.json["bufferViews"][view]
        kind = np.dtype(TYPES[component])
        stride = v.get("byteStride", kind.itemsize * width)
        start = v.get("byteOffset", 0) + offset
        data = self.buffers[v["buffer"]]
        if data is None:
            extension = v["extensions"]["EXT_meshopt_compression"]
            if view not in self.unpacked:
                self.unpacked[view] = meshopt_reference.unpack(self.buffers[extension["buffer"]], extension)
            data, start = self.unpacked[view], offset
        return np.array([np.frombuffer(data, kind, width, start + i * stride) for i in range(count)])

    def array(self, number):
        """Read once; do not write to it."""
        if number not in self.arrays:
            self.arrays[number] = self.read_array(number)
        return self.arrays[number]

    def read_array(self, number):
        a = self.json["accessors"][number]
        component, width = a["componentType"], WIDTHS[a["type"]]
        if "bufferView" in a:
            rows = self.rows(a["bufferView"], a.get("byteOffset", 0), a["count"], component, width)
        else:
            rows = np.zeros((a["count"], width), np.dtype(TYPES[component]))
        if "sparse" in a:
            s = a["sparse"]
            i, v = s["indices"], s["values"]
            at = self.rows(i["bufferView"], i.get("byteOffset", 0), s["count"], i["componentType"], 1)[:, 0]
            rows = rows.copy()
            rows[at] = self.rows(v["bufferView"], v.get("byteOffset", 0), s["count"], component, width)
        rows = rows.astype(float)
        return np.maximum(rows / SCALES[component], -1) if a.get("normalized") else rows


# ---- posing ----

def matrix_of(node, moved):
    if "matrix" in node and not moved:
        return np.array(node["matrix"], float).reshape(4, 4).T
    t = np.array(moved.get("translation", node.get("translation", [0, 0, 0])), float)
    s = np.array(moved.get("scale", node.get("scale", [1, 1, 1])), float)
    x, y, z, w = q = np.array(moved.get("rotation", node.get("rotation", [0, 0, 0, 1])), float)
    x, y, z, w = q / np.linalg.norm(q)
    m = np.eye(4)
    m[:3, :3] = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                          [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                          [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]) * s
    m[:3, 3] = t
    return m


def interpolate(times, values, kind, rotation, t):
    """values [keys, …]: for a cubic spline [keys, 3, …]."""
    at = int(np.searchsorted(times, t, side="right")) - 1
    value = values[:, 1] if kind == "CUBICSPLINE" else values
    if at < 0 or at == len(times) - 1 or kind == "STEP":
        return value[max(at, 0)]
    d = times[at + 1] - times[at]
    u = (t - times[at]) / d
    a, b = value[at], value[at + 1]
    if kind == "LINEAR" and rotation:
        a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
        if a @ b < 0:
            b = -b
        angle = np.arccos(min(1.0, a @ b))
        return a + u * (b - a) if angle < 1e-6 else (np.sin((1 - u) * angle) * a + np.sin(u * angle) * b) / np.sin(angle)
    if kind == "LINEAR":
        return a + u * (b - a)
    hermite = np.array([[2, -2, 1, 1], [-3, 3, -2, -1], [0, 0, 1, 0], [1, 0, 0, 0]])
    weights = np.array([u ** 3, u ** 2, u, 1]) @ hermite
    return weights[0] * a + weights[1] * b + d * weights[2] * values[at, 2] + d * weights[3] * values[at + 1, 0]


def moved_by(file, animation, t):
    out = {}
    if animation < 0:
        return out
    data = file.json["animations"][animation]
    for channel in data["channels"]:
        sampler, target = data["samplers"][channel["sampler"]], channel["target"]
        kind = sampler.get("interpolation", "LINEAR")
        times, values = file.array(sampler["input"])[:, 0], file.array(sampler["output"])
        shape = (len(times), 3, -1) if kind == "CUBICSPLINE" else (len(times), -1)
        out.setdefault(target["node"], {})[target["path"]] = interpolate(
            times, values.reshape(shape), kind, target["path"] == "rotation", t)
    return out


def pose(file, moved):
    """{node: positions [n, 3]} for all nodes with a mesh; moved: {node: {path: value}}, from moved_by."""
    nodes = file.json["nodes"]
    parents = {c: n for n, node in enumerate(nodes) for c in node.get("children", [])}

    @functools.cache
    def world(n):
        m = matrix_of(nodes[n], {k: v for k, v in moved.get(n, {}).items() if k != "weights"})
        return world(parents[n]) @ m if n in parents else m

    out = {}
    for n, node in enumerate(nodes):
        if "mesh" not in node:
            continue
        mesh, parts = file.json["meshes"][node["mesh"]], []
        for p in mesh["primitives"]:
            attributes = p["attributes"]
            x = file.array(attributes["POSITION"])
            weights = moved.get(n, {}).get("weights", node.get("weights", mesh.get("weights", [])))
            for weight, target in zip(weights, p.get("targets", [])):
                if "POSITION" in target:
                    x = x + weight * file.array(target["POSITION"])
            x = np.hstack([x, np.ones((len(x), 1))])
            if "skin" not in node:
                parts.append((x @ world(n).T)[:, :3])
                continue
            skin = file.json["skins"][node["skin"]]
            binds = np.tile(np.eye(4), (len(skin["joints"]), 1, 1))
            if "inverseBindMatrices" in skin:
                binds = file.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
            joints = np.array([world(j) @ b for j, b in zip(skin["joints"], binds)])
            sets = [k for k in range(9) if f"JOINTS_{k}" in attributes]
            j = np.hstack([file.array(attributes[f"JOINTS_{k}"]).astype(int) for k in sets])
            w = np.hstack([file.array(attributes[f"WEIGHTS_{k}"]) for k in sets])
            loose = w.sum(axis=1) == 0  # vertices that no joint holds follow the first
            j[loose, 0], w[loose, 0] = 0, 1
            w = w / w.sum(axis=1, keepdims=True)
            parts.append(np.einsum("vi,virc,vc->vr", w, joints[j], x)[:, :3])
        out[n] = np.vstack(parts)
    return out


# ---- comparing ----

def ask(probe, path, animation, times):
    run = subprocess.run([probe, "pose", path, str(animation)] + [repr(float(t)) for t in times], capture_output=True,
                         text=True)
    if run.returncode != 0:
        sys.exit(f"{probe} ended with status {run.returncode}: {run.stderr.strip()}")
    lines, poses, at = run.stdout.splitlines(), [], 0
    while at < len(lines):
        _, node, count = lines[at].split()
        if not poses or int(node) in poses[-1]:
            poses.append({})
        rows = np.array([line.split() for line in lines[at + 1:at + 1 + int(count)]], float)
        poses[-1][int(node)] = rows
        at += 1 + int(count)
    return poses


def compare(probe, file, path, group):
    """The largest difference as a part of the figure's height, over all animations and times."""
    worst, checks = 0.0, 0
    for animation in list(range(len(file.json.get("animations", [])))) or [-1]:
        times = [0.0]
        if animation >= 0:
            samplers = file.json["animations"][animation]["samplers"]
            ends = [file.array(s["input"]) for s in samplers]
            low, high = min(e.min() for e in ends), max(e.max() for e in ends)
            times = np.linspace(low - 0.1, high + 0.1, 10)
        answers = ask(probe, path, animation, times)
        assert len(answers) == len(times), f"{path}: {len(answers)} poses"
        for t, answer in zip(times, answers):
            expected = pose(file, moved_by(file, animation, t))
            assert expected.keys() == answer.keys(), f"{path}: nodes {answer.keys()}"
            everything = np.vstack(list(expected.values()))
            height = np.max(everything.max(axis=0) - everything.min(axis=0))
            worst = max([worst] + [np.abs(answer[n] - expected[n]).max() / height for n in expected])
            checks += 1
    print(f"{group:52s} {checks:3d} poses, worst {worst:.1e} of the height: {'ok' if worst <= TOLERANCE else 'FAILED'}")
    return worst <= TOLERANCE


# Files, and the options of gltfpack. Filters come with -cc: unit vectors, rotations, and floats in animations.
PACKED = [("CesiumMan", "-cc"), ("RiggedFigure", "-cc -vpn -vp 16 -vn 16"), ("RiggedFigure", "-cf"), ("RiggedSimple", ""),
          ("AnimatedMorphCube", "-c -vpn"), ("MorphPrimitivesTest", "-cc"), ("MorphStressTest", "-c"),
          ("InterpolationTest", "-cc -noq")]


def extent(file):
    everything = np.vstack(list(pose(file, {}).values()))
    return np.array([everything.min(axis=0), everything.max(axis=0)])


def compare_packed(probe, data, work):
    """gltfpack reorders vertices, so that only the extent can be compared with the file it was made from."""
    if not shutil.which("gltfpack"):
        skips.note("gltfpack is not installed")
        return []
    results = []
    for name, options in PACKED:
        path, packed = os.path.join(data, "gltf", name + ".glb"), os.path.join(work, "packed.glb")
        subprocess.run(["gltfpack", "-i", path, "-o", packed] + options.split(), check=True, capture_output=True)
        file = File(packed)
        results.append(compare(probe, file, packed, f"{name}, gltfpack {options}"))
        before, after = extent(File(path)), extent(file)
        results.append(bool(np.abs(before - after).max() < 2e-3 * (before[1] - before[0]).max()))
        if not results[-1]:
            print(f"{name}, gltfpack {options}: FAILED, from {before.tolist()} to {after.tolist()}")
    return results


def main():
    probe, data = sys.argv[1:]
    data = skips.data_folder(data)
    skips.need_data(data, "gltf")
    paths = sorted(p for folder in ("gltf", "gltf/*", "hand") for ending in ("glb", "gltf")
                   for p in glob.glob(os.path.join(data, folder, "*." + ending)))
    results = []
    with tempfile.TemporaryDirectory() as work:
        for path in paths:
            file, name = File(path), os.path.relpath(path, data)
            results.append(compare(probe, file, path, name))
            for ending in ("glb", "gltf"):
                copy = os.path.join(work, "copy file." + ending)
                subprocess.run([probe, "copy", path, copy], check=True)
                results.append(compare(probe, file, copy, f"{name}, written as .{ending}"))
                # And the other way: our file, read by the parser here.
                results.append(compare(probe, File(copy), path, f"{name}, .{ending} read by the oracle"))
        results += compare_packed(probe, data, work)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    skips.finish(not results or not all(results))


if __name__ == "__main__":
    main()
