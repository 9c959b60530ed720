#!/usr/bin/python3
"""Turns every joint of real rigs about every axis, through turns_probe, and checks that no vertex jumps.

  turns_oracle.py PROBE EXEMPLAR DATA [--full]

Rigs of DATA: gltf/CesiumMan.glb, gltf/RiggedFigure.glb, hand/left.glb, each bound as in its file and with bind
matrices that are rotated, scaled by 0.01 and mirrored. Each is built twice: with dual quaternion skinning, and with
linear skinning and a sculpt of all vertices in the frame `skinned`. Steps are 0.01 degrees: near -180, 0 and 180
degrees, or with --full all from -180 to 190. No step of a vertex may be longer than 3 times the median step of that
joint and axis. Last, a sculpt at 180 degrees must come back there, and next to it on both sides.
"""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import bent_tube
import skips
from obj_files import read_obj, write_obj

RIGS = ["gltf/CesiumMan.glb", "gltf/RiggedFigure.glb", "hand/left.glb"]
MOST = 3.0
# The space of the mesh after X, with inverse bind matrices times X^-1: poses stay the same.
BINDS = {
    "as in the file": None,
    "rotated": ((0.36, 0.48, 0, 0.8), (1, 1, 1)),
    "rotated, in centimetres": ((-0.5 ** 0.5, 0, 0, 0.5 ** 0.5), (100, 100, 100)),
    "rotated, mirrored, in centimetres": ((0.5, -0.5, 0.5, 0.5), (-100, 100, 100)),
}


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(str(c) for c in command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def rebind(source, bind, path):
    """Writes a .glb whose mesh and bind matrices are in another space."""
    data = bytearray(source.read_bytes())
    size = struct.unpack_from("<I", data, 12)[0]
    gltf = json.loads(data[20:20 + size])
    bin_at = 20 + size + 8
    x = np.eye(4)
    x[:3, :3] = bent_tube.rotation_matrix(bind[0]) * np.array(bind[1], float)

    def change(number, width, function):
        accessor = gltf["accessors"][number]
        view = gltf["bufferViews"][accessor["bufferView"]]
        assert accessor["componentType"] == 5126 and view.get("byteStride", 4 * width) == 4 * width
        at = bin_at + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        rows = np.frombuffer(data, "<f4", accessor["count"] * width, at).reshape(-1, width)
        made = function(rows.astype(float)).astype("<f4")
        data[at:at + made.nbytes] = made.tobytes()
        for key in {"min", "max"} & accessor.keys():
            accessor[key] = getattr(made, key)(axis=0).tolist()

    primitives = [p["attributes"] for mesh in gltf["meshes"] for p in mesh["primitives"]]
    for number in {a["POSITION"] for a in primitives}:
        change(number, 3, lambda rows: rows @ x[:3, :3].T)
    for number in {a["NORMAL"] for a in primitives if "NORMAL" in a}:
        change(number, 3, lambda rows: rows @ (x[:3, :3] / abs(bind[1][0])).T)
    for number in {skin["inverseBindMatrices"] for skin in gltf["skins"]}:  # column by column in the file
        change(number, 16, lambda rows: (np.linalg.inv(x).T @ rows.reshape(-1, 4, 4)).reshape(-1, 16))
    text = json.dumps(gltf).encode()
    text += b" " * (-len(text) % 4)
    rest = bytes(data[20 + size:])
    path.write_bytes(struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A) + text + rest)
    return path


def make_rig(tool, source, folder, dual):
    """A built rig, and the name of a dial that pushes all vertices in the frame `skinned`."""
    run(tool, "init", source, "-o", folder, "-q")
    path = next(folder.glob("*.json"))
    project = json.loads(path.read_text())
    if dual:
        project["skinning"] = "dual_quaternion"
    else:
        lines, points = read_obj(folder / project["mesh"])
        size = np.ptp(points, axis=0).max()
        write_obj(folder / "pushed.obj", lines, points + size * np.array([0.02, 0.03, -0.05]))
        project.setdefault("layers", []).append({
            "name": "push", "shape": "offsets", "frame": "skinned", "posed": False,
            "space": [{"name": "push", "min": 0, "max": 1}], "weigh": {"kind": "direct"},
            "examples": [{"name": "push", "mesh": "pushed.obj"}]})
    path.write_text(json.dumps(project))
    run(tool, "build", path, "-o", folder / "rig.glb", "-q")
    return path, folder / "rig.glb", "-" if dual else "push"


