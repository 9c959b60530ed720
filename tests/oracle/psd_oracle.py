#!/usr/bin/python3
"""A body with sculpted elbows and shoulders walks, and is compared with an evaluation in numpy.

  psd_oracle.py TOOL DATA   DATA is a folder with makehuman/ and mocap/; one line per group, then "N passed, M failed";
                            exit 77 if they are missing

psd_body.py describes the sculpts. Every sculpt must come back at its pose. Then a motion file drives the body. The
turns of its joints are taken from the baked .glb; all else is computed here in double: readings of joints, weights,
offsets, and the skin with all its influences. The result is compared with the point cache at ten frames. Distances are
parts of the body's height; 1e-5 passes.

The weights follow equation 1 of the second paper in its own terms: a vertex's offset d(p) = sum over the points k of
lambda_k exp(-|p - p_k|^2 / (2 falloff^2)), with lambda solved so that d is the sculpt's at its pose and zero at rest.
Offsets are interpolated themselves, not through weights, and in degrees and chords, not in scaled distances.
"""
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

sys.dont_write_bytecode = True  # leaves nothing in the source tree

import gltf_oracle
import makehuman
import psd_body
import skips
from body_oracle import LIMIT, Tool, compare
from body_reference import linear, linear_inverse
from point_cache import read_pc2
from weigh_oracle import Tally

FRAMES = 10


# ---- pose space ----

def reading(layer, turn):
    """A joint's turn relative to rest as a point of the layer's space: coordinates for distances, and the falloff in
    them. An angle in degrees; for a swing, the direction of the bone's own axis."""
    if "angle" in layer.reading:
        x, _, _, w = turn.as_quat()
        middle = (layer.reading["min"] + layer.reading["max"]) / 2
        degrees = np.degrees(2 * np.arctan2(x, w))
        return np.array([middle + (degrees - middle + 180) % 360 - 180]), layer.falloff
    return turn.apply([0, 1, 0]), 2 * np.sin(np.radians(layer.falloff) / 2)


class Correction:
    """A layer: points of its space, rest first, and their offsets on the form at rest."""

    def __init__(self, source, layer, sculpts):
        base = source.base.form.astype(float)
        turns, offsets = [Rotation.identity()], [np.zeros_like(base)]
        for sculpt, form in sculpts:
            moved = psd_body.matrices(source, psd_body.turn_of(layer, sculpt))
            far = np.linalg.norm(form - linear(moved, source.weights, base), axis=1) > psd_body.TOLERANCE
            turns.append(psd_body.turn_of(layer, sculpt)[layer.joint])
            offsets.append(np.where(far[:, None], linear_inverse(moved, source.weights, form.astype(float)) - base, 0))
        self.layer = layer
        self.points = np.array([reading(layer, turn)[0] for turn in turns])
        kernels = np.array([self.kernels(point) for point in self.points])
        self.lambdas = np.linalg.solve(kernels, np.array(offsets).reshape(len(offsets), -1))

    def kernels(self, point):
        falloff = reading(self.layer, Rotation.identity())[1]
        return np.exp(-np.sum((self.points - point) ** 2, axis=1) / (2 * falloff ** 2))

    def offsets(self, turn):
        return (self.kernels(reading(self.layer, turn)[0]) @ self.lambdas).reshape(-1, 3)


def measure(source, sculpts):
    named = {}
    for layer, sculpt, form in sculpts.values():
        named.setdefault(layer.name, (layer, []))[1].append((sculpt, form))
    return [Correction(source, layer, found) for layer, found in named.values()]


# ---- skeletons ----

def posed(file, time):
    """World matrices of the named nodes of a baked file, and their turns relative to rest."""
    nodes, moved = file.json["nodes"], gltf_oracle.moved_by(file, 0, time)
    parents = {child: n for n, node in enumerate(nodes) for child in node.get("children", [])}

    def world(n):
        matrix = gltf_oracle.matrix_of(nodes[n], moved.get(n, {}))
        return world(parents[n]) @ matrix if n in parents else matrix

    worlds, turns = {}, {}
    for n in file.json["skins"][0]["joints"]:
        rest = Rotation.from_quat(nodes[n].get("rotation", [0, 0, 0, 1]))
        now = Rotation.from_quat(moved.get(n, {}).get("rotation", rest.as_quat()))
        worlds[nodes[n]["name"]], turns[nodes[n]["name"]] = world(n), rest.inv() * now
    return worlds, turns


