#!/usr/bin/python3
"""Compares motions on a small skeleton, through motion_probe, with numpy and scipy.

  motion_oracle.py PROBE DATA   DATA is a folder with mocap/bvh/02_01.bvh; one line per case, then "N passed, M failed"

BVH files are parsed here independently and played with 3 x 3 matrices in double. A person with other proportions,
another rest pose and turned joint axes must follow. Every mapped joint has the world rotation of its counterpart
relative to that one's rest, after the bones at rest were turned onto each other, starting from the rotation of the
joint above (the shortest arc, or Kabsch's rotation for several). The hips follow a path scaled by the length of the
legs. Rotations agree within 2e-5 (entries of matrices), positions within 1e-5 of the person's height. One motion is
generated here, so there is always one; the real one is used if it is available.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

import skips

# Our joint, its parent, its position at rest (an A pose, 1.7 high, facing z), and the joint of the motion that moves
# it.
PERSON = [
    ("root", None, (0, 0, 0), None),
    ("pelvis", "root", (0, 0.95, 0.01), "Hips"),
    ("spine1", "pelvis", (0, 1.05, 0), "Spine"),
    ("spine2", "spine1", (0, 1.2, -0.02), None),
    ("chest", "spine2", (0, 1.3, -0.02), "Spine1"),
    ("neck", "chest", (0, 1.48, 0), "Neck"),
    ("head", "neck", (0, 1.56, 0.02), "Head"),
    ("jaw", "head", (0, 1.56, 0.1), None),
    ("eye", "head", (0.03, 1.64, 0.09), None),
    ("collar.L", "chest", (0.05, 1.42, 0.02), "LeftShoulder"),
    ("upperarm.L", "collar.L", (0.18, 1.4, 0), "LeftArm"),
    ("twist.L", "upperarm.L", (0.28, 1.3, 0), None),
    ("lowerarm.L", "twist.L", (0.38, 1.21, 0.01), "LeftForeArm"),
    ("hand.L", "lowerarm.L", (0.55, 1.05, 0.05), "LeftHand"),
    ("finger.L", "hand.L", (0.62, 0.97, 0.07), None),
    ("upperarm.R", "chest", (-0.18, 1.4, 0), "RightArm"),
    ("lowerarm.R", "upperarm.R", (-0.38, 1.21, 0.01), "RightForeArm"),
    ("thigh.L", "pelvis", (0.1, 0.9, 0), "LeftUpLeg"),
    ("shin.L", "thigh.L", (0.12, 0.5, 0.02), "LeftLeg"),
    ("foot.L", "shin.L", (0.13, 0.08, -0.02), "LeftFoot"),
    ("toe.L", "foot.L", (0.15, 0.02, 0.12), "LeftToeBase"),
    ("little_toe.L", "foot.L", (0.19, 0.02, 0.09), "LeftToeBase"),
    ("thigh.R", "pelvis", (-0.1, 0.9, 0), "RightUpLeg"),
    ("shin.R", "thigh.R", (-0.12, 0.5, 0.02), "RightLeg"),
    ("foot.R", "shin.R", (-0.13, 0.08, -0.02), "RightFoot"),
]
NAMES = [row[0] for row in PERSON]
PARENTS = [NAMES.index(row[1]) if row[1] else -1 for row in PERSON]
PLACES = np.array([row[2] for row in PERSON], float)
HEIGHT = 1.7
AS_THEY_REST = ("chest", "collar.L")


# ---- BVH ----

class Bvh:
    """Joints in the order of the file; end sites are joints without a name."""

    def __init__(self, path):
        words = iter(path.read_text().split())
        self.names, self.parents, self.offsets, self.channels = [], [], [], []
        open_joints = []
        for word in words:
            if word in ("ROOT", "JOINT", "End"):
                name = next(words)
                self.names.append(name if word != "End" else None)
                self.parents.append(open_joints[-1] if open_joints else -1)
                self.offsets.append(None)
                self.channels.append([])
            elif word == "{":
                open_joints.append(len(self.names) - 1)
            elif word == "}":
                open_joints.pop()
            elif word == "OFFSET":
                self.offsets[open_joints[-1]] = [float(next(words)) for _ in range(3)]
            elif word == "CHANNELS":
                self.channels[open_joints[-1]] = [next(words) for _ in range(int(next(words)))]
            elif word == "MOTION":
                break
        assert next(words) == "Frames:"
        count = int(next(words))
        assert next(words) == "Frame" and next(words) == "Time:"
        self.step = float(next(words))
        self.frames = np.array([float(word) for word in words]).reshape(count, -1)
        self.offsets = np.array(self.offsets)

    def worlds(self, numbers):
        """Places [J, 3] and rotations [J, 3, 3] of one frame; None: at rest."""
        places, turns, at = [], [], 0
        for joint, parent in enumerate(self.parents):
            place, turn = self.offsets[joint].copy(), np.eye(3)
            for channel in self.channels[joint] if numbers is not None else []:
                if channel.endswith("position"):
                    place["XYZ".index(channel[0])] = numbers[at]
                else:
                    turn = turn @ Rotation.from_euler(channel[0].lower(), numbers[at], degrees=True).as_matrix()
                at += 1
            if parent >= 0:
                place, turn = places[parent] + turns[parent] @ place, turns[parent] @ turn
            places.append(place)
            turns.append(turn)
        return np.array(places), np.array(turns)

    def is_below(self, joint, above):
        while joint >= 0 and joint != above:
            joint = self.parents[joint]
        return joint == above


# ---- expected results ----

def unit(v):
    length = np.linalg.norm(v)
    return v / length if length > 1e-4 else None


def arc(a, b):
    axis, cosine = np.cross(a, b), a @ b
    sine = np.linalg.norm(axis)
    return Rotation.from_rotvec(axis / sine * np.arctan2(sine, cosine)).as_matrix() if sine > 1e-12 else np.eye(3)


def children(parents, joint):
    return [j for j, parent in enumerate(parents) if parent == joint]


def bones(bvh, rest, sources, joint):
    """Pairs of directions, ours and theirs, from a joint to the next ones below at another place."""
    pairs, todo = [], children(PARENTS, joint)
    while todo:
        j = todo.pop()
        ours = theirs = None
        if sources[j] is not None and bvh.is_below(sources[j], sources[joint]):
            ours, theirs = unit(PLACES[j] - PLACES[joint]), unit(rest[sources[j]] - rest[sources[joint]])
        if ours is not None and theirs is not None:
            pairs.append((ours, theirs))
        else:
            todo += children(PARENTS, j)
    return pairs


def alignments(bvh, rest, sources):
    result = {}
    for joint, source in enumerate(sources):
        if source is None:
            continue
        above = PARENTS[joint]
        while above >= 0 and sources[above] is None:
            above = PARENTS[above]
        start = result[above] if above >= 0 else np.eye(3)
        if NAMES[joint] in AS_THEY_REST:
            result[joint] = start
            continue
        pairs = bones(bvh, rest, sources, joint)
        ours, theirs = children(PARENTS, joint), children(bvh.parents, source)
        if not pairs and len(ours) == 1 and len(theirs) == 1:
            pair = unit(PLACES[ours[0]] - PLACES[joint]), unit(rest[theirs[0]] - rest[source])
            pairs = [pair] if pair[1] is not None else []
        if len({tuple(theirs) for _, theirs in pairs}) == 1:
            result[joint] = arc(unit(start @ sum(ours for ours, _ in pairs)), pairs[0][1]) @ start
        elif pairs:
            a, b = (np.array(side) for side in zip(*pairs))
            result[joint] = Rotation.align_vectors(b, a)[0].as_matrix()
        else:
            result[joint] = start
    return result


def leg(bvh, rest, sources):
    """Lengths of ours and theirs: thigh, shin and other matched bones down to their lowest joint."""
    joint, ours, theirs = int(np.argmin(rest[:, 1])), [], []
    while bvh.names[joint] != "Hips":
        if joint in sources:
            ours.append(PLACES[sources.index(joint)])
            theirs.append(rest[joint])
        joint = bvh.parents[joint]
    return [sum(np.linalg.norm(a - b) for a, b in zip(way, way[1:])) for way in (ours, theirs)]


def standing(align, turns, sources):
    """Height of the pelvis above our lowest joint below it, with bones along theirs at rest."""
    places, now = np.zeros((len(NAMES), 3)), np.zeros((len(NAMES), 3, 3))
    for j, parent in enumerate(PARENTS):
        now[j] = align[j] @ turns[j] if sources[j] is not None else \
            now[parent] @ turns[parent].T @ turns[j] if parent >= 0 else turns[j]
        places[j] = places[parent] + now[parent] @ turns[parent].T @ (PLACES[j] - PLACES[parent]) if parent >= 0 else \
            PLACES[j]
    pelvis = NAMES.index("pelvis")
    return places[pelvis, 1] - places[pelvis:, 1].min()


def expected(bvh, turns, sources, fps):
    """Scale and times, and for each time the positions and rotations of all our joints."""
    rest, rest_turns = bvh.worlds(None)
    align = alignments(bvh, rest, sources)
    hips = sources[NAMES.index("pelvis")]
    ours, theirs = leg(bvh, rest, sources)
    scale = ours / theirs
    lift = standing(align, turns, sources) - scale * (rest[hips][1] - rest[:, 1].min())
    count = len(bvh.frames)
    times = np.arange(count) * bvh.step if fps == 0 else np.arange(int((count - 1) * bvh.step * fps + 1e-6) + 1) / fps
    answer = []
    for time in times:
        at = min(int(time / bvh.step + 1e-9), count - 1)
        part = time / bvh.step - at
        their_places, their_turns = bvh.worlds(bvh.frames[at]) if part < 1e-9 or at == count - 1 else \
            between(bvh, at, part)
        our_places, our_turns = np.zeros((len(NAMES), 3)), np.zeros((len(NAMES), 3, 3))
        for j, parent in enumerate(PARENTS):
            local = (turns[parent].T if parent >= 0 else np.eye(3)) @ turns[j]
            offset = turns[parent].T @ (PLACES[j] - PLACES[parent]) if parent >= 0 else PLACES[j]
            our_turns[j] = our_turns[parent] @ local if parent >= 0 else local
            our_places[j] = our_places[parent] + our_turns[parent] @ offset if parent >= 0 else offset
            if sources[j] is not None:
                our_turns[j] = their_turns[sources[j]] @ rest_turns[sources[j]].T @ align[j] @ turns[j]
            if NAMES[j] == "pelvis":
                our_places[j] = scale * their_places[hips] + [0, lift, 0]
        answer.append((our_places, our_turns))
    return scale, times, answer


def between(bvh, at, part):
    """Local rotations between two frames by scipy's Slerp."""
    sides = [bvh.worlds(bvh.frames[f]) for f in (at, at + 1)]
    locals_ = []
    for places, turns in sides:
        local = [(turns[p].T @ turns[j], turns[p].T @ (places[j] - places[p])) if p >= 0 else (turns[j], places[j])
                 for j, p in enumerate(bvh.parents)]
        locals_.append(local)
    places, turns = [], []
    for j, parent in enumerate(bvh.parents):
        pair = Rotation.from_matrix(np.array([locals_[0][j][0], locals_[1][j][0]]))
        turn = Slerp([0, 1], pair)(part).as_matrix()
        place = (1 - part) * locals_[0][j][1] + part * locals_[1][j][1]
        if parent >= 0:
            place, turn = places[parent] + turns[parent] @ place, turns[parent] @ turn
        places.append(place)
        turns.append(turn)
    return np.array(places), np.array(turns)


