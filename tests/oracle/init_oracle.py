#!/usr/bin/python3
"""Makes a project from every glTF file, builds and poses it, and compares with the file evaluated by gltf_oracle.

  init_oracle.py TOOL DATA   the characters of characters.py, and every file of DATA/gltf and DATA/hand; one line each,
                             then "N passed, M failed"; exit 1 if any failed

Each file is posed as it is, with every morph target alone, with all at random weights, with joints of all skins turned
at random, one alone and 20 times all together, and at ten times of every animation. All meshes count: those of every
skin, and those without one. Positions agree within 1e-6 of the figure's height (the largest extent). A vertex joined at
a seam is compared with every vertex of the file that it replaces. The rig has as many materials, images and clips as
the file; its images have the same bytes.
"""
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

import characters
import gltf_oracle as oracle
import skips

TOLERANCE = 1e-6


def run(tool, *words):
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}"
    return done


def positions(path):
    return np.array([line.split()[1:4] for line in open(path, encoding="utf-8") if line.startswith("v ")], float)


def corners(path):
    lines = [line.split()[1:] for line in open(path, encoding="utf-8") if line.startswith("f ")]
    return np.array([[int(word.split("/")[0]) - 1 for word in line] for line in lines], int).reshape(-1, 3)


def vertices_in_file(kept, joined):
    """For each vertex of the file, the vertex of the project at the same corner of the same face; -1 without a face.
    Faces that lost their area by joining are not in the project."""
    x, y = positions(kept), positions(joined)
    a, b = corners(kept), corners(joined)
    out, at = np.full(len(x), -1), 0
    for face in a:
        if at < len(b) and np.array_equal(x[face], y[b[at]]):
            out[face] = b[at]
            at += 1
        else:
            assert len({tuple(p) for p in x[face]}) < 3, f"face {face} is lost"
    assert at == len(b)
    alone = [v for v in range(len(x)) if out[v] < 0]
    return (out, alone) if len(a) else (np.arange(len(x)), [])


# ---- rotations, x y z w ----

def multiply(a, b):
    x, y = np.array(a), np.array(b)
    vector = x[3] * y[:3] + y[3] * x[:3] + np.cross(x[:3], y[:3])
    return np.append(vector, x[3] * y[3] - x[:3] @ y[:3])


def transform_of(node):
    """Translation, rotation and scale of a node. Nodes with a matrix have no shear here."""
    if "matrix" not in node:
        return {"translation": node.get("translation", [0, 0, 0]), "rotation": node.get("rotation", [0, 0, 0, 1]),
                "scale": node.get("scale", [1, 1, 1])}
    m = np.array(node["matrix"], float).reshape(4, 4).T
    scale = np.linalg.norm(m[:3, :3], axis=0)
    r = m[:3, :3] / scale
    values, vectors = np.linalg.eigh(np.array(
        [[r[0, 0] - r[1, 1] - r[2, 2], r[1, 0] + r[0, 1], r[2, 0] + r[0, 2], r[2, 1] - r[1, 2]],
         [r[1, 0] + r[0, 1], r[1, 1] - r[0, 0] - r[2, 2], r[2, 1] + r[1, 2], r[0, 2] - r[2, 0]],
         [r[2, 0] + r[0, 2], r[2, 1] + r[1, 2], r[2, 2] - r[0, 0] - r[1, 1], r[1, 0] - r[0, 1]],
         [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], np.trace(r)]]) / 3)
    return {"translation": m[:3, 3], "rotation": vectors[:, np.argmax(values)], "scale": scale}


# ---- poses: for the tool, and for the file ----

def targets_of(file, node):
    mesh = file.json["meshes"][file.json["nodes"][node]["mesh"]]
    count = len(mesh["primitives"][0].get("targets", []))
    return mesh.get("extras", {}).get("targetNames", [f"target{i}" for i in range(count)])[:count]


