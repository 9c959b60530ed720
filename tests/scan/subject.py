#!/usr/bin/python3
"""A person with truth: a body of MakeHuman's files on the joints of the shipped skeleton `full`, in natural poses.

  subject.py DATA FOLDER [--person NAME] [--poses N]   writes every pose as FOLDER/NAME.obj, all with the same faces

Nothing here is the product's. The skin is MakeHuman's closed body, without helpers. Its 163 bones are led by the 23
joints of `full`: each bone follows one joint. Some follow only a share of its turn: the skin of a forearm twists little
at the elbow and entirely at the wrist. Joints are exact, so bones and angles are known.

The skin is not plainly skinned. In the pose of MakeHuman's files, each point p moves before it is skinned, by
  slide:   K (parent's weight - child's weight) exp(-|p - c|^2 / L^2) (r x (p - c)) of every joint c that turns by r.
           Skin lags behind the bone that moves and is drawn along on the one that does not. It stays on the surface,
           and its length is d / (1 + (d / 25 mm)^4)^(1/4), so below 25 mm;
  bulge:   along the normal, A (1 - exp(-(angle / 50 degrees)^2)) within a ball: biceps, calf, thigh, deltoid, shoulder
           blade, chest, belly, buttock; and around every joint two waves of the person's own, which grow with the sine of
           half the turn about each axis. Their sum is limited as the slide is;
  drift:   a smooth random field of a few millimetres and a breath, new in every pose, from the seed.
Then it is halfway between linear blend and dual quaternion skinning. So skinning one scan of an adult is 5.6 mm
off (RMS) with the true pose, and a fit of rigid markers 7.5 mm; on scans of real people it was 6.6 to 8.2 mm and 7.2 mm.

Metres, y up, the person faces +z, and left is +x.
"""
import argparse
import json
import sys
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
import makehuman  # noqa: E402

# ---- the skeleton ----

# joint: (parent, kind, MakeHuman's bone whose head it is)
SIDED = {"clavicle": ("chest", "ball", "clavicle"), "shoulder": ("clavicle", "ball", "upperarm01"),
         "elbow": ("shoulder", "hinge", "lowerarm01"), "forearm": ("elbow", "hinge", "lowerarm01"),
         "wrist": ("forearm", "hinge", "wrist"), "hip": ("hips", "ball", "upperleg01"),
         "knee": ("hip", "hinge", "lowerleg01"), "ankle": ("knee", "ball", "foot"), "toe": ("ankle", "hinge", "toe2-1")}
MIDDLE = {"hips": (None, "base", "spine05"), "waist": ("hips", "ball", "spine04"), "chest": ("waist", "ball", "spine02"),
          "neck": ("chest", "ball", "neck01"), "head": ("neck", "ball", "head")}


def _skeleton():
    joints = dict(MIDDLE)
    for side in ("L", "R"):
        for name, (parent, kind, bone) in SIDED.items():
            joints[f"{name}.{side}"] = (parent if parent in MIDDLE else f"{parent}.{side}", kind, f"{bone}.{side}")
    return joints


JOINTS = _skeleton()
NAMES = list(JOINTS)
PARENTS = [NAMES.index(parent) if parent else -1 for parent, _, _ in JOINTS.values()]

# MakeHuman's bones: the joint that leads them, and the share of its turn, or of its twist about the bone.
TRUNK = {"root": "hips", "pelvis": "hips", "spine05": "hips", "spine04": ("waist", 0.7, "turn"), "spine03": "waist",
         "spine02": "chest", "spine01": "chest", "breast": "chest", "neck01": ("neck", 0.8, "turn"), "neck02": "neck",
         "neck03": ("head", 0.25, "turn"), "head": "head"}
LIMBS = {"clavicle": "clavicle", "shoulder01": "clavicle", "upperarm01": ("shoulder", 0.5, "twist"),
         "upperarm02": "shoulder", "lowerarm01": ("forearm", 0.6, "turn"), "lowerarm02": "forearm", "wrist": "wrist",
         "upperleg01": ("hip", 0.5, "twist"), "upperleg02": "hip", "lowerleg01": "knee", "lowerleg02": "knee",
         "foot": "ankle"}

# ---- people ----

# height in metres; legs: their length beside the usual one; arms: from -1 to 1, a target of the upper arms
PEOPLE = {
    "adult": dict(gender=1.0, age=30, weight=0.5, muscle=0.55, height=1.78),
    "woman": dict(gender=0.0, age=28, weight=0.5, muscle=0.5, height=1.66),
    "slim_woman": dict(gender=0.0, age=24, weight=0.1, muscle=0.35, height=1.72, legs=1.05),
    "heavy_man": dict(gender=1.0, age=48, weight=1.0, muscle=0.4, height=1.74, legs=0.96),
    "heavy_woman": dict(gender=0.0, age=50, weight=0.95, muscle=0.35, height=1.62),
    "athlete": dict(gender=1.0, age=26, weight=0.6, muscle=1.0, height=1.86, arms=0.6),
    "child": dict(gender=0.4, age=10, weight=0.5, muscle=0.4, height=1.24),
    "teenager": dict(gender=0.2, age=15, weight=0.35, muscle=0.4, height=1.52, legs=1.06),
    "giant": dict(gender=1.0, age=27, weight=0.5, muscle=0.6, height=2.05, legs=1.08, arms=0.8),
    "old_man": dict(gender=1.0, age=82, weight=0.45, muscle=0.25, height=1.68, legs=0.97),
    "old_woman": dict(gender=0.0, age=78, weight=0.6, muscle=0.25, height=1.55, arms=-0.5),
}


def _between(value, knots):
    """Shares of the two neighbouring knots {name: place}."""
    names, places = list(knots), list(knots.values())
    value = min(max(value, places[0]), places[-1])
    upper = max(1, int(np.searchsorted(places, value)))
    share = (value - places[upper - 1]) / (places[upper] - places[upper - 1])
    return {names[upper - 1]: 1 - share, names[upper]: share}


