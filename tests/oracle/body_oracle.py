#!/usr/bin/python3
"""Builds, checks and poses a space of human bodies, with skeletons that follow, and compares with body_reference.py.

  body_oracle.py TOOL DATA   DATA is a folder with makehuman/; one line per group, then "N passed, M failed"

13380 vertices, 163 joints, up to 9 influences per vertex, 18 bodies over gender x age x muscle (see makehuman.py).
Distances are parts of the posed body's height; 1e-5 passes.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

sys.dont_write_bytecode = True  # leaves nothing in the source tree

import body_reference
import makehuman
import skips
from weigh_oracle import Tally

LIMIT = 1e-5
PROJECTS = {"body": "linear", "body_dual": "dual_quaternion"}
LIMBS = [bone + side for side in (".L", ".R") for bone in
         ("upperarm01", "upperarm02", "lowerarm01", "lowerarm02", "wrist", "upperleg01", "upperleg02", "lowerleg01",
          "lowerleg02", "foot", "clavicle")] + ["spine01", "spine03", "spine05", "neck01", "neck03"]
CHILD, MAN = [0, 10, 0.5], [1, 25, 1]  # both are examples


def about_x(degrees):
    return Rotation.from_euler("x", degrees, degrees=True)


CROUCH = {name + side: about_x(degrees) for side in (".L", ".R") for name, degrees in
          (("lowerarm01", 80), ("lowerleg01", 60), ("upperleg01", -40))}


# ---- the tool ----

class Tool:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *words):
        run = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"exemplar {' '.join(words[:3])} ended with status {run.returncode}: {run.stderr.strip()}")
        return run.stdout

    def read_form(self, path):
        lines = (self.folder / path).read_text().split("\n")
        return np.array(" ".join(line[2:] for line in lines if line.startswith("v ")).split(), float).reshape(-1, 3)

    def pose(self, rig, *assignments):
        self.run("pose", rig, *assignments, "-o", "once.obj")
        return self.read_form("once.obj")

    def table(self, rig, poses):
        """Forms of poses [(point, turns)], through a table with a column for every axis and joint that moves."""
        moved = sorted({name for _, turns in poses for name in turns})
        header = [axis["name"] for axis in makehuman.AXES] + [f"joint:{name}.{c}" for name in moved for c in "xyzw"]
        rows = [np.concatenate([point] + [turns.get(name, Rotation.identity()).as_quat() for name in moved])
                for point, turns in poses]
        lines = [",".join(header)] + [",".join(repr(float(value)) for value in row) for row in rows]
        (self.folder / "poses.csv").write_text("\n".join(lines) + "\n")
        self.run("pose", rig, "--poses", "poses.csv", "-o", "forms", "--force")
        return [self.read_form(f"forms/pose_{number + 1:05d}.obj") for number in range(len(poses))]


def compare(tally, group, got, expected, detail, limit=LIMIT):
    if got.shape != expected.shape:
        tally.add(group, np.inf, limit, f"{detail}: {got.shape[0]} vertices")
        return
    error = np.abs(got - expected).max() / np.ptp(expected[:, 1])
    worst = int(np.argmax(np.abs(got - expected).max(axis=1)))
    tally.add(group, error, limit, f"{detail}: vertex {worst} is {error:.1e} of the height off")


# ---- conversion ----

def windings(points, form, faces):
    """The winding number of the surface around each point: 1 inside, 0 outside, by the solid angles of all
    triangles."""
    turns = []
    for point in points:
        a, b, c = (form[faces[:, k]] - point for k in range(3))
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        volume = np.sum(a * np.cross(b, c), axis=1)
        rest = la * lb * lc + np.sum(a * b, axis=1) * lc + np.sum(b * c, axis=1) * la + np.sum(c * a, axis=1) * lb
        turns.append(np.sum(np.arctan2(volume, rest)) / (2 * np.pi))
    return np.array(turns)


def check_conversion(tally, source, examples):
    """Bodies have the size and build of their names, and the joints of limbs are inside the skin."""
    group = "conversion: counts, heights, joints inside"
    counts = [len(source.points), len(source.faces), len(source.names), int((source.weights > 0).sum(axis=1).max())]
    tally.add(group, float(counts != [19158, 13378, 163, 9]), 0, f"points, faces, bones and influences are {counts}")
    faces = source.faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    limbs = [source.names.index(name) for name in LIMBS]
    heights = {name: body.height() for name, (_, body) in examples.items()}
    for name, low, high in (("child", 1.2, 1.45), ("young", 1.55, 1.85), ("old", 1.5, 1.8)):
        found = [height for example, height in heights.items() if name in example]
        tally.add(group, float(not low < min(found) <= max(found) < high), 0, f"{name}: {found} metres high")
    for name in ("female_child_min", "male_young_max", "female_old_average"):
        body = examples[name][1]
        outside = np.abs(windings(body.heads[limbs], body.form.astype(float), faces) - 1) > 0.2
        tally.add(group, float(outside.sum()), 0, f"{name}: outside are {np.array(LIMBS)[outside]}")


# ---- the rigs ----

def check_findings(tally, tool, project, examples):
    answer = json.loads(tool.run("check", f"{project}.json", "--json"))
    bad = [finding["text"] for finding in answer["findings"] if finding["severity"] != "note"]
    tally.add("check finds nothing wrong", len(bad), 0, f"{project}: {bad}")
    kinds = [finding["kind"] for finding in answer["findings"]]
    tally.add("check measures every example", abs(kinds.count("leave_one_out") - examples), 0, f"{project}: {kinds}")


def check_unpacked(tally, tool):
    """An unpacked rig, with its skeletons, builds to the same bytes."""
    tool.run("unpack", "body.glb", "-o", "unpacked")
    tool.run("build", "unpacked/body.json", "-o", "again.glb")
    same = (tool.folder / "body.glb").read_bytes() == (tool.folder / "again.glb").read_bytes()
    tally.add("unpacked and built again", float(not same), 0, "the rig has other bytes")


def check_weights(tally, tool, character, points):
    for point in points:
        words = [f"{axis['name']}={value!r}" for axis, value in zip(makehuman.AXES, point)]
        answer = json.loads(tool.run("weights", "body.glb", *words, "--json"))["layers"][0]["weights"]
        expected = dict(zip(character.examples, character.weights(point)))
        same = list(answer) == list(expected)
        error = max(abs(answer[name] - expected[name]) for name in expected) if same else np.inf
        tally.add("weights", error, 1e-9, f"at {point}")


def check_examples(tally, tool, character):
    """Every example comes back at its point. Crouching, it matches its own form posed with its own skeleton."""
    for project, skinning in PROJECTS.items():
        points = [point for point, _ in character.examples.values()]
        still = tool.table(f"{project}.glb", [(point, {}) for point in points])
        crouched = tool.table(f"{project}.glb", [(point, CROUCH) for point in points])
        for (name, (point, body)), form, low in zip(character.examples.items(), still, crouched):
            compare(tally, f"examples come back, {skinning}", form, body.form.astype(float), name)
            alone = body_reference.Character(character.source, {name: (point, body)})
            compare(tally, f"examples crouch, {skinning}", low, alone.pose(point, CROUCH, skinning), name)


def random_poses(character, count, random):
    """Points anywhere in the space and a little outside, every joint turned: 20 degrees in any direction, some 60."""
    poses = []
    for _ in range(count):
        point = [axis["min"] + (axis["max"] - axis["min"]) * random.uniform(-0.1, 1.1) for axis in makehuman.AXES]
        turns = {name: Rotation.from_rotvec(random.normal(size=3) * np.radians(35 if random.random() < 0.1 else 12))
                 for name in character.source.names}
        poses.append((point, turns))
    return poses


def check_poses(tally, tool, character):
    poses = random_poses(character, 12, np.random.default_rng(13380))
    poses += [(character.rest_point, {}), ([0.3, 17.5, 0.7], CROUCH)]
    for project, skinning in PROJECTS.items():
        for number, (form, (point, turns)) in enumerate(zip(tool.table(f"{project}.glb", poses), poses)):
            compare(tally, f"poses, {skinning}", form, character.pose(point, turns, skinning), f"pose {number}")
    check_weights(tally, tool, character, [point for point, _ in poses])


def check_elbow(tally, tool, character):
    """A forearm swings about its own body's elbow, at constant distance, by the given angle. Also half way between
    child and man, where there is no example."""
    source = character.source
    elbow = source.names.index("lowerarm01.L")
    below = [name for name in source.names if name.endswith(".L") and
             name.startswith(("lowerarm", "wrist", "finger", "metacarpal"))]
    arm = source.weights[:, [source.names.index(name) for name in below]].sum(axis=1) > 1 - 1e-9
    for name, point in (("child", CHILD), ("man", MAN), ("between", [0.5, 17.5, 0.75])):
        words = [f"{axis['name']}={value!r}" for axis, value in zip(makehuman.AXES, point)]
        straight = tool.pose("body.glb", *words)
        bent = tool.pose("body.glb", *words, "joint:lowerarm01.L=x70")
        height = np.ptp(straight[:, 1])

        def change(centre):
            return np.abs(np.linalg.norm(bent[arm] - centre, axis=1) -
                          np.linalg.norm(straight[arm] - centre, axis=1)).max() / height

        own = character.joints(point)[elbow]
        tally.add("the forearm keeps its distance from the elbow", change(own), LIMIT, name)
        # The base body's elbow is elsewhere: if bones did not follow, the distance to it would be constant.
        tally.add("and not from the base body's", LIMIT * 100, change(source.base.heads[elbow]), name)
        axis = Rotation.from_matrix(source.frames[elbow])
        turned = (axis * about_x(70) * axis.inv()).apply(straight[arm] - own) + own
        tally.add("the forearm turns as asked", np.abs(bent[arm] - turned).max() / height, LIMIT, name)


def check_sculpt(tally, tool, character):
    """A second layer, on an axis that reads a joint. Its example is sculpted on the bent and raised arm of a body at
    rest, as dual quaternions pose it, in a project with linear skinning. This combines un-posing with the blended
    skeleton. Other bodies get the same corrective before they are posed."""
    raised = Rotation.from_euler("ZX", [30, -20], degrees=True)
    point, bent = character.rest_point, {"lowerarm01.L": about_x(90), "upperarm01.L": raised}
    sculpt = character.pose(point, bent, "dual_quaternion")
    makehuman.write_obj(tool.folder / "straight.obj", character.source, character.form(point))
    makehuman.write_obj(tool.folder / "bent.obj", character.source, sculpt)
    project = makehuman.project(character.examples, "linear")
    project["layers"].append({
        "name": "elbow",
        "space": [{"name": "elbow", "joint": "lowerarm01.L", "angle": "x", "min": 0, "max": 120, "rest": 0}],
        "shape": "unposed",
        "examples": [{"name": "straight", "mesh": "straight.obj", "at": {"elbow": 0}},
                     {"name": "bent", "mesh": "bent.obj", "at": {"elbow": 90},
                      "joints": {"upperarm01.L": {"z": 30, "x": -20}}}]})
    (tool.folder / "sculpt.json").write_text(json.dumps(project))
    tool.run("build", "sculpt.json")
    check_findings(tally, tool, "sculpt", len(character.examples))  # two more are too few for leave-one-out
    compare(tally, "sculpt on a bent elbow", tool.pose("sculpt.glb", "elbow=90", "joint:upperarm01.L=z30x-20"), sculpt,
            "the sculpt")
    flat = body_reference.linear_inverse(character.matrices(point, bent), character.source.weights, sculpt)
    added = flat - character.form(point)
    for point, angle in ((CHILD, 90), (MAN, 45), ([0.6, 40, 0.2], 110)):
        words = [f"{axis['name']}={value!r}" for axis, value in zip(makehuman.AXES, point)]
        form = tool.pose("sculpt.glb", *words, f"elbow={angle}")
        # Two examples and a plane through them: the weight is the angle over 90.
        expected = character.pose(point, {"lowerarm01.L": about_x(angle)}, "linear", added * (angle / 90))
        compare(tally, "the sculpt on other bodies", form, expected, f"at {point}, {angle} degrees")


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} TOOL DATA")
    data = skips.data_folder(sys.argv[2])
    skips.need_data(data, "makehuman")
    tally, source = Tally(), makehuman.Source(data / "makehuman")
    with tempfile.TemporaryDirectory(prefix="exemplar-body-") as folder:
        tool = Tool(Path(sys.argv[1]).resolve(), Path(folder))
        character = body_reference.Character(source, makehuman.convert(source, folder))
        check_conversion(tally, source, character.examples)
        for project in PROJECTS:
            tool.run("build", f"{project}.json")
            check_findings(tally, tool, project, len(character.examples))
        check_unpacked(tally, tool)
        check_examples(tally, tool, character)
        check_poses(tally, tool, character)
        check_elbow(tally, tool, character)
        check_sculpt(tally, tool, character)
    tally.report()
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    main()
