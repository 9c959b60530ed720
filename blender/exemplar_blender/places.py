# SPDX-License-Identifier: GPL-3.0-or-later
"""Places in spaces: which bones a sculpt depends on, what their axes read, and how to pose an armature at a place.

A sculpt depends on a bone that is turned if it lies around that bone's joint: where vertices belong partly to the bone (and
the bones below it) and partly to the rest of the body, or close by. The share s of a vertex in the bone's subtree makes
s (1 - s); a vertex that follows the bone completely, or not at all, says nothing about it.
"""
import math

import numpy
from mathutils import Quaternion

from . import character
from .armature import turn
from .data import ANGLES

TURNED = math.radians(0.5)  # a bone that is turned by less is at rest
NEAR = 0.35  # of the share that the first bone has


def turned(bones, locals_):
    """{bone: (angle in radians, direction)} of the bones that are not at rest."""
    found = {}
    for i, name in enumerate(bones.names):
        x, y, z, w = turn(bones.rest[i], locals_[i])
        angle = 2 * math.atan2(math.sqrt(x * x + y * y + z * z), w)
        if angle > TURNED:
            found[name] = (angle, numpy.array([x, y, z]) / math.sin(angle / 2))
    return found


def reading_of(angle, direction):
    """What to read of a bone that is turned: an angle about one of its own axes if it is turned about that within 5
    degrees, its swing if it is hardly twisted, else the whole rotation."""
    part = int(numpy.abs(direction).argmax())
    if abs(direction[part]) > math.cos(math.radians(5)):
        return "XYZ"[part]
    return "SWING" if abs(direction[1]) * angle < math.radians(5) else "ROTATION"


def shares(thing, armature, moved, form, candidates):
    """{bone: how much a sculpt is around its joint}. moved: (V,) how far each vertex was moved; form: (V, 3) at rest."""
    bones = armature.data.bones
    chosen = numpy.flatnonzero(moved > 0.05 * moved.max())
    amount = moved[chosen]
    order = {bone.name: i for i, bone in enumerate(bones)}
    below = {name: {name, *(child.name for child in bones[name].children_recursive)} for name in candidates}
    vertices, joints, weights = character.influences(thing, armature, chosen)
    place = {int(v): i for i, v in enumerate(chosen)}
    rows = numpy.array([place[int(v)] for v in vertices], dtype=int)
    total = numpy.bincount(rows, weights, len(chosen)) if len(rows) else numpy.zeros(len(chosen))
    total[total <= 0] = 1
    points = form[chosen]
    centre = numpy.average(points, axis=0, weights=amount)
    spread = math.sqrt(numpy.average(((points - centre) ** 2).sum(1), weights=amount)) + 1e-9
    to_mesh = numpy.array(thing.matrix_world.inverted_safe() @ armature.matrix_world)
    found = {}
    for name in candidates:
        inside = numpy.isin(joints, [order[each] for each in below[name]])
        share = numpy.bincount(rows[inside], weights[inside], len(chosen)) / total if inside.any() else numpy.zeros(len(chosen))
        split = 4 * numpy.average(share * (1 - share), weights=amount)
        head = to_mesh[:3, :3] @ numpy.array(bones[name].head_local) + to_mesh[:3, 3]
        near = math.exp(-((numpy.linalg.norm(head - centre) / (2 * spread)) ** 2))
        found[name] = max(split, 0.5 * near)
    return found


def propose(thing, armature, bones, locals_, moved, form):
    """[(bone, reading)] that a sculpt depends on: turned bones around it, the one in its middle first."""
    candidates, moved = turned(bones, locals_), numpy.where(numpy.isfinite(moved), moved, 0)
    if not candidates or not moved.any():
        return []
    found = shares(thing, armature, moved, form, candidates)
    most = max(found.values())
    chosen = sorted((name for name in found if found[name] >= NEAR * most), key=lambda name: -found[name])
    return [(name, reading_of(*candidates[name])) for name in chosen]


def numbers(reading, quaternion):
    """The numbers that a new axis reads of a turn x y z w: degrees from -180 to 180, or a rotation."""
    x, y, z, w = quaternion
    if reading in ANGLES:
        return [math.degrees(2 * math.atan2((x, y, z)["XYZ".index(reading)], w))]  # w >= 0
    return [float(x), float(y), float(z), float(w)]


def axis_name(bone, reading):
    clean = bone.replace("=", "_").replace(",", "_").replace('"', "_")
    return f"{clean}.{reading.lower()}"


def here(layer, live, locals_, thing):
    """The place of the present pose in a layer's space: what the rig reads on its axes, or would read on new ones."""
    out, known = [], live.rig.axes if live.rig else {}
    for axis in layer.axes:
        if axis.name in known:
            out += numpy.atleast_1d(live.pose[axis.name][0]).tolist()
        elif axis.reading == "DIAL":
            out.append(float(thing.get(axis.name, axis.rest)))
        else:
            i = live.bones.index[axis.bone]
            out += numbers(axis.reading, turn(live.bones.rest[i], locals_[i]))
    return out


def go(thing, armature, layer, place):
    """Poses the armature, and sets sliders, at a place of a layer's space. Other bones stay as they are."""
    begin, turns = 0, {}
    for axis in layer.axes:
        values = place[begin:begin + axis.width]
        begin += axis.width
        if axis.reading == "DIAL":
            thing[axis.name] = values[0]
            thing.update_tag()
        else:
            if axis.reading in ANGLES:
                made = Quaternion([float(letter == axis.reading) for letter in "XYZ"], math.radians(values[0]))
            else:
                made = Quaternion((values[3], *values[:3]))
            turns[axis.bone] = turns[axis.bone] @ made if axis.bone in turns else made
    for name, made in turns.items():
        bone = armature.pose.bones.get(name)
        if bone is None:
            continue
        if bone.rotation_mode == "QUATERNION":
            bone.rotation_quaternion = made
        elif bone.rotation_mode == "AXIS_ANGLE":
            direction, angle = made.to_axis_angle()
            bone.rotation_axis_angle = (angle, *direction)
        else:
            bone.rotation_euler = made.to_euler(bone.rotation_mode, bone.rotation_euler)


def rest(armature):
    """Puts all bones to rest."""
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
        bone.location, bone.scale = (0, 0, 0), (1, 1, 1)
        bone.rotation_quaternion, bone.rotation_euler, bone.rotation_axis_angle = (1, 0, 0, 0), (0, 0, 0), (0, 0, 1, 0)