# ---- a generated motion ----

THEIRS = """Hips 6 0 0 0 {
LHipJoint 3 0 0 0 { LeftUpLeg 3 1.6 -1.8 0.8 { LeftLeg 3 2.5 -6.8 0 { LeftFoot 3 2.6 -7 0 { LeftToeBase 3 0.2 -0.5 2.2 {
. 0 0 0 1.1 } } } } } }
RHipJoint 3 0 0 0 { RightUpLeg 3 -1.6 -1.8 0.8 { RightLeg 3 -2.5 -6.8 0 { RightFoot 3 -2.6 -7 0 {
RightToeBase 3 -0.2 -0.5 2.1 { . 0 0 0 1.2 } } } } } }
LowerBack 3 0 0 0 { Spine 3 0 2.1 -0.2 { Spine1 3 0 2.1 0 {
Neck 3 0 0.1 0.1 { Neck1 3 -0.1 1.6 0.3 { Head 3 0.1 1.7 -0.2 { . 0 0 1.8 0 } } } }
LeftShoulder 3 0.3 0.2 0.1 { LeftArm 3 3.2 0 -0.1 { LeftForeArm 3 5 0 0 { LeftHand 3 3.5 0 0 { . 0 0.7 0 0 } } } } }
RightShoulder 3 -0.3 0.2 0.1 { RightArm 3 -3.2 0 0.1 { RightForeArm 3 -5 0 0 { RightHand 3 -3.6 0 0 { . 0 -0.7 0 0 } } } } }
} } } }"""