def evaluate(source, corrections, worlds, turns):
    form = source.base.form.astype(float)
    for correction in corrections:
        form = form + correction.offsets(turns[correction.layer.joint])
    rests = psd_body.binds(source)
    moved = np.array([worlds[name] @ np.linalg.inv(bind) for name, bind in zip(source.names, rests)])
    return linear(moved, source.weights, form)


# ---- checks ----

def check_sculpts(tally, tool, sculpts):
    for name, (layer, sculpt, form) in sculpts.items():
        axis, angle = sculpt.turn
        value = f"{angle}" if "angle" in layer.reading else f"{axis}{angle}"
        compare(tally, "sculpts come back", tool.pose("body.glb", f"{layer.name}={value}"), form.astype(float), name)


def check_poses(tally, tool, source, corrections):
    """Arms turned in any direction, between sculpts and beyond them, with a turn about the upper arm that its layer
    must not see; quaternions of both signs."""
    random = np.random.default_rng(163)
    joints = [correction.layer.joint for correction in corrections]
    rows, poses = [], []
    for _ in range(FRAMES):
        turns = {name: Rotation.identity() for name in source.names}
        for joint in joints:
            turns[joint] = (Rotation.from_euler("x", random.uniform(-60, 130), degrees=True) if "lower" in joint else
                            Rotation.from_rotvec(random.normal(size=3) * 0.6))
        poses.append(turns)
        rows.append(np.concatenate([turns[joint].as_quat() * random.choice([-1, 1]) for joint in joints]))
    header = [f"joint:{joint}.{c}" for joint in joints for c in "xyzw"]
    lines = [",".join(header)] + [",".join(repr(float(value)) for value in row) for row in rows]
    (tool.folder / "poses.csv").write_text("\n".join(lines) + "\n")
    tool.run("pose", "body.glb", "--poses", "poses.csv", "-o", "forms", "--force")
    rests = np.array(psd_body.binds(source))
    for number, turns in enumerate(poses):
        worlds = dict(zip(source.names, psd_body.matrices(source, turns) @ rests))
        compare(tally, "poses of the arms", tool.read_form(f"forms/pose_{number + 1:05d}.obj"),
                evaluate(source, corrections, worlds, turns), f"pose {number}")


def check_motion(tally, tool, source, corrections, motion):
    words = ["--motion", str(motion), "--map", "map.json", "--fps", "30"]
    tool.run("bake", "body.glb", *words, "-o", "walk.pc2")
    tool.run("bake", "body.glb", *words, "-o", "walk.glb")
    cache, file = read_pc2(tool.folder / "walk.pc2"), gltf_oracle.File(str(tool.folder / "walk.glb"))
    height, largest = source.base.height(), {correction.layer.name: 0.0 for correction in corrections}
    for frame in np.linspace(0, len(cache.frames) - 1, FRAMES).round().astype(int):
        worlds, turns = posed(file, cache.start + frame * cache.step)
        form = evaluate(source, corrections, worlds, turns)
        error = np.abs(cache.frames[frame] - form).max() / height
        tally.add("the walk", error, LIMIT, f"frame {frame}: {error:.1e} of the height off")
        for correction in corrections:
            added = np.abs(correction.offsets(turns[correction.layer.joint])).max() / height
            largest[correction.layer.name] = max(largest[correction.layer.name], added)
    # Without any offset there would be nothing to compare.
    for name, added in largest.items():
        tally.add("corrections are seen in it", 10 * LIMIT, added, f"{name} adds at most {added:.1e} of the height")
    lowest = cache.frames[:, :, 1].min(axis=1)
    print(f"{len(cache.frames)} frames; the lowest vertex is from {lowest.min():.3f} to {lowest.max():.3f} m high")


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} TOOL DATA")
    data = skips.data_folder(sys.argv[2])
    skips.need_data(data, "makehuman", psd_body.MOTION)
    tally, source = Tally(), makehuman.Source(data / "makehuman")
    with tempfile.TemporaryDirectory(prefix="exemplar-psd-") as folder:
        tool = Tool(Path(sys.argv[1]).resolve(), Path(folder))
        sculpts = psd_body.convert(source, folder)
        tool.run("build", "body.json")
        check_sculpts(tally, tool, sculpts)
        corrections = measure(source, sculpts)
        check_poses(tally, tool, source, corrections)
        check_motion(tally, tool, source, corrections, data / psd_body.MOTION)
    tally.report()
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    main()
