#!/usr/bin/python3
"""Turns every joint of real rigs about every axis, through turns_probe, and checks that no vertex jumps.

  turns_oracle.py PROBE EXEMPLAR DATA [--full]

Rigs of DATA: gltf/CesiumMan.glb, gltf/RiggedFigure.glb, hand/left.glb. Each is built twice: with dual quaternion
skinning, and with linear skinning and a sculpt of all vertices in the frame `skinned`. Steps are 0.01 degrees: near
-180, 0 and 180 degrees, or with --full all from -180 to 190. No step of a vertex may be longer than 3 times the median
step of that joint and axis. Last, a sculpt at 180 degrees must come back there, and next to it on both sides.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import skips

RIGS = ["gltf/CesiumMan.glb", "gltf/RiggedFigure.glb", "hand/left.glb"]
MOST = 3.0


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(str(c) for c in command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def read_obj(path):
    """The lines, and the positions."""
    lines = path.read_text().splitlines()
    return lines, np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)


def write_obj(path, lines, points):
    rows = iter(points)
    path.write_text("\n".join(
        "v " + " ".join(repr(float(x)) for x in next(rows)) if line.startswith("v ") else line for line in lines) + "\n")


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
    probe, tool, full = Path(arguments[0]), Path(arguments[1]), "--full" in sys.argv
    data = skips.data_folder(arguments[2])
    skips.need_data(data, *RIGS)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for i, name in enumerate(RIGS):
            for dual in (False, True):
                folder = Path(temporary) / f"{i}{dual}"
                path, rig, dial = make_rig(tool, data / name, folder, dual)
                print(f"{name}, {'dual quaternions' if dual else 'linear, frame skinned'}")
                good = check_steps(probe, rig, dial, full)
                good = (dual or check_sculpt(tool, path, folder)) and good
                passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed")
    skips.finish(failed > 0)


if __name__ == "__main__":
    main()