def form(source, gender=1.0, age=25, weight=0.5, muscle=0.5, height=1.75, legs=1.0, arms=0.0, uneven=0.0):
    """Points of the entire mesh in metres, feet at height 0. Targets are weighted by products of shares, as MakeHuman
    does. Those of muscle and weight exist for the young; children and old people get them scaled by height.
    uneven: metres, a smooth random field that makes left and right differ."""
    size = makehuman.VERTICES
    points = np.zeros_like(source.points)
    thirds = dict(min=0.0, average=0.5, max=1.0)
    for sex, of_sex in (("female", 1 - gender), ("male", gender)):
        young = np.ptp((source.points + source.target(f"caucasian-{sex}-young"))[:size, 1])
        for years, of_age in _between(age, dict(child=10, young=25, old=90)).items():
            if of_sex * of_age == 0:
                continue
            figure = source.points + source.target(f"caucasian-{sex}-{years}")
            ratio = np.ptp(figure[:size, 1]) / young
            for m, of_muscle in _between(muscle, thirds).items():
                for w, of_weight in _between(weight, thirds).items():
                    if of_muscle * of_weight > 0:
                        figure = figure + (of_muscle * of_weight * ratio
                                           * source.target(f"universal-{sex}-young-{m}muscle-{w}weight"))
            points += of_sex * of_age * figure
    if arms:
        rows = np.loadtxt(source.folder / f"targets/measure/measure-upperarm-length-{'incr' if arms > 0 else 'decr'}"
                                          ".target")
        points[rows[:, 0].astype(int)] += abs(arms) * rows[:, 1:]
    points[:, 1] -= points[:size, 1].min()
    # Legs grow below the hip joints, and the change sets in over a fifth of their length.
    top = points[source.spots["upperleg01.L____head"], 1].mean()
    depth = np.clip((top - points[:, 1]) / top, 0, None)
    points[:, 1] -= (legs - 1) * top * np.where(depth < 0.2, depth ** 2 / 0.4, depth - 0.1)
    points[:, 1] -= points[:size, 1].min()
    points *= height / points[:size, 1].max()
    if uneven:
        random = np.random.default_rng([9973, int(1000 * height)])
        waves, ways = random.normal(size=(10, 3)) / (0.28 * height), random.normal(size=(10, 3))
        points = points + uneven * np.cos(points @ waves.T + random.uniform(0, 2 * np.pi, 10)) @ ways / np.sqrt(15)
        points[:, 1] -= points[:size, 1].min()
    return points


def _turn(axis, degrees):
    return Rotation.from_rotvec(np.radians(degrees) * np.asarray(axis, float)).as_matrix()


def _unit(v):
    v = np.asarray(v, float)
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


MIRROR = np.diag([-1.0, 1.0, 1.0])


class Posed:
    """surface [vertices, 3], joints [23, 3], turns [23, 3, 3] (of the world, from MakeHuman's own pose), transforms."""

    def __init__(self, name, surface, joints, turns, slide):
        self.name, self.surface, self.joints, self.turns, self.slide = name, surface, joints, turns, slide