def axes_of(file):
    """{axis: [(node, target)]}: targets of one name are one axis, unless the file weighs them differently."""
    axes, known = {}, {}
    for n in taken(file):
        node = file.json["nodes"][n]
        weights = node.get("weights", file.json["meshes"][node["mesh"]].get("weights", []))
        for t, name in enumerate(targets_of(file, n)):
            moves = []
            for animation in file.json.get("animations", []):
                found = [c for c in animation["channels"] if c["target"].get("node") == n
                         and c["target"]["path"] == "weights"]
                for c in found:
                    values = file.array(animation["samplers"][c["sampler"]]["output"]).reshape(-1, len(targets_of(file, n)))
                    moves.append(tuple(values[:, t]))
                moves += [()] * (not found)
            key = (name, weights[t] if weights else 0, tuple(moves))
            if key not in known:
                taken_already = sum(other == name or other.startswith(name + " ") for other in axes)
                known[key] = f"{name} {taken_already + 1}" if taken_already else name
            axes.setdefault(known[key], []).append((n, t))
    return axes


def morphed(file, axes, weights):
    moved = {}
    for axis, weight in zip(axes, weights):
        for n, t in axes[axis]:
            start = [0.0] * len(targets_of(file, n))
            moved.setdefault(n, {"weights": start})["weights"][t] = float(weight)
    return [f"{axis}={float(w)!r}" for axis, w in zip(axes, weights)], moved


def turned(file, joints, numbers, chance):
    words, moved = [], {}
    for i in numbers:
        q = np.append(chance.normal(size=3) * 0.4, 1)
        q /= np.linalg.norm(q)
        node = file.json["nodes"][joints[i]]
        words.append(f"joint:{node.get('name', f'joint {i}')}=q:" + ",".join(repr(float(x)) for x in q))
        rest = transform_of(node)
        moved[joints[i]] = {**rest, "rotation": multiply(rest["rotation"], q)}
    return words, moved


def taken(file):
    """The nodes whose meshes go into the project: all."""
    return [n for n, node in enumerate(file.json["nodes"]) if "mesh" in node]


