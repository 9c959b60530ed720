"""A person made of numbers, for tests of the fit of a skeleton: bones, markers on skin that slides, and poses.

The joints are those of the shipped skeleton `full`. Bones differ from it by proportion, left from right, and axes are
tilted. Markers lie around the bones. Skin near a joint follows the other bone in part, bulges with the angles of the
joints around it, and is measured with noise. Everything is drawn from a seed. write_session writes a session for
`exemplar scan fit`; compare measures its fit.json against the truth.
"""

import json
import os

import numpy as np
from scipy.spatial.transform import Rotation

JOINTS = [  # name, parent, freedom, translation, axis, range in degrees, number of markers, radius of the body
    ("hips", None, "base", (0, 0.95, 0), None, None, 8, 0.14),
    ("waist", "hips", "ball", (0, 0.09, -0.03), None, None, 6, 0.13),
    ("chest", "waist", "ball", (0, 0.14, 0), None, None, 10, 0.14),
    ("neck", "chest", "ball", (0, 0.3, 0.01), None, None, 4, 0.06),
    ("head", "neck", "ball", (0, 0.1, 0.03), None, None, 6, 0.09),
    ("clavicle.L", "chest", "ball", (0.03, 0.23, 0.03), None, None, 4, 0.05),
    ("shoulder.L", "clavicle.L", "ball", (0.15, 0, -0.03), None, None, 8, 0.05),
    ("elbow.L", "shoulder.L", "hinge", (0.28, 0, 0), (0, -1, 0), (-10, 150), 4, 0.045),
    ("forearm.L", "elbow.L", "hinge", (0.02, 0, 0), (1, 0, 0), (-100, 180), 7, 0.035),
    ("wrist.L", "forearm.L", "hinge", (0.25, 0, 0), (0, 0, -1), (-90, 90), 5, 0.035),
    ("clavicle.R", "chest", "ball", None, None, None, 4, 0.05),
    ("shoulder.R", "clavicle.R", "ball", None, None, None, 8, 0.05),
    ("elbow.R", "shoulder.R", "hinge", None, None, (-10, 150), 4, 0.045),
    ("forearm.R", "elbow.R", "hinge", None, None, (-100, 180), 7, 0.035),
    ("wrist.R", "forearm.R", "hinge", None, None, (-90, 90), 5, 0.035),
    ("hip.L", "hips", "ball", (0.095, -0.03, 0), None, None, 9, 0.08),
    ("knee.L", "hip.L", "hinge", (0, -0.425, 0.01), (1, 0, 0), (-10, 150), 8, 0.055),
    ("ankle.L", "knee.L", "ball", (0, -0.43, -0.02), None, None, 6, 0.04),
    ("toe.L", "ankle.L", "hinge", (0.01, -0.05, 0.13), (1, 0, 0), (-60, 40), 4, 0.03),
    ("hip.R", "hips", "ball", None, None, None, 9, 0.08),
    ("knee.R", "hip.R", "hinge", None, None, (-10, 150), 8, 0.055),
    ("ankle.R", "knee.R", "ball", None, None, None, 6, 0.04),
    ("toe.R", "ankle.R", "hinge", None, None, (-60, 40), 4, 0.03),
]
NAMES = [joint[0] for joint in JOINTS]
PARENTS = [NAMES.index(joint[1]) if joint[1] else -1 for joint in JOINTS]
HINGES = [joint[2] == "hinge" for joint in JOINTS]
MIRROR = np.array([-1.0, 1, 1])


def other_side(name):
    return name[:-1] + ("R" if name.endswith("L") else "L") if name[-2:] in (".L", ".R") else name


def skeleton():
    """Translations and axes of `full`."""
    bones, axes = np.zeros((len(JOINTS), 3)), np.zeros((len(JOINTS), 3))
    for j, (name, _, _, bone, axis, _, _, _) in enumerate(JOINTS):
        twin = NAMES.index(other_side(name))
        bones[j] = bone if bone is not None else MIRROR * bones[twin]
        axes[j] = axis if axis is not None else axes[twin] * [1, -1, -1]
    return bones, axes