def write_motion(path, frames):
    words, lines, total, random = iter(THEIRS.split()), ["HIERARCHY"], 0, np.random.default_rng(5)
    orders, depth = ["Zrotation Yrotation Xrotation", "Xrotation Zrotation Yrotation"], 0
    for word in words:
        if word == "}":
            lines.append("}")
            continue
        channels = int(next(words))
        offset = " ".join(next(words) for _ in range(3))
        assert word == "." or next(words) == "{"
        lines.append("End Site" if word == "." else f"ROOT {word}" if depth == 0 else f"JOINT {word}")
        lines += ["{", f"OFFSET {offset}"]
        moves = "Xposition Yposition Zposition " if channels == 6 else ""
        if channels:
            lines.append(f"CHANNELS {channels} {moves}{orders[depth % 2]}")
        total += channels
        depth += 1
    phase, speed = random.uniform(0, 6, total), random.uniform(0.5, 3, total)
    times = np.arange(frames)[:, None] / 30
    numbers = 70 * np.sin(phase + speed * times)
    numbers[:, :3] = [0, 17, 0] + np.array([5, 2, 9]) * np.sin(phase[:3] + times)
    numbers[:, 3] = 150 * times[:, 0]  # several full turns
    lines += ["MOTION", f"Frames: {frames}", "Frame Time: 0.0333333"]
    lines += [" ".join(f"{x:.6f}" for x in row) for row in numbers]
    path.write_text("\n".join(lines) + "\n")


