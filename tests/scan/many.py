#!/usr/bin/python3
"""Makes a scan session with any number of scans from one that was fitted: other poses, and labels without scans.

usage: many.py SESSION COUNT FOLDER [SEED]

Each new scan has the pose of one of the session's, turned further by some degrees, and the markers that this scan
shows, half a millimetre off. The reference stays as it is. There are no files of scans: this is for measuring 'scan
fit', and for tests of it."""
import csv
import json
import math
import pathlib
import random
import shutil
import sys


def multiply(a, b):
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz]


def about(axis, angle):
    length = math.sqrt(sum(x * x for x in axis)) or 1
    return [math.sin(angle / 2) * x / length for x in axis] + [math.cos(angle / 2)]


def rotate(q, v):
    x, y, z, _ = multiply(multiply(q, list(v) + [0]), [-q[0], -q[1], -q[2], q[3]])
    return [x, y, z]


def mirrored(joint, key, joints):
    """A translation or an axis, which may be the mirror image of another joint's."""
    if key in joint:
        return joint[key]
    x, y, z = joints[joint["mirror"]][key]
    return [-x, y, z] if key == "translation" else [x, -y, -z]


def frames(joints, base, pose):
    """Rotation and place of every joint."""
    made = {}
    for name, joint in joints.items():
        turn = pose.get(name, [0, 0, 0, 1])
        if joint["joint"] == "hinge":
            angle = turn if isinstance(turn, (int, float)) else 0
            turn = about(mirrored(joint, "axis", joints), math.radians(angle))
        if "parent" not in joint:
            made[name] = (turn, list(base))
            continue
        q, place = made[joint["parent"]]
        made[name] = (multiply(q, turn), [a + b for a, b in zip(place, rotate(q, mirrored(joint, "translation", joints)))])
    return made


def further(pose, joints, rng):
    """The pose, with each of its joints turned by some more degrees."""
    made = {}
    for name, turn in pose.items():
        if isinstance(turn, (int, float)):
            low, high = joints[name].get("range", [-30, 30])
            made[name] = min(max(turn + rng.gauss(0, 6), low), high)
        else:
            made[name] = multiply(about([rng.gauss(0, 1) for _ in range(3)], math.radians(rng.gauss(0, 6))), turn)
    return made


def make(session, count, folder, seed=1):
    rng = random.Random(seed)
    session, folder = pathlib.Path(session), pathlib.Path(folder)
    description = json.loads((session / "scan.json").read_text())
    fit = json.loads((session / "fit.json").read_text())
    joints = {joint["name"]: joint for joint in fit["skeleton"]["joints"]}
    markers = {marker["name"]: marker for marker in fit["skeleton"]["markers"]}
    entries = {scan["name"]: scan for scan in description["scans"]}
    known = [scan for scan in fit["scans"] if scan["name"] in entries]
    (folder / "labels").mkdir(parents=True)
    for name in (description["skeleton"], description["markers"]):
        shutil.copy(session / name, folder / name)
    reference = description["reference"]
    shutil.copy(session / "labels" / (reference + ".csv"), folder / "labels")
    description["scans"] = [entries[reference]]
    description.pop("average", None)
    for number in range(count - 1):
        scan = known[number % len(known)]
        name = f"scan_{number + 1:05d}"
        description["scans"].append(dict(entries[scan["name"]], name=name))
        placed = frames(joints, scan["base"], further(scan["pose"], joints, rng))
        with open(session / "labels" / (scan["name"] + ".csv")) as file:
            shown = [row["marker"] for row in csv.DictReader(file)
                     if float(row["confidence"] or 1) >= 0.9 and "at" in markers.get(row["marker"], {})]
        with open(folder / "labels" / (name + ".csv"), "w") as file:
            file.write("marker,x,y,z\n")
            for marker in shown:
                q, place = placed[markers[marker]["joint"]]
                at = [a + b + rng.gauss(0, 5e-4) for a, b in zip(place, rotate(q, markers[marker]["at"]))]
                file.write(f"{marker},{at[0]:.6f},{at[1]:.6f},{at[2]:.6f}\n")
    (folder / "scan.json").write_text(json.dumps(description))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    make(sys.argv[1], int(sys.argv[2]), sys.argv[3], *[int(word) for word in sys.argv[4:]])