def poses_of(file):
    chance = np.random.default_rng(7)
    out, axes = [([], {})], axes_of(file)
    for i in range(len(axes)):
        out.append(morphed(file, axes, np.eye(len(axes))[i]))
    if axes:
        out.append(morphed(file, axes, np.round(chance.uniform(-0.5, 1.5, len(axes)), 3)))
    joints = list(dict.fromkeys(j for skin in file.json.get("skins", []) for j in skin["joints"]))
    if joints:
        out.append(turned(file, joints, [len(joints) // 2], chance))
        for _ in range(20):
            out.append(turned(file, joints, range(len(joints)), chance))
    return out


def cache(path):
    """Positions [frame, vertex, 3] of a PC2 file."""
    data = open(path, "rb").read()
    vertices, _, _, frames = struct.unpack("<iffi", data[16:32])
    return np.frombuffer(data, "<f4", 3 * vertices * frames, 32).reshape(frames, vertices, 3).astype(float)


def clips_of(file, tool, rig, work):
    """Pairs of positions: of the rig, baked, and of the file, at ten times of every animation."""
    for number, animation in enumerate(file.json.get("animations", [])):
        times = [file.array(animation["samplers"][c["sampler"]]["input"]) for c in animation["channels"]]
        first, last = min(t.min() for t in times), max(t.max() for t in times)
        fps = 9 / (last - first) if last > first else 1.0
        out = os.path.join(work, "clip.pc2")
        run(tool, "bake", rig, "--clip", str(number + 1), "--fps", repr(float(fps)), "-o", out, "-q")
        for i, got in enumerate(cache(out)):
            yield got, oracle.pose(file, oracle.moved_by(file, number, first + i / fps))


# ---- comparing ----

def shared_vertices(file):
    """{node: rows of its positions that count}: primitives with the same attributes share their vertices."""
    out = {}
    for n, node in enumerate(file.json["nodes"]):
        if "mesh" not in node:
            continue
        seen, keep = [], []
        for p in file.json["meshes"][node["mesh"]]["primitives"]:
            key = json.dumps([p["attributes"], p.get("targets", [])], sort_keys=True)
            count = file.json["accessors"][p["attributes"]["POSITION"]]["count"]
            keep += [key not in seen] * count
            seen.append(key)
        out[n] = np.array(keep)
    return out


def images_of(file):
    """The bytes of the file's images."""
    out = []
    for image in file.json.get("images", []):
        if "uri" in image:
            out.append(file.fetch(image["uri"]))
        else:
            view = file.json["bufferViews"][image["bufferView"]]
            start = view.get("byteOffset", 0)
            out.append(bytes(file.buffers[view["buffer"]][start:start + view["byteLength"]]))
    return out


def compare_counts(tool, file, rig, folder):
    found = json.loads(run(tool, "info", rig, "--json").stdout)
    wanted = {"materials": len(file.json.get("materials", [])), "images": len(file.json.get("images", [])),
              "clips": len(file.json.get("animations", []))}
    got = {key: len(found[key]) for key in wanted}
    assert got == wanted, f"the rig has {got}, not {wanted}"
    stored = sorted(open(p, "rb").read() for p in glob.glob(os.path.join(folder, "image_*")))
    assert stored == sorted(images_of(file)), "an image has other bytes"
    joints = {j for skin in file.json.get("skins", []) for j in skin["joints"]}
    return f"{got['materials']} materials, {got['images']} images, {got['clips']} clips, " \
           f"{len(found.get('skeleton', {}).get('joints', []))} joints of {len(joints)}"


def compare(tool, path, work, name):
    file = oracle.File(path)
    rig, form = os.path.join(work, "it.glb"), os.path.join(work, "it.obj")
    run(tool, "init", path, "-o", work, "-q")
    project = os.path.join(work, os.path.splitext(os.path.basename(path))[0] + ".json")
    run(tool, "build", project, "-o", rig, "-q")
    run(tool, "check", project, "-q")
    run(tool, "init", path, "-o", os.path.join(work, "kept"), "-q", "--keep-seams")
    numbers, alone = vertices_in_file(os.path.join(work, "kept/mesh.obj"), os.path.join(work, "mesh.obj"))
    kept, poses = shared_vertices(file), poses_of(file)
    counts = compare_counts(tool, file, rig, work)

    def distance(got, expected):
        everything = np.vstack([expected[n][kept[n]] for n in taken(file)])
        height = np.max(everything.max(axis=0) - everything.min(axis=0))
        assert len(numbers) == len(everything), f"{path}: {len(numbers)} vertices, not {len(everything)}"
        return np.abs(np.delete(got[numbers] - everything, alone, axis=0)).max() / height

    worst = 0.0
    for words, moved in poses:
        run(tool, "pose", rig, *words, "-o", form)
        worst = np.maximum(worst, distance(positions(form), oracle.pose(file, moved)))
    frames = [distance(got, expected) for got, expected in clips_of(file, tool, rig, work)]
    good = np.max(frames + [worst]) <= TOLERANCE  # not if one is no number
    print(f"{name:36s} {len(numbers):5d} vertices become {len(positions(form)):5d}; {counts}; {len(poses):3d} poses, "
          f"worst {worst:.1e}; {len(frames):3d} frames, worst {np.max(frames + [0.0]):.1e}: {'ok' if good else 'FAILED'}")
    return good


def files(data, folder):
    """Paths, and their names for people."""
    for make in characters.ALL:
        yield make(folder), make.__name__
    if not os.path.isdir(os.path.join(data, "gltf")):
        print(f"skipped: the files of {data}, which is missing")
    for where in ("gltf", "gltf/*", "hand"):
        for ending in ("glb", "gltf"):
            for path in sorted(glob.glob(os.path.join(data, where, "*." + ending))):
                yield path, os.path.relpath(path, data)


def main():
    tool, data = sys.argv[1:]
    data = skips.data_folder(data)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for path, name in files(data, folder):
            with tempfile.TemporaryDirectory() as work:
                results.append(compare(tool, path, work, name))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