class Person:
    """A body, its joints and skin. points, triangles, quads, normals: the skin in MakeHuman's pose. centres [23, 3].
    axes {joint: axis} of hinges, in that pose. weights [vertices, 23]: standard skin weights, summed by joint."""

    def __init__(self, data, loose=0.0, slide=1.0, bulge=1.0, drift=0.002, **figure):
        source = makehuman.Source(data)
        whole = form(source, **figure)
        self.height = float(np.ptp(whole[:makehuman.VERTICES, 1]))
        self.scale = self.height / 1.75
        self.loose, self.slide_share, self.bulge_share, self.drift = loose, slide, bulge, drift
        self.points = whole[:makehuman.VERTICES].copy()
        self.quads = source.faces
        self.triangles = source.faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
        self.normals = vertex_normals(self.points, self.triangles)
        self._set_joints(source, whole)
        self._set_leaders(source)
        self._set_anatomy()
        self._set_bulges()
        self.tree = cKDTree(self.points)

    def _set_joints(self, source, whole):
        def spot(name):
            return whole[source.spots[name]].mean(axis=0)

        centres = {}
        for name, (_, _, bone) in JOINTS.items():
            centres[name] = spot(f"{bone}____head")
        # The chest of `full` is higher than the head of MakeHuman's bone.
        centres["chest"] = 0.7 * spot("spine02____head") + 0.3 * spot("spine01____head")
        for side in ("L", "R"):
            centres[f"toe.{side}"] = np.mean([spot(f"toe{n}-1.{side}____head") for n in (1, 2, 3, 4)], axis=0)
            along = centres[f"wrist.{side}"] - centres[f"elbow.{side}"]
            centres[f"forearm.{side}"] = centres[f"elbow.{side}"] + 0.02 * self.scale * _unit(along)
        self.centres = np.array([centres[name] for name in NAMES])
        self.tips = {f"hand.{s}": spot(f"finger3-3.{s}____tail") for s in "LR"}
        self.tips.update({f"foot.{s}": spot(f"toe1-2.{s}____tail") for s in "LR"})
        self.tips["head"] = spot("head____tail")
        self.axes = {}
        for side, sign in (("L", 1.0), ("R", -1.0)):
            at = {n: centres[f"{n}.{side}"] for n in SIDED}
            upper, lower = at["elbow"] - at["shoulder"], at["wrist"] - at["elbow"]
            self.axes[f"elbow.{side}"] = _unit(np.cross(upper, lower))
            self.axes[f"forearm.{side}"] = _unit(lower) * sign
            knuckles = spot(f"finger2-1.{side}____head") - spot(f"finger5-1.{side}____head")
            across = knuckles - _unit(lower) * (knuckles @ _unit(lower))
            self.axes[f"wrist.{side}"] = _unit(across) * sign
            shin, thigh = at["ankle"] - at["knee"], at["knee"] - at["hip"]
            plane = np.array([1.0, 0, 0]) - _unit(shin) * _unit(shin)[0]
            self.axes[f"knee.{side}"] = _unit(plane - _unit(thigh) * (plane @ _unit(thigh)))
            foot = at["toe"] - at["ankle"]
            self.axes[f"toe.{side}"] = _unit(np.cross([0, 1.0, 0], foot))
        # Equal angles on both sides are mirrored poses: an axis of the right is the mirrored left one, reversed.
        for name in list(self.axes):
            if name.endswith(".R"):
                self.axes[name] = -(MIRROR @ self.axes[name[:-1] + "L"])

    def _set_leaders(self, source):
        """Leaders are joints and shares of them; drive [vertices, leaders] has the weights."""
        self.leaders = [(name, 1.0, "turn") for name in NAMES]
        columns = {}
        for bone in source.names:
            if bone in columns:
                continue
            at = bone
            while True:  # up to a bone that is led
                base, _, side = at.partition(".")
                rule = TRUNK.get(base) or LIMBS.get(base)
                if base.startswith("toe"):
                    rule = "toe"
                if rule:
                    break
                at = source.bones[at]["parent"]
            if isinstance(rule, str):
                rule = (rule, 1.0, "turn")
            name = rule[0] if rule[0] in MIDDLE else f"{rule[0]}.{side}"
            leader = (name, *rule[1:])
            if leader not in self.leaders:
                self.leaders.append(leader)
            columns[bone] = self.leaders.index(leader)
        self.drive = np.zeros((len(self.points), len(self.leaders)))
        for column, bone in enumerate(source.names):
            self.drive[:, columns[bone]] += source.weights[:, column]
        self.weights = np.zeros((len(self.points), len(NAMES)))
        for column, (name, _, _) in enumerate(self.leaders):
            self.weights[:, NAMES.index(name)] += self.drive[:, column]
        # The skin's weights along the chain: of a joint and everything beyond it.
        self.beyond = self.weights.copy()
        for j in reversed(range(1, len(NAMES))):
            self.beyond[:, PARENTS[j]] += self.beyond[:, j]

    def joint(self, name):
        return self.centres[NAMES.index(name)]

    # ---- poses ----

    def _set_anatomy(self):
        """Turns from MakeHuman's pose into the anatomical one: arms and legs straight down, palms to the body."""
        def basis(along, axis):
            y = _unit(along)
            x = _unit(axis - y * (axis @ y))
            return np.stack([x, y, np.cross(x, y)], axis=1)

        upper = self.joint("elbow.L") - self.joint("shoulder.L")
        lower = self.joint("wrist.L") - self.joint("elbow.L")
        down = np.array([0, -1.0, 0])
        # Flexion about the axis brings the forearm forwards, when it is (-1, 0, 0).
        self.arm_down = basis(down, np.array([-1.0, 0, 0])) @ basis(upper, self.axes["elbow.L"]).T
        self.elbow_rest = float(np.degrees(np.arccos(_unit(upper) @ _unit(lower))))
        thigh = self.joint("knee.L") - self.joint("hip.L")
        self.leg_down = basis(down, np.array([1.0, 0, 0])) @ basis(thigh, self.axes["knee.L"]).T

    def local_turns(self, pose):
        """[23, 3, 3] of a pose of angles, see POSES."""
        turns = {name: np.eye(3) for name in NAMES}
        x, y, z = np.eye(3)
        for name in ("waist", "chest", "neck", "head"):
            lean, side, twist = pose.get(name, (0, 0, 0))
            turns[name] = _turn(y, twist) @ _turn(z, -side) @ _turn(x, lean)
        lean, side, yaw = pose.get("hips", (0, 0, 0))
        turns["hips"] = _turn(y, yaw) @ _turn(z, -side) @ _turn(x, lean)
        for side in ("L", "R"):
            arm, leg = pose[f"arm.{side}"], pose[f"leg.{side}"]
            local = {}
            swing = _turn(y, -arm["across"]) @ _turn(z, arm["out"]) @ _turn(x, -arm["fore"])
            up = max(0.0, np.degrees(np.arccos(np.clip(swing[1, 1], -1, 1))) - 30)  # of the arm, from hanging down
            lift, forth = arm["lift"] + 0.25 * up, arm["forth"]
            local["clavicle"] = _turn(y, -forth) @ _turn(z, lift)
            # The arm's direction is that of the trunk; the collar bone has taken its part.
            local["shoulder"] = local["clavicle"].T @ swing @ _turn(y, -arm["rot"]) @ self.arm_down
            axes = {n: self.axes[f"{n}.L"] for n in ("elbow", "forearm", "wrist", "knee", "toe")}
            local["elbow"] = _turn(axes["elbow"], arm["elbow"] - self.elbow_rest)
            local["forearm"] = _turn(axes["forearm"], arm["twist"])
            local["wrist"] = _turn(axes["wrist"], arm["wrist"])
            local["hip"] = _turn(z, leg["out"]) @ _turn(x, -leg["fore"]) @ _turn(y, leg["rot"]) @ self.leg_down
            local["knee"] = _turn(axes["knee"], leg["knee"])
            local["ankle"] = self.leg_down.T @ _turn(z, leg["roll"]) @ _turn(x, -leg["ankle"])
            local["toe"] = _turn(axes["toe"], -leg["toe"])
            for name, turn in local.items():
                turns[f"{name}.{side}"] = turn if side == "L" else MIRROR @ turn @ MIRROR
        for name, off in pose.get("off", {}).items():
            turns[name] = turns[name] @ Rotation.from_rotvec(np.radians(off)).as_matrix()
        return np.array([turns[name] for name in NAMES])

    def pose(self, pose, seed=0, name="", stand=True, place=(0.0, 0.0), still=False):
        """The body in a pose of angles. seed: of the drift. stand: the lowest point is on the ground, else the hips stay.
        still: no drift."""
        local = self.local_turns(pose)
        count = len(NAMES)
        turns, at = np.zeros((count, 3, 3)), np.zeros((count, 3))
        for j in range(count):
            p = PARENTS[j]
            turns[j] = local[j] if p < 0 else turns[p] @ local[j]
            at[j] = self.centres[j] if p < 0 else at[p] + turns[p] @ (self.centres[j] - self.centres[p])
        skin, slide = self.moved_skin(local, None if still else seed)
        rotations, moves = np.zeros((len(self.leaders), 3, 3)), np.zeros((len(self.leaders), 3))
        for k, (joint, share, kind) in enumerate(self.leaders):
            j = NAMES.index(joint)
            part = local[j] if share == 1 else self._share(joint, local[j], share, kind)
            rotations[k] = turns[PARENTS[j]] @ part if PARENTS[j] >= 0 else part
            moves[k] = at[j] - rotations[k] @ self.centres[j]
        surface = 0.5 * blend_linear(skin, self.drive, rotations, moves) \
            + 0.5 * blend_dual(skin, self.drive, rotations, moves)
        shift = np.array([place[0], -surface[:, 1].min() if stand else 0.0, place[1]])
        return Posed(name, surface + shift, at + shift, turns, slide)

    def _share(self, joint, turn, share, kind):
        vector = Rotation.from_matrix(turn).as_rotvec()
        if kind == "turn":
            return Rotation.from_rotvec(share * vector).as_matrix()
        child = NAMES.index({"shoulder": "elbow", "hip": "knee"}[joint[:-2]] + joint[-2:])
        axis = _unit(self.centres[child] - self.joint(joint))
        # turn = swing twist, with the twist about the bone
        q = Rotation.from_matrix(turn).as_quat()
        angle = 2 * np.arctan2(q[:3] @ axis, q[3])
        angle = (angle + np.pi) % (2 * np.pi) - np.pi
        return turn @ Rotation.from_rotvec((share - 1) * angle * axis).as_matrix()

    # ---- the skin's own motion ----

    def moved_skin(self, local, seed):
        """The skin before it is skinned, and how far each point slid."""
        moved = np.zeros_like(self.points)
        for j, name in enumerate(NAMES):
            if PARENTS[j] < 0 or name[:5] in ("forea", "toe.L", "toe.R"):
                continue
            vector = Rotation.from_matrix(local[j]).as_rotvec()
            if np.linalg.norm(vector) < 1e-6:
                continue
            offset = self.points - self.centres[j]
            near = np.exp(-(offset ** 2).sum(axis=1) / (REACH.get(name.split(".")[0], 0.12) * self.scale) ** 2)
            share = (1 - 2 * self.beyond[:, j]) * near * self._limb(j)
            moved += 0.35 * share[:, None] * np.cross(vector, offset)
        moved -= self.normals * (moved * self.normals).sum(axis=1, keepdims=True)
        moved = _limited(self.slide_share * moved)
        moved = self._onto_surface(self.points + moved) - self.points
        moved *= np.minimum(1, 0.025 / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9))
        skin = self.points + moved
        slide = np.linalg.norm(skin - self.points, axis=1)
        normal = np.zeros(len(self.points))
        for joint, axis, shape, amount in self.bulges:
            vector = Rotation.from_matrix(local[joint]).as_rotvec()
            angle = np.linalg.norm(vector) if axis is None else vector @ axis
            normal += amount * shape * (1 - np.exp(-(angle / np.radians(50)) ** 2))
        for joint, waves in enumerate(self.waves):
            vector = Rotation.from_matrix(local[joint]).as_rotvec()
            angle = np.linalg.norm(vector)
            if angle > 1e-9:
                normal += waves @ (vector / angle * np.sin(angle / 2))
        skin = skin + _limited(self.bulge_share * normal[:, None] * self.normals)
        return (skin if seed is None else skin + self._drift(seed)), slide

    def _limb(self, j):
        """1 on skin that follows the joint, its parent or its children, falling to 0 on other limbs."""
        near = {j, PARENTS[j], PARENTS[PARENTS[j]] if PARENTS[PARENTS[j]] >= 0 else j}
        near |= {k for k, p in enumerate(PARENTS) if p == j or (p >= 0 and PARENTS[p] == j)}
        return self.weights[:, sorted(near)].sum(axis=1)

    def _onto_surface(self, points):
        """Moves points that slid along a tangent back to the tangent planes of the nearest vertices."""
        distances, nearest = self.tree.query(points, 4)
        share = 1 / (distances + 1e-4) ** 2
        share /= share.sum(axis=1, keepdims=True)
        height = ((points[:, None] - self.points[nearest]) * self.normals[nearest]).sum(axis=2)
        step = (share[:, :, None] * height[:, :, None] * self.normals[nearest]).sum(axis=1)
        moved = np.linalg.norm(points - self.points, axis=1)
        return points - step * np.clip(moved / 0.002, 0, 1)[:, None]

    def _drift(self, seed):
        random = np.random.default_rng([7919, seed])
        waves = random.normal(size=(14, 3)) / (0.11 * self.scale)
        phases, ways = random.uniform(0, 2 * np.pi, 14), random.normal(size=(14, 3))
        field = np.cos(self.points @ waves.T + phases) @ ways / np.sqrt(7 * 3)
        offset = (self.points - (self.joint("chest") + self.joint("neck")) / 2) / (self.scale * np.array([0.2, 0.18, 0.2]))
        breath = np.exp(-(offset ** 2).sum(axis=1)) * random.normal() * 1.2
        return self.drift * (field + breath[:, None] * self.normals)

    def _set_bulges(self):
        """(joint, axis or None, shape [vertices], metres at half a turn)"""
        self.bulges = []

        def add(joint, axis, centre, radius, amount, beyond):
            near = np.exp(-((self.points - centre) ** 2).sum(axis=1) / (radius * self.scale) ** 2)
            mask = sum(self.weights[:, NAMES.index(n)] for n in beyond)
            self.bulges.append((NAMES.index(joint), axis, near * mask, 1.4 * amount * self.scale))

        chest, neck, waist, hips = (self.joint(n) for n in ("chest", "neck", "waist", "hips"))
        for s in ("L", "R"):
            at = {n: self.joint(f"{n}.{s}") for n in SIDED}
            j = {n: f"{n}.{s}" for n in SIDED}
            bend, knee = self.axes[j["elbow"]], self.axes[j["knee"]]
            upper, lower = at["elbow"] - at["shoulder"], at["wrist"] - at["elbow"]
            front = np.cross(bend, _unit(upper))
            add(j["elbow"], bend, at["shoulder"] + 0.6 * upper + 0.04 * front, 0.06, 0.016, [j["shoulder"]])
            add(j["elbow"], bend, at["shoulder"] + 0.5 * upper - 0.04 * front, 0.07, -0.006, [j["shoulder"]])
            add(j["elbow"], bend, at["elbow"] + 0.25 * lower, 0.06, 0.009, [j["elbow"], j["forearm"]])
            add(j["shoulder"], None, at["shoulder"] + [0, 0.03, 0], 0.09, 0.016, [j["shoulder"], j["clavicle"]])
            add(j["shoulder"], None, 0.5 * (at["shoulder"] + chest) + [0, 0, 0.09], 0.1, 0.014, ["chest", j["clavicle"]])
            add(j["shoulder"], None, 0.6 * at["shoulder"] + 0.4 * chest + [0, 0, -0.09], 0.1, 0.02,
                ["chest", j["clavicle"]])
            add(j["clavicle"], None, 0.5 * (at["shoulder"] + neck), 0.07, 0.06, [j["clavicle"], "chest", "neck"])
            shin, thigh = at["ankle"] - at["knee"], at["knee"] - at["hip"]
            back = np.array([0, 0, -1.0])
            add(j["knee"], knee, at["knee"] + 0.3 * shin + 0.05 * back, 0.08, 0.014, [j["knee"]])
            add(j["knee"], knee, at["hip"] + 0.6 * thigh + 0.06 * back, 0.1, 0.014, [j["hip"]])
            add(j["knee"], knee, at["hip"] + 0.7 * thigh - 0.06 * back, 0.1, -0.008, [j["hip"]])
            add(j["knee"], knee, at["knee"] - 0.05 * back, 0.06, -0.008, [j["hip"], j["knee"]])
            add(j["hip"], np.array([-1.0, 0, 0]), at["hip"] + 0.1 * back, 0.12, -0.024, ["hips", j["hip"]])
            add(j["hip"], np.array([-1.0, 0, 0]), at["hip"] - 0.1 * back + [0, -0.05, 0], 0.09, 0.016, ["hips", j["hip"]])
        add("waist", None, waist + [0, 0, 0.12], 0.13, 0.06, ["waist", "hips", "chest"])
        add("chest", None, chest + [0, -0.02, 0.1], 0.12, 0.05, ["waist", "chest"])
        add("waist", None, hips + [0, 0.06, -0.1], 0.1, -0.04, ["waist", "hips"])
        add("neck", None, neck + [0, 0.03, 0], 0.07, 0.03, ["neck", "head", "chest"])
        random = np.random.default_rng([65537, int(1000 * self.height)])
        self.waves, other = [], {}
        mirror = np.array([-1.0, 1, 1])
        for j, name in enumerate(NAMES):
            kind, _, side = name.partition(".")
            reach = 1.6 * REACH.get(kind, 0) * self.scale
            if not reach or kind in ("head", "wrist"):
                self.waves.append(np.zeros((len(self.points), 3)))
                continue
            if side == "R":  # as on the left: a mirrored turn has other signs about y and z
                way, phase = other[kind]
            else:
                way, phase = _unit(random.normal(size=(2, 3, 3))) * (2.5 / reach), random.uniform(0, 2 * np.pi, (2, 3))
            offset = self.points - self.centres[j]

            def waves(at):
                return sum(np.cos(at @ w.T + p) for w, p in zip(way, phase))

            if side == "L":
                other[kind] = (way, phase)
                own = waves(offset)
            elif side == "R":
                own = waves(offset * mirror) * [1, -1, -1]
            else:
                own = (waves(offset) + waves(offset * mirror) * [1, -1, -1]) * np.sqrt(0.5)
            near = np.exp(-(offset ** 2).sum(axis=1) / reach ** 2) * self._limb(j)
            self.waves.append(WAVE * self.scale * near[:, None] * own)

    # ---- points on the skin ----

    def markers(self, per_bone=12, seed=1):
        """[(name, joint, triangle, colour number)]: spread over the skin that follows the bone more than others."""
        random = np.random.default_rng([104729, seed])
        middle = self.points[self.triangles].mean(axis=1)
        weights = self.weights[self.triangles].mean(axis=1)
        whole = self.drive[self.triangles].mean(axis=1)  # without skin that follows only a share of the turn
        counts = {"neck": 0.5, "clavicle": 0.5, "toe": 0.35, "wrist": 0.7, "ankle": 0.7, "waist": 0.8}
        chosen = []
        outer = self.outer()
        flat = outer[self.triangles].all(axis=1)
        for j, name in enumerate(NAMES):
            kind = name.split(".")[0]
            if kind == "elbow":  # the forearm has the skin
                continue
            own = whole[:, j] if kind != "forearm" else weights[:, j]
            # No skin follows the collar bone alone: there, the skin that does so most.
            room = np.flatnonzero((own > min(0.95, 0.85 * own[flat].max())) & flat)
            if kind == "wrist":  # the back and the palm of the hand, no fingers
                away = np.linalg.norm(middle[room] - self.centres[j], axis=1)
                room = room[away < 0.095 * self.scale]
            if name == "head":   # no eyes and ears
                room = room[np.abs(self.triangle_normal(room)[:, 1]) < 0.95]
            wanted = max(3, round(per_bone * counts.get(kind, 1.0)))
            if len(room) == 0:
                raise ValueError(f"no skin for markers of {name}")
            picked = [int(random.choice(room))]
            least = np.full(len(room), np.inf)
            while len(picked) < min(wanted, len(room)):  # farthest points, with some chance
                least = np.minimum(least, np.linalg.norm(middle[room] - middle[picked[-1]], axis=1))
                order = np.argsort(-least)[:3]
                picked.append(int(room[random.choice(order)]))
            chosen += [(f"{name}-{n + 1:02d}", name, triangle) for n, triangle in enumerate(picked)]
        places = middle[[c[2] for c in chosen]]
        colours = np.full(len(chosen), -1)
        for m in range(len(chosen)):  # the colour whose nearest spot is the farthest
            off = [np.linalg.norm(places[:m][colours[:m] == c] - places[m], axis=1).min(initial=9) for c in range(8)]
            colours[m] = int(np.argmax(off))
        return [(*chosen[m], int(colours[m])) for m in range(len(chosen))]

    def triangle_normal(self, which):
        a, b, c = (self.points[self.triangles[which, k]] for k in range(3))
        return _unit(np.cross(b - a, c - a))

    def outer(self):
        """Skin that can be seen: no mouth, nostrils and eye sockets. A point counts if no skin is in front of it."""
        if not hasattr(self, "_outer"):
            import scanner
            ears = np.zeros(len(self.points))
            for camera in scanner.ring(10, self.points.mean(axis=0) + [0, 0, 0], self.height):
                ears = np.maximum(ears, scanner.seen(camera, self.points, self.triangles, self.normals, 0.004))
            self._outer = ears > 0.15
        return self._outer


