#!/usr/bin/python3
"""Sculpts on meshes bound in other spaces and projects in other units: what was pushed comes back, and messages tell
posed lengths.

  units_oracle.py EXEMPLAR   one line per case, then "N passed, M failed"

An arm of two joints (bent_tube.py) is bound in metres; in centimetres below a node that is rotated and scaled by 0.01,
as Mixamo writes it; and below mirrored ones. Each goes from init over build and pose at a bend of the elbow to a sculpt
that is pushed by 8.4 mm with a smooth falloff, then through example add and build back to pose. The forms are compared
vertex by vertex. Posed forms are also compared with skinning by numpy.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import bent_tube
from obj_files import read_obj, write_obj

HALF = 0.5 ** 0.5
PUSHED, BEND = 0.0084, 70
LIMIT = 1e-7  # metres: 1e-4 mm
FORM_LIMIT = 3e-7  # forms at rest are not corrected for rounding
BINDS = {
    "metres": ((0, 0, 0, 1), (1, 1, 1)),
    "centimetres, rotated": ((-HALF, 0, 0, HALF), (0.01, 0.01, 0.01)),
    "mirrored in x": ((-HALF, 0, 0, HALF), (-0.01, 0.01, 0.01)),
    "reflected": ((0.5, -0.5, 0.5, 0.5), (-0.01, -0.01, -0.01)),
    "millimetres, skew": ((0.36, 0.48, 0, 0.8), (0.001, 0.001, 0.001)),
}


class Failed(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failed(text)


def run(*command, code=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    expect(done.returncode == code, f"{' '.join(str(c) for c in command[1:])}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def turn_elbow(points, angles):
    """Turns points about the line along x through the elbow."""
    elbow = bent_tube.LENGTH / 2
    y, z = points[:, 1], points[:, 2] - elbow
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([points[:, 0], c * y - s * z, s * y + c * z + elbow], axis=1)


def bend(rotation, scale, skinning):
    """The posed tube by numpy, in metres: the forearm turns about its own x. Linear: shares of both joints' motions.
    Dual quaternions: both turn about one line, so a blend turns about it by the angle of the blended quaternion."""
    tube, _, share = bent_tube.tube()
    angle = np.radians(BEND)
    if skinning == "linear":
        bent = (1 - share[:, None]) * tube + share[:, None] * turn_elbow(tube, np.full(len(tube), angle))
    else:
        bent = turn_elbow(tube, 2 * np.arctan2(share * np.sin(angle / 2), 1 - share + share * np.cos(angle / 2)))
    return bent @ (bent_tube.rotation_matrix(rotation) * np.sign(scale)).T


def push(points):
    """A point at the elbow is pushed by 8.4 mm, others by a smooth falloff of 5 cm."""
    centre = points[20 * bent_tube.AROUND + 5]
    t = np.clip(1 - np.linalg.norm(points - centre, axis=1) / 0.05, 0, 1)
    amount = PUSHED * t * t * (3 - 2 * t)
    direction = np.array([0.6, 0.3, -0.74])
    return amount[:, None] * direction / np.linalg.norm(direction)


def make_project(tool, folder, rotation, scale, changes):
    folder.mkdir()
    bent_tube.write_glb(folder / "arm.glb", rotation, scale)
    run(tool, "init", folder / "arm.glb", "-o", folder / "arm", "-q")
    path = folder / "arm/arm.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return path


def pose(tool, path, out):
    run(tool, "build", path, "-o", path.parent / "rig.glb", "-q")
    run(tool, "pose", path.parent / "rig.glb", f"joint:fore=x{BEND}", "-o", out, "-q")
    return read_obj(out)


def check_bind(tool, folder, rotation, scale, skinning, frame):
    path = make_project(tool, folder, rotation, scale, {"skinning": skinning})
    lines, points = pose(tool, path, folder / "bent.obj")
    expect(np.allclose(points, bend(rotation, scale, skinning), atol=1e-6), "the form is posed differently by numpy")
    moved = push(points)
    count = int((np.linalg.norm(moved, axis=1) > 0).sum())
    sculpt = points + moved
    write_obj(folder / "sculpt.obj", lines, sculpt)
    add = [tool, "example", "add", path, "--name", "elbow", "--at", f"joint:fore=x{BEND}", folder / "sculpt.obj"]
    if frame == "skinned":  # a layer that exists: an example elsewhere, then the frame
        run(*add)
        project = json.loads(path.read_text())
        project["layers"][0]["frame"] = "skinned"
        path.write_text(json.dumps(project))
        add = [*add[:4], "--replace", *add[6:]]
    said = run(*add)
    told = re.search(r"(\d+) of (\d+) vertices moved, by up to ([\d.e-]+) mm; reproduced within ([\d.e-]+) mm", said)
    expect(told, said)
    expect(int(told[1]) == count, f"{told[1]} vertices moved, not {count}")
    expect(told[3] == "8.4", f"moved by up to {told[3]} mm, not 8.4")
    back = pose(tool, path, folder / "back.obj")[1]
    off = np.linalg.norm(back - sculpt, axis=1)
    expect(off.max() <= LIMIT, f"off by {1000 * off.max():.2g} mm")
    return f"{count} vertices, 8.4 mm, off by {1000 * off.max():.2g} mm"


def check_forms(tool, folder, rotation, scale):
    """Dual quaternions: a sculpt goes into a layer of forms at rest, and is un-posed for it."""
    space = [{"name": "bend", "joint": "fore", "angle": "x", "min": 0, "max": 90}]
    layer = {"name": "forms", "shape": "positions", "space": space, "weigh": {"kind": "cardinal"},
             "examples": [{"name": "rest", "mesh": "mesh.obj", "at": {"bend": 0}}]}
    path = make_project(tool, folder, rotation, scale, {"skinning": "dual_quaternion", "layers": [layer]})
    lines, points = pose(tool, path, folder / "bent.obj")
    sculpt = points + push(points)
    write_obj(folder / "sculpt.obj", lines, sculpt)
    run(tool, "example", "add", path, "--layer", "forms", "--name", "elbow", "--at", f"bend={BEND}",
        folder / "sculpt.obj")
    expect(len(json.loads(path.read_text())["layers"]) == 1, "a second layer was made")
    off = np.linalg.norm(pose(tool, path, folder / "back.obj")[1] - sculpt, axis=1).max()
    expect(off <= FORM_LIMIT, f"off by {1000 * off:.2g} mm")
    return f"off by {1000 * off:.2g} mm"


def check_refusals(tool, folder, rotation, scale):
    """Another unit is named, and --force takes it."""
    path = make_project(tool, folder, rotation, scale, {})
    lines, points = pose(tool, path, folder / "bent.obj")
    for factor, unit in ((100, "centimetres"), (1000, "millimetres")):
        write_obj(folder / "large.obj", lines, factor * (points + push(points)))
        add = [tool, "example", "add", path, "--name", unit, "--at", f"joint:fore=x{BEND}", folder / "large.obj"]
        said = run(*add, code=1)
        expect(f"times as large as the mesh: it is likely in {unit}; export it in metres" in said, said)
        said = run(*add, "--scale", 1 / factor, "--json")
        expect(abs(json.loads(said.splitlines()[0])["largest"] - PUSHED) < 1e-6, said)
        run(tool, "example", "remove", path, "--name", unit, "-q")
    run(*add, "--force")
    return "refused, scaled, forced"


def check_unit(tool, folder, up):
    """A project in millimetres: the mesh is converted by hand; pose and example add agree."""
    path = make_project(tool, folder, (0, 0, 0, 1), (1, 1, 1), {"unit": "mm", "up": up})

    def turned(p):  # from metres with y up
        return 1000 * (p if up == "y" else np.stack([p[:, 0], -p[:, 2], p[:, 1]], axis=1))

    lines, rest = read_obj(path.parent / "mesh.obj")
    write_obj(path.parent / "mesh.obj", lines, turned(rest))
    lines, points = pose(tool, path, folder / "bent.obj")
    _, _, share = bent_tube.tube()
    still = share == 0
    expect(np.allclose(points[still], turned(rest)[still], atol=1e-4), "pose does not write the project's unit")
    moved = turned(push(points / 1000))
    sculpt = points + moved
    write_obj(folder / "sculpt.obj", lines, sculpt)
    said = run(tool, "example", "add", path, "--name", "elbow", "--at", f"joint:fore=x{BEND}", folder / "sculpt.obj")
    expect(", by up to 8.4 mm; reproduced" in said, said)
    off = np.linalg.norm(pose(tool, path, folder / "back.obj")[1] - sculpt, axis=1).max()
    expect(off <= 1000 * LIMIT, f"off by {off:.2g} mm")
    for factor in (100, 1000, 0.001):
        write_obj(folder / "other.obj", lines, factor * sculpt)
        said = run(tool, "example", "add", path, "--name", "b", "--at", "joint:fore=x30", folder / "other.obj", code=1)
        expect("in millimetres" in said and "times as large as the mesh" in said, said)
    # glTF is in metres with y up on both sides.
    run(tool, "pose", path.parent / "rig.glb", f"joint:fore=x{BEND}", "-o", folder / "bent.glb", "-q")
    said = run(tool, "example", "add", path, "--replace", "--at", f"joint:fore=x{BEND}", folder / "bent.glb", "--json")
    expect(json.loads(said.splitlines()[0])["error"] < 1e-6, said)
    return f"off by {off:.2g} mm"


def main():
    tool = Path(sys.argv[1]).resolve()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        cases = []
        for name, (rotation, scale) in BINDS.items():
            for skinning in ("linear", "dual_quaternion"):
                for frame in ("rest", "skinned"):
                    cases.append((f"bound in {name}, {skinning}, frame {frame}",
                                  lambda f, a=(rotation, scale, skinning, frame): check_bind(tool, f, *a)))
            cases.append((f"bound in {name}, dual_quaternion, a layer of forms",
                          lambda f, a=(rotation, scale): check_forms(tool, f, *a)))
            cases.append((f"bound in {name}: other units",
                          lambda f, a=(rotation, scale): check_refusals(tool, f, *a)))
        for up in "yz":
            cases.append((f"a project in millimetres, {up} up", lambda f, u=up: check_unit(tool, f, u)))
        for i, (name, check) in enumerate(cases):
            try:
                print(f"{name}: {check(Path(temporary) / str(i))}")
                passed += 1
            except Failed as failure:
                print(f"{name}: FAILED: {failure}")
                failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