def check_steps(probe, rig, dial, full):
    worst = (0, "", 0, 0)
    for line in run(probe, rig, dial, 1, int(full)).splitlines():
        *name, axis, ratio, place, length = line.split()
        worst = max(worst, (float(ratio), f"{' '.join(name)} about {axis}", float(place), float(length)))
    ratio, name, place, length = worst
    print(f"  largest step {ratio:.2f} times the median, {1000 * length:.3g} mm: {name}, at {place:.2f} degrees")
    return ratio <= MOST


def check_sculpt(tool, path, folder):
    """A sculpt at 180 degrees of every third joint, in the frame `skinned`: its pose, and 0.02 degrees around it."""
    good = True
    project = json.loads(path.read_text())
    joints = [j["name"] for j in json.loads(run(tool, "info", folder / "rig.glb", "--json"))["skeleton"]["joints"]]
    for joint in joints[1::5]:
        for axis in "xyz":
            trial = folder / "trial.json"
            pose = lambda degrees, rig, out: run(
                tool, "pose", rig, f"joint:{joint}={axis}{degrees}", "-o", folder / out, "--level", "cage", "-q")
            pose(180, folder / "rig.glb", "half.obj")
            lines, points = read_obj(folder / "half.obj")
            push = 0.02 * np.ptp(points, axis=0).max() * np.array([1.0, -0.5, 0.25])
            write_obj(folder / "sculpt.obj", lines, points + push)
            layer = {"name": "half", "shape": "offsets", "frame": "skinned",
                     "space": [{"name": "turn", "joint": joint, "angle": axis, "min": 0, "max": 180}],
                     "weigh": {"kind": "gaussian", "falloff": {"turn": 60}},
                     "examples": [{"name": "half", "mesh": "sculpt.obj", "at": {"turn": 180}}]}
            trial.write_text(json.dumps({**project, "layers": project.get("layers", []) + [layer]}))
            run(tool, "build", trial, "-o", folder / "trial.glb", "-q")
            near = []
            for degrees in (179.98, 180, 180.02):
                pose(degrees, folder / "trial.glb", "posed.obj")
                near.append(read_obj(folder / "posed.obj")[1])
            off = np.linalg.norm(near[1] - (points + push), axis=1).max()
            size = np.ptp(points, axis=0).max()
            jump = max(np.linalg.norm(near[i] - near[1], axis=1).max() for i in (0, 2))
            if off > 2e-6 * size or jump > 2e-3 * size:
                print(f"  {joint} about {axis}: a sculpt at 180 degrees is off by {1000 * off:.3g} mm, and jumps by "
                      f"{1000 * jump:.3g} mm next to it")
                good = False
    print(f"  sculpts at 180 degrees: {'come back, without a jump' if good else 'FAILED'}")
    return good


def main():
    arguments = [a for a in sys.argv[1:] if a != "--full"]
    probe, tool, full = Path(arguments[0]).resolve(), Path(arguments[1]).resolve(), "--full" in sys.argv
    data = skips.data_folder(arguments[2])
    skips.need_data(data, *RIGS)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        cases = [(rig, bind, dual) for rig in RIGS for bind in BINDS for dual in (False, True)]
        for i, (name, bind, dual) in enumerate(cases):
            folder, source = Path(temporary) / str(i), data / name
            if BINDS[bind]:
                source = rebind(source, BINDS[bind], Path(temporary) / f"bound{i}.glb")
            path, rig, dial = make_rig(tool, source, folder, dual)
            print(f"{name}, bound {bind}, {'dual quaternions' if dual else 'linear, frame skinned'}", flush=True)
            good = check_steps(probe, rig, dial, full)
            good = (dual or BINDS[bind] is not None or check_sculpt(tool, path, folder)) and good
            passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed")
    skips.finish(failed > 0)


if __name__ == "__main__":
    main()