class Person:
    def __init__(self, seed, scale=1.0, proportion=0.04, skin=0.02, noise=0.001, hidden=0.25):
        self.random = np.random.default_rng(seed)
        self.skin, self.noise, self.hidden = skin, noise, hidden
        random, (bones, axes) = self.random, skeleton()
        self.scale = scale
        for j, name in enumerate(NAMES):
            twin = NAMES.index(other_side(name))
            if name.endswith(".R"):  # nearly as the left
                bones[j] = MIRROR * bones[twin] + random.normal(0, 0.003, 3)
                axes[j] = axes[twin] * [1, -1, -1]
            elif j > 0:
                along = 1 + random.normal(0, proportion)
                bones[j] = bones[j] * along * scale + random.normal(0, 0.006, 3) * scale
            if HINGES[j]:
                axes[j] += random.normal(0, 0.05, 3)
                axes[j] /= np.linalg.norm(axes[j])
        bones[0] = 0
        self.bones, self.axes = bones, axes
        self.paint()

    def paint(self):
        """Markers around the bone of each joint, from it to the next."""
        random = self.random
        self.sites, self.locals, self.near = [], [], []
        for j, (name, _, _, _, _, _, count, radius) in enumerate(JOINTS):
            below = [k for k in range(len(JOINTS)) if PARENTS[k] == j]
            ends = [self.bones[k] for k in below]
            if not ends:
                direction = {"head": (0, 0.16, 0.01), "toe": (0, 0, 0.05)}.get(name.split(".")[0])
                ends = [np.array(direction) if direction else self.bones[j] / np.linalg.norm(self.bones[j]) * 0.1]
            for _ in range(count):
                which = random.integers(len(ends))
                end, part = ends[which], random.uniform(0.1, 0.9)
                if name == "elbow.L" or name == "elbow.R":
                    end = end + self.bones[j + 2] * 0.3
                across = random.normal(0, 1, 3)
                unit = end / np.linalg.norm(end)
                across -= unit * (across @ unit)
                across *= radius * self.scale * random.uniform(0.8, 1.2) / np.linalg.norm(across)
                self.sites.append(j)
                self.locals.append(part * end + across)
                self.near.append((part, below[which] if below else -1))
        self.locals = np.array(self.locals)
        self.waves = random.normal(0, 1, (len(self.sites), 3, 4))

    def frames(self, pose):
        turns, places = [], []
        for j in range(len(JOINTS)):
            p = PARENTS[j]
            above = turns[p] if p >= 0 else Rotation.identity()
            places.append(pose["base"] if p < 0 else places[p] + above.apply(self.bones[j]))
            turns.append(above * pose["turns"][j])
        return turns, np.array(places)

    def pose(self, vectors, angles, base=(0, 0.9, 0)):
        """Rotation vectors in degrees of balls, angles of hinges, by name."""
        turns = []
        for j, name in enumerate(NAMES):
            if HINGES[j]:
                turns.append(Rotation.from_rotvec(np.radians(angles.get(name, 0)) * self.axes[j]))
            else:
                turns.append(Rotation.from_rotvec(np.radians(vectors.get(name, (0, 0, 0)))))
        return {"base": np.array(base) * [1, self.scale, 1], "turns": turns}

    def random_pose(self):
        random = self.random
        between = random.uniform
        vectors, angles = {"hips": (0, between(-30, 30), 0)}, {}
        for name in ("waist", "chest"):
            vectors[name] = (between(-10, 20), between(-15, 15), between(-12, 12))
        for name in ("neck", "head"):
            vectors[name] = (between(-12, 15), between(-20, 20), between(-8, 8))
        for side, sign in ((".L", 1), (".R", -1)):
            vectors["clavicle" + side] = (0, sign * between(-12, 12), sign * between(-5, 15))
            down = Rotation.from_rotvec([0, 0, np.radians(-sign * between(-10, 80))])
            forth = Rotation.from_rotvec([0, np.radians(-sign * between(-20, 80)), 0])
            twist = Rotation.from_rotvec([np.radians(between(-40, 40)), 0, 0])
            vectors["shoulder" + side] = np.degrees((down * forth * twist).as_rotvec())
            angles["elbow" + side] = between(0, 120)
            angles["forearm" + side] = between(-60, 60)
            angles["wrist" + side] = between(-40, 40)
            lift = between(-15, 75)
            vectors["hip" + side] = (-lift, between(-15, 15), sign * between(-5, 25))
            angles["knee" + side] = between(0, 90) if lift > 20 else between(0, 40)
            vectors["ankle" + side] = (between(-25, 15), between(-8, 8), between(-8, 8))
            angles["toe" + side] = between(-30, 5)
        return self.pose(vectors, angles, base=(between(-0.2, 0.2), 0.9, between(-0.2, 0.2)))

    def reference(self):
        """Standing, arms lowered by half and not alike, knees and elbows a little bent."""
        return self.pose({"shoulder.L": (5, -10, -45), "shoulder.R": (0, 5, 35), "waist": (3, 2, 0),
                          "hip.L": (-5, 5, 8), "hip.R": (-2, 0, -6)},
                         {"elbow.L": 20, "elbow.R": 12, "knee.L": 6, "knee.R": 4, "forearm.L": 20, "forearm.R": 10})

    def sitting(self):
        """On a chair, turned to the side, one arm up and the other bent before the chest."""
        return self.pose({"hips": (-10, 130, 0), "shoulder.L": (0, 0, 60), "shoulder.R": (0, 60, 60),
                          "hip.L": (-85, 5, 8), "hip.R": (-80, -10, -6), "waist": (10, 0, 0), "ankle.L": (10, 0, 0)},
                         {"elbow.L": 20, "elbow.R": 80, "knee.L": 85, "knee.R": 70, "forearm.L": 20})

    def see(self, pose):
        """Positions of the markers: skin that follows two bones, slides, and is measured with noise."""
        turns, places = self.frames(pose)
        at = np.zeros((len(self.sites), 3))
        for s, j in enumerate(self.sites):
            part, below = self.near[s]
            m = self.locals[s]
            rigid = places[j] + turns[j].apply(m)
            moved = rigid.copy()
            if below >= 0 and part > 0.5:  # with the bone below, in part
                share = (part - 0.5) * 0.9
                half = Rotation.from_rotvec(share * pose["turns"][below].as_rotvec())
                moved = places[j] + turns[j].apply(self.bones[below] + half.apply(m - self.bones[below]))
            elif part < 0.5 and PARENTS[j] >= 0:  # with the bone above
                share = (0.5 - part) * 0.9
                back = Rotation.from_rotvec(-share * pose["turns"][j].as_rotvec())
                moved = places[j] + (turns[j] * back).apply(m)
            bend = np.array([1 - np.cos(pose["turns"][k].magnitude()) for k in (j, max(below, 0))] +
                            [np.sin(pose["turns"][k].magnitude()) for k in (j, max(below, 0))])
            bulge = turns[j].apply(self.waves[s] @ bend) * 0.35
            skin = self.skin * min(1, self.scale * JOINTS[j][7] / 0.08)  # less where there is less of it
            slide = moved - rigid + bulge * skin
            length = np.linalg.norm(slide)
            if length > 0:
                slide *= skin * np.tanh(length / max(skin, 1e-9)) / length
            at[s] = rigid + slide
        return at + self.random.normal(0, self.noise, at.shape)


