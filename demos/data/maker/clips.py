"""Poses and a walk of MakeHuman's BVH files (z up), as rotations of our joints."""
import numpy as np
from scipy.spatial.transform import Rotation

UPRIGHT = Rotation.from_euler("x", -90, degrees=True)
OLDER = {"Root": "root", "Spine1": "spine04", "Spine2": "spine03", "Spine3": "spine02", "Neck": "neck01",
         "Head": "head"}  # names of an older skeleton, which the walk has
LIMBS = (("UpArm", "LoArm"), ("LoArm", "Hand"), ("UpLeg", "LoLeg"), ("LoLeg", "Foot"))
for side in "LR":
    OLDER |= {f"{old}_{side}": f"{new}.{side}" for old, new in
              (("Clavicle", "clavicle"), ("UpArm", "upperarm01"), ("LoArm", "lowerarm01"), ("Hand", "wrist"),
               ("UpLeg", "upperleg01"), ("LoLeg", "lowerleg01"), ("Foot", "foot"), ("Toe", "toe1-1"))}
    OLDER |= {f"{finger}{bone}_{side}": f"finger{number}-{bone}.{side}" for number, finger in
              enumerate(("Thumb", "Index", "Middle", "Ring", "Pinky"), 1) for bone in (1, 2, 3)}


class Bvh:
    def __init__(self, path):
        self.names, self.parents, self.offsets, self.channels = [], [], [], []
        lines, stack, current = iter(path.read_text(errors="replace").splitlines()), [], None
        for line in lines:
            words = line.split() or [""]
            if words[0] in ("ROOT", "JOINT"):
                self.parents.append(stack[-1] if stack else -1)
                self.names.append(words[1])
                self.offsets.append(None)
                self.channels.append([])
                current = len(self.names) - 1
            elif words[0] == "End":
                current = None
            elif words[0] == "{":
                stack.append(current)
            elif words[0] == "}":
                stack.pop()
            elif words[0] == "OFFSET" and stack[-1] is not None:
                self.offsets[stack[-1]] = np.array(words[1:4], float)
            elif words[0] == "CHANNELS":
                self.channels[stack[-1]] = words[2:]
            elif words[0] == "MOTION":
                break
        count = int(next(lines).split()[1])
        next(lines)
        self.frames = [np.array(next(lines).split(), float) for _ in range(count)]
        self.places = []
        for offset, parent in zip(self.offsets, self.parents):
            self.places.append(offset + (self.places[parent] if parent >= 0 else 0))

    def turns(self, frame):
        """{joint: rotation in space, y up}"""
        values, found = iter(frame), []
        for parent, channels in zip(self.parents, self.channels):
            turn = Rotation.identity()
            for channel in channels:
                value = next(values)
                if channel.endswith("rotation"):
                    turn = turn * Rotation.from_euler(channel[0].lower(), value, degrees=True)
            found.append(turn if parent < 0 else found[parent] * turn)
        return {OLDER.get(name, name): UPRIGHT * turn * UPRIGHT.inv() for name, turn in zip(self.names, found)}


def between(a, b):
    """The shortest rotation from one direction to another."""
    axis = np.cross(a, b)
    size = np.linalg.norm(axis)
    return Rotation.from_rotvec(axis / max(size, 1e-12) * np.arctan2(size, a @ b))


def straighten(bvh, person):
    """{joint: rotation}: limbs that point elsewhere at rest in the file than in the person."""
    found = {}
    if bvh.names[0] != "Root":
        return found
    index, heads = person.source.index, person.heads
    for side in "LR":
        for upper, lower in LIMBS:
            upper, lower = f"{upper}_{side}", f"{lower}_{side}"
            theirs = bvh.places[bvh.names.index(lower)] - bvh.places[bvh.names.index(upper)]
            ours = heads[index[OLDER[lower]]] - heads[index[OLDER[upper]]]
            found[OLDER[upper]] = between(ours, UPRIGHT.apply(theirs))
        hand = [name for name in index if name.startswith(("wrist", "finger", "metacarpal")) and name.endswith(side)]
        found |= dict.fromkeys(hand, found[f"lowerarm01.{side}"])
    return found


def motion(path, person):
    """For every frame, rotations {joint: Rotation} in the joints' own axes. Joints that the file lacks follow."""
    bvh, frames = Bvh(path), []
    more = straighten(bvh, person)
    for frame in bvh.frames:
        turns, world, local = bvh.turns(frame), [], {}
        for number, (name, parent) in enumerate(zip(person.source.names, person.source.parents)):
            above = world[parent] if parent >= 0 else Rotation.identity()
            world.append(turns[name] * more.get(name, Rotation.identity()) if name in turns else above)
            axes = Rotation.from_matrix(person.frames[number])
            local[name] = axes.inv() * above.inv() * world[number] * axes
        frames.append(local)
    return frames