WAVE = 0.033  # metres

# Metres, for a person of 1.75 m: how far the skin slides around a joint.
REACH = {"shoulder": 0.14, "clavicle": 0.1, "elbow": 0.1, "wrist": 0.06, "hip": 0.17, "knee": 0.12, "ankle": 0.07,
         "waist": 0.18, "chest": 0.18, "neck": 0.09, "head": 0.08}


def _limited(moved, most=0.025):
    """Vectors, none longer than this."""
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    return moved / (1 + (length / most) ** 4) ** 0.25


def vertex_normals(points, triangles):
    a, b, c = points[triangles[:, 0]], points[triangles[:, 1]], points[triangles[:, 2]]
    across = np.cross(b - a, c - a)
    normals = np.zeros_like(points)
    for k in range(3):
        for d in range(3):
            normals[:, d] += np.bincount(triangles[:, k], across[:, d], len(points))
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)


def blend_linear(points, weights, rotations, moves):
    whole = (weights @ rotations.reshape(len(rotations), 9)).reshape(-1, 3, 3)
    return np.einsum("vij,vj->vi", whole, points) + weights @ moves


def blend_dual(points, weights, rotations, moves):
    """Dual quaternions; a bone on the other half of the sphere than the heaviest one is reversed."""
    real = Rotation.from_matrix(rotations).as_quat()[:, [3, 0, 1, 2]]
    w, x, y, z = real.T
    a, b, c = moves.T
    dual = 0.5 * np.stack([-a * x - b * y - c * z, a * w + b * z - c * y, -a * z + b * w + c * x,
                           a * y - b * x + c * w], axis=1)
    heavy = real[np.argmax(weights, axis=1)]
    signed = weights * np.where(heavy @ real.T < 0, -1.0, 1.0)
    r, d = signed @ real, signed @ dual
    size = np.linalg.norm(r, axis=1, keepdims=True)
    r, d = r / size, d / size
    turned = Rotation.from_quat(r[:, [1, 2, 3, 0]]).apply(points)
    s, v = r[:, :1], r[:, 1:]
    ds, dv = d[:, :1], d[:, 1:]
    return turned + 2 * (s * dv - ds * v + np.cross(v, dv))