def write_session(folder, person, poses, swap=False, also=None):
    """scan.json, markers.csv and labels/. also: a change to the list of (scan, site, position)."""
    os.makedirs(os.path.join(folder, "labels"), exist_ok=True)
    names = [f"m{s:03}-{NAMES[j]}" for s, j in enumerate(person.sites)]
    with open(os.path.join(folder, "markers.csv"), "w") as out:
        out.write("marker,joint\n")
        for name, j in zip(names, person.sites):
            out.write(f"{name},{other_side(NAMES[j]) if swap else NAMES[j]}\n")
    rows = []
    for i, pose in enumerate(poses):
        at = person.see(pose)
        seen = np.ones(len(at), bool) if i == 0 else person.random.random(len(at)) > person.hidden
        rows += [(i, s, at[s]) for s in np.flatnonzero(seen)]
    rows = also(rows) if also else rows
    for i in range(len(poses)):
        with open(os.path.join(folder, "labels", f"scan_{i:02}.csv"), "w") as out:
            out.write("marker,x,y,z,confidence\n")
            for scan, s, at in rows:
                if scan == i:
                    out.write(f"{names[s]},{at[0]:.6f},{at[1]:.6f},{at[2]:.6f},1\n")
    joints = NAMES[1:]
    with open(os.path.join(folder, "scan.json"), "w") as out:
        json.dump({"exemplar_scan": 1, "skeleton": "full", "markers": "markers.csv", "reference": "scan_00",
                   "parts": [{"name": "body", "joints": joints, "covers": NAMES}],
                   "scans": [{"name": f"scan_{i:02}", "part": "body", "files": ["none.ply"]}
                             for i in range(len(poses))]}, out)