# ---- comparing ----

def compare(probe, path, folder, fps):
    bvh = Bvh(path)
    sources = [bvh.names.index(row[3]) if row[3] in bvh.names and row[3] else None for row in PERSON]
    assert sum(s is not None for s in sources) >= 12, "too few joints are there"
    turns = Rotation.random(len(NAMES), random_state=3).as_matrix()
    locals_ = [(turns[p].T @ turns[j], turns[p].T @ (PLACES[j] - PLACES[p])) if p >= 0 else (turns[j], PLACES[j])
               for j, p in enumerate(PARENTS)]
    lines = [str(len(NAMES))]
    for name, parent, (turn, place) in zip(NAMES, PARENTS, locals_):
        numbers = " ".join(f"{x:.17g}" for x in [*place, *Rotation.from_matrix(turn).as_quat()])
        lines.append(f"{name} {parent} {numbers}")
    map_path = folder / "map.json"
    pairs = {row[0]: {"from": row[3], "align": False} if row[0] in AS_THEY_REST else row[3]
             for row, s in zip(PERSON, sources) if s is not None}
    map_path.write_text(json.dumps({"joints": pairs}))
    done = subprocess.run([probe, str(path), str(map_path), str(fps)], input="\n".join(lines), capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr.strip())
    rows = done.stdout.splitlines()
    scale, times, answer = expected(bvh, turns, sources, fps)
    assert abs(float(rows[0].split()[0]) / scale - 1) < 1e-5, f"scale {rows[0]}, expected {scale}"
    assert int(rows[0].split()[1]) == len(times), f"{rows[0]} poses, expected {len(times)}"
    worst_turn = worst_place = 0.0
    for row, time, (places, rotations) in zip(rows[1:], times, answer):
        numbers = np.array(row.split(), float)
        assert abs(numbers[0] - time) < 1e-6
        worlds = numbers[1:].reshape(-1, 3, 4)
        worst_turn = max(worst_turn, np.abs(worlds[:, :, :3] - rotations).max())
        worst_place = max(worst_place, np.linalg.norm(worlds[:, :, 3] - places, axis=1).max())
    assert worst_turn < 2e-5, f"rotations are off by {worst_turn}"
    assert worst_place < 1e-5 * HEIGHT * max(1, np.abs(answer[-1][0]).max()), f"places are off by {worst_place} m"
    return f"{len(times)} poses, rotations within {worst_turn:.1e}, places within {worst_place:.1e} m"


def main():
    probe, data = sys.argv[1], skips.data_folder(sys.argv[2])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = folder / "own.bvh"
        write_motion(own, 60)
        real = data / "mocap/bvh/02_01.bvh"
        cases = [(own, 0), (own, 24)]
        if skips.has_data(data, "mocap/bvh/02_01.bvh"):
            cases += [(real, 0), (real, 24)]
        for path, fps in cases:
            try:
                print(f"{path.name}, fps {fps}: {compare(probe, path, folder, fps)}")
                passed += 1
            except AssertionError as error:
                print(f"FAILED {path.name}, fps {fps}: {error}")
                failed += 1
    print(f"{passed} passed, {failed} failed")
    skips.finish(failed)


if __name__ == "__main__":
    main()