# ---- poses ----

ARM = dict(out=18, fore=0, across=0, rot=0, lift=0, forth=0, elbow=12, twist=0, wrist=0)
LEG = dict(fore=0, out=6, rot=0, knee=2, ankle=0, roll=0, toe=0)


def angles(both=None, arms=None, L=None, R=None, legs=None, legL=None, legR=None, **trunk):
    """A pose in degrees. Arms: out to the side, fore(wards), across the body, rot(ation, inwards positive), lift and forth
    of the shoulder, elbow (0 is straight), twist of the forearm, wrist. Legs: fore, out, rot(ation, outwards), knee, ankle (toes up
    positive), roll, toe. Trunk: lean (forwards), side (to the left), twist (to the left)."""
    pose = dict(trunk)
    for side, own, leg in (("L", L, legL), ("R", R, legR)):
        pose[f"arm.{side}"] = {**ARM, **(arms or {}), **(own or {})}
        pose[f"leg.{side}"] = {**LEG, **(legs or {}), **(leg or {})}
    return pose


def _a(**k):
    return k


POSES = {
    # the first twelve are the small set, and the first is the reference
    "stand": angles(arms=_a(out=42, elbow=20)),
    "arms_out": angles(arms=_a(out=88, elbow=8)),
    "elbows_bent": angles(arms=_a(out=40, fore=15, elbow=95, twist=30), waist=(0, 0, 12), chest=(0, 0, 8)),
    "reach_up": angles(L=_a(out=150, elbow=15), R=_a(out=60, elbow=70, twist=-30), chest=(-5, 8, 0), neck=(-15, 0, 0)),
    "step_left": angles(arms=_a(out=35), L=_a(fore=-25, elbow=40), R=_a(fore=35, elbow=60, wrist=20),
                        legL=_a(fore=45, knee=50, ankle=10), legR=_a(fore=-15, knee=15, ankle=15, toe=25),
                        waist=(8, 0, -10)),
    "step_right": angles(arms=_a(out=35), R=_a(fore=-25, elbow=40), L=_a(fore=35, elbow=60, wrist=-25, twist=-40),
                         legR=_a(fore=45, knee=55, ankle=10), legL=_a(fore=-15, knee=18, ankle=15, toe=25),
                         waist=(8, 0, 12), neck=(0, 0, -25)),
    "squat": angles(arms=_a(fore=75, out=15, elbow=20), legs=_a(fore=85, out=18, rot=8, knee=95, ankle=22),
                    hips=(18, 0, 0), waist=(14, 0, 0)),
    "lean_side": angles(arms=_a(out=50, elbow=35), L=_a(out=110, elbow=60), waist=(0, -22, 0), chest=(0, -14, 0),
                        neck=(0, -15, 10)),
    "bend_over": angles(arms=_a(fore=60, out=25, elbow=30, wrist=25), waist=(28, 0, 0), chest=(22, 0, 0),
                        neck=(20, 0, 0), head=(12, 0, 0), legs=_a(fore=12, knee=22)),
    "twist": angles(L=_a(out=80, across=-20, elbow=75, twist=50), R=_a(out=70, elbow=110, wrist=-30), waist=(0, 0, 25),
                    chest=(0, 0, 20), neck=(0, 0, 30), head=(0, 10, 15), legL=_a(out=22, rot=-20)),
    "kick": angles(arms=_a(out=60, elbow=30), legR=_a(fore=70, knee=25, out=12, ankle=-25, toe=-15),
                   legL=_a(knee=12), waist=(-6, 6, 0), head=(10, 0, 0)),
    "arms_forward": angles(arms=_a(fore=85, out=20, elbow=15, forth=12), L=_a(twist=60, wrist=35),
                           R=_a(twist=-60, wrist=-35), legL=_a(fore=-20, knee=70, ankle=-15), chest=(8, 0, 0)),
    # the others of forty
    "hands_on_hips": angles(arms=_a(out=48, fore=-12, rot=50, elbow=95, twist=-20, wrist=20)),
    "shrug": angles(arms=_a(out=30, lift=18, elbow=60), neck=(12, 0, 0)),
    "arms_crossed": angles(L=_a(fore=45, out=10, rot=55, elbow=105, forth=15), R=_a(fore=52, out=10, rot=50, elbow=100,
                                                                                 forth=15)),
    "arms_behind": angles(arms=_a(fore=-32, out=16, rot=55, elbow=65, forth=-12)),
    "sitting": angles(arms=_a(fore=35, out=16, elbow=65), legs=_a(fore=85, out=14, knee=88), waist=(6, 0, 0)),
    "sitting_lean": angles(arms=_a(fore=55, out=22, elbow=55), legs=_a(fore=95, out=18, knee=80, ankle=8),
                           waist=(22, 0, 0), chest=(16, 0, 0), neck=(-10, 0, 0)),
    "crouch": angles(arms=_a(fore=55, out=25, elbow=80), legs=_a(fore=105, out=24, rot=12, knee=125, ankle=28, toe=10),
                     hips=(22, 0, 0), waist=(22, 0, 0), chest=(12, 0, 0)),
    "lunge": angles(arms=_a(out=60, elbow=25), legL=_a(fore=75, knee=85, ankle=8), legR=_a(fore=-28, knee=35, ankle=22,
                                                                                      toe=35)),
    "one_knee_up": angles(L=_a(out=70, elbow=40), R=_a(fore=60, elbow=100), legR=_a(fore=88, knee=105, ankle=12)),
    "throw": angles(R=_a(out=95, across=-25, rot=-70, elbow=90), L=_a(fore=65, out=25, elbow=25), waist=(-5, 0, -22),
                    chest=(0, 0, -18), legL=_a(fore=35, knee=30), legR=_a(fore=-12, knee=12)),
    "throw_end": angles(R=_a(fore=75, out=10, across=15, rot=30, elbow=35), L=_a(fore=-20, elbow=80), waist=(12, 0, 22),
                        chest=(10, 0, 18), legL=_a(fore=40, knee=45, ankle=15)),
    "salute": angles(R=_a(out=75, fore=20, rot=-35, elbow=130, twist=20), neck=(0, 0, -10)),
    "phone": angles(L=_a(fore=35, out=30, rot=-20, elbow=138, twist=35), neck=(5, 14, 0), head=(0, 8, 10)),
    "arms_up": angles(arms=_a(out=155, elbow=10)),
    "hands_on_head": angles(arms=_a(out=110, across=10, rot=-60, elbow=128)),
    "scratch_back": angles(R=_a(out=150, rot=-40, elbow=125), L=_a(fore=-28, out=15, rot=60, elbow=90)),
    "side_kick": angles(arms=_a(out=55, elbow=50), legL=_a(out=52, fore=10, knee=15), hips=(0, -10, 0),
                        waist=(0, 14, 0)),
    "tiptoe": angles(arms=_a(out=65, elbow=12), legs=_a(ankle=-32, toe=30), neck=(-20, 0, 0)),
    "heel_back": angles(arms=_a(out=38, elbow=25), legL=_a(fore=-8, knee=112, ankle=-20), legR=_a(out=9)),
    "look_left": angles(arms=_a(out=30, elbow=15), neck=(0, 0, 35), head=(0, 0, 25), chest=(0, 0, 10)),
    "look_down": angles(arms=_a(out=32, elbow=45, wrist=35), neck=(28, 0, 0), head=(18, 0, 0), chest=(10, 0, 0)),
    "look_up": angles(arms=_a(out=34, elbow=30, wrist=-40, twist=60), neck=(-25, 0, 0), head=(-18, 0, 0),
                      chest=(-10, 0, 0), waist=(-8, 0, 0)),
    "palms_up": angles(arms=_a(out=35, fore=20, elbow=75, twist=-80)),
    "palms_down": angles(arms=_a(out=35, fore=20, elbow=85, twist=60, wrist=-30)),
    "push": angles(arms=_a(fore=80, out=18, elbow=55, wrist=-60, forth=10), legL=_a(fore=30, knee=35, ankle=12),
                   legR=_a(fore=-18, knee=10, ankle=18), waist=(14, 0, 0)),
    "pull": angles(arms=_a(fore=-20, out=28, elbow=115, forth=-15, twist=20), chest=(-6, 0, 0)),
    "lie_arms": angles(L=_a(out=120, elbow=55, rot=-30), R=_a(fore=20, out=25, elbow=60), waist=(0, 12, -14),
                       legL=_a(fore=30, knee=60, rot=-25, out=18)),
    "turn_feet": angles(arms=_a(out=45, elbow=55, twist=-50), legL=_a(rot=-30, out=12), legR=_a(rot=18, fore=15, knee=25),
                        waist=(0, -10, 14)),
}