def compare(folder, person, poses):
    """Errors of fit.json: bones (length, mm), joint centres (mm, RMS), and angles relative to the reference (degrees,
    RMS over joints, and per joint). Bones between a hinge and the next joint count across the hinge only."""
    with open(os.path.join(folder, "fit.json")) as file:
        fit = json.load(file)
    bones = {joint["name"]: joint.get("translation") for joint in fit["skeleton"]["joints"]}
    for joint in fit["skeleton"]["joints"]:
        if bones[joint["name"]] is None:
            bones[joint["name"]] = list(MIRROR * bones[joint["mirror"]])
    found = {scan["name"]: scan for scan in fit["scans"]}
    axes = {joint["name"]: joint.get("axis") for joint in fit["skeleton"]["joints"]}
    for joint in fit["skeleton"]["joints"]:
        if joint["joint"] == "hinge" and axes[joint["name"]] is None:
            axes[joint["name"]] = list(np.array(axes[joint["mirror"]]) * [1, -1, -1])
    lengths = np.array([np.linalg.norm(bones[name]) - np.linalg.norm(person.bones[j])
                        for j, name in enumerate(NAMES) if j > 0])
    rest, _ = person.frames(poses[0])
    errors, places = np.zeros((len(poses), len(JOINTS))), []
    for i, pose in enumerate(poses):
        scan = found.get(f"scan_{i:02}")
        if scan is None:
            errors[i] = np.nan
            continue
        true_turns, true_places = person.frames(pose)
        true_frames = [true_turns[j] * rest[j].inv() for j in range(len(JOINTS))]
        frames, where = [], []
        for j, name in enumerate(NAMES):
            value = scan["pose"].get(name, 0 if HINGES[j] else [0, 0, 0, 1])
            turn = Rotation.from_rotvec(np.radians(value) * np.array(axes[name])) if HINGES[j] else \
                Rotation.from_quat(value)
            p = PARENTS[j]
            above = frames[p] if p >= 0 else Rotation.identity()
            where.append(np.array(scan["base"]) if p < 0 else where[p] + above.apply(bones[name]))
            frames.append(above * turn)
            other = true_frames[p] if p >= 0 else Rotation.identity()
            errors[i, j] = np.degrees((turn.inv() * (other.inv() * true_frames[j])).magnitude())
        places.append(np.linalg.norm(np.array(where) - true_places, axis=1))
    return {"lengths": dict(zip(NAMES[1:], 1000 * lengths)), "places": 1000 * np.sqrt(np.mean(np.square(places), 0)),
            "angles": np.sqrt(np.nanmean(np.square(errors[1:, 1:]))),
            "by_joint": dict(zip(NAMES, np.sqrt(np.nanmean(np.square(errors[1:]), 0)))), "fit": fit}