HELD_OUT = {
    "held_walk": angles(arms=_a(out=25), L=_a(fore=28, elbow=35), R=_a(fore=-22, elbow=22), legL=_a(fore=-18, knee=22,
                        ankle=8, toe=20), legR=_a(fore=28, knee=12, ankle=5), waist=(4, 0, 8), chest=(0, 0, 6)),
    "held_wave": angles(L=_a(out=105, rot=-50, elbow=85, twist=25, wrist=-15), R=_a(out=28, elbow=30), neck=(0, 8, 12)),
    "held_half_squat": angles(arms=_a(fore=50, out=28, elbow=50), legs=_a(fore=55, out=14, knee=62, ankle=16),
                              hips=(10, 0, 0), waist=(14, 0, 0)),
    "held_elbows": angles(arms=_a(out=60, fore=12, elbow=65, twist=20)),
    "held_up": angles(L=_a(out=80, elbow=25), R=_a(out=130, elbow=30), chest=(0, -8, 0), waist=(0, -8, 0)),
    "held_twist": angles(arms=_a(out=55, elbow=60), waist=(6, 6, -20), chest=(4, 0, -16), neck=(0, 0, -20)),
    "held_lean": angles(arms=_a(fore=35, out=35, elbow=25), waist=(20, 8, 0), chest=(14, 6, 0), neck=(10, 0, 0),
                        legL=_a(fore=18, knee=22)),
    "held_knee": angles(L=_a(out=50, elbow=45), R=_a(out=65, elbow=25), legL=_a(fore=58, knee=75, ankle=5),
                        waist=(4, -5, 0)),
    "held_forward": angles(L=_a(fore=65, out=25, elbow=35, twist=30), R=_a(out=55, fore=25, elbow=90, wrist=20),
                           head=(8, 0, 12)),
    "held_back_step": angles(arms=_a(out=45, elbow=35), legR=_a(fore=-15, knee=48, ankle=-8), legL=_a(fore=14, knee=15,
                             out=12), chest=(-4, 6, 10)),
}


def varied(pose, random, degrees):
    """The pose as a person holds it: every angle off by a few degrees, and hinges within what they can do."""
    out = {}
    for name, value in pose.items():
        if isinstance(value, dict):
            out[name] = {k: v + degrees * random.normal() * (0.4 if k in ("lift", "forth", "roll", "toe") else 1)
                         for k, v in value.items()}
        else:
            out[name] = tuple(v + degrees * random.normal() for v in value)
    for name in ("waist", "chest", "neck", "head", "hips"):
        out.setdefault(name, tuple(0.6 * degrees * random.normal() for _ in range(3)))
    for side in "LR":
        out[f"arm.{side}"]["elbow"] = float(np.clip(out[f"arm.{side}"]["elbow"], 2, 140))
        out[f"leg.{side}"]["knee"] = float(np.clip(out[f"leg.{side}"]["knee"], 0, 130))
    return out


def library(count=12, seed=1, degrees=3.0, symmetric=False, held=True, names=None):
    """{name: pose}: the first count of POSES, or those named, then HELD_OUT. The first is the reference; symmetric:
    exactly as written."""
    random = np.random.default_rng([31337, seed])
    names = names or list(POSES)[:count]
    chosen = {name: POSES[name] for name in names} | (HELD_OUT if held else {})
    poses = {name: varied(pose, random, degrees) for name, pose in chosen.items()}
    if symmetric:
        poses[names[0]] = POSES[names[0]]
    return poses


def all_poses(person, poses, seed=1):
    """[Posed]: each stands somewhere near the middle and faces roughly +z."""
    random = np.random.default_rng([271828, seed])
    posed = []
    for number, (name, pose) in enumerate(poses.items()):
        lean, side, yaw = pose.get("hips", (0, 0, 0))
        pose = {**pose, "hips": (lean, side, yaw + (8 * random.normal() if number else 0))}
        if person.loose:
            pose["off"] = {f"{n}.{s}": person.loose * random.normal(size=3) for n in ("wrist", "knee", "elbow")
                           for s in "LR"}
        place = 0.04 * random.normal(size=2) if number else (0.0, 0.0)
        posed.append(person.pose(pose, seed=100 * seed + number, name=name, place=place))
    return posed


def write_obj(path, points, faces, texture=None):
    with open(path, "w") as file:
        np.savetxt(file, points, "v %.6f %.6f %.6f")
        np.savetxt(file, np.asarray(faces) + 1, "f " + " ".join(["%d"] * np.shape(faces)[1]))


def person_options(parser):
    parser.add_argument("--person", default="adult", choices=list(PEOPLE), help="one of the people (default: adult)")
    for name in ("gender", "age", "weight", "muscle", "height", "legs", "arms"):
        parser.add_argument(f"--{name}", type=float, help=f"instead of the person's own {name}")
    parser.add_argument("--uneven", type=float, default=0.006, help="metres, left and right differ (default: 0.006)")
    parser.add_argument("--slide", type=float, default=1.0, help="share of the skin's sliding (default: 1)")
    parser.add_argument("--bulge", type=float, default=1.0, help="share of the bulges (default: 1)")
    parser.add_argument("--drift", type=float, default=0.002, help="metres, random part of each pose (default: 0.002)")
    parser.add_argument("--loose", type=float, default=0.0, help="degrees that hinges turn off their axes (default: 0)")
    parser.add_argument("--vary", type=float, default=3.0, help="degrees that poses are off their list (default: 3)")
    parser.add_argument("--symmetric", action="store_true", help="the reference pose is exactly symmetric")
    parser.add_argument("--seed", type=int, default=1)


def person_of(options):
    figure = dict(PEOPLE[options.person])
    figure.update({n: getattr(options, n) for n in ("gender", "age", "weight", "muscle", "height", "legs", "arms")
                   if getattr(options, n) is not None})
    figure["uneven"] = options.uneven
    return Person(options.data, loose=options.loose, slide=options.slide, bulge=options.bulge, drift=options.drift,
                  **figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="the folder makehuman, with 3dobjs, rigs and targets")
    parser.add_argument("folder")
    parser.add_argument("--poses", type=int, default=12)
    person_options(parser)
    options = parser.parse_args()
    person, folder = person_of(options), Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for posed in all_poses(person, library(options.poses, options.seed, options.vary, options.symmetric), options.seed):
        write_obj(folder / f"{posed.name}.obj", posed.surface, person.quads)
        print(f"{posed.name:18s} skin slides {1000 * posed.slide.max():.1f} mm at most, "
              f"{1000 * np.sqrt((posed.slide ** 2).mean()):.1f} mm RMS")
    (folder / "joints.json").write_text(json.dumps({n: c.round(6).tolist() for n, c in zip(NAMES, person.centres)}))


if __name__ == "__main__":
    main()
