# SPDX-License-Identifier: GPL-3.0-or-later
"""The axes of a sculpt that is not kept yet: proposed from the pose, and shown with ticks in the panel."""
import bpy
import numpy
from mathutils import Quaternion

from . import character, compat, live, places
from .data import ANGLES
from .errors import Action, Refused
from .loop import Hands, subject

DEGREES = 57.29577951  # of a radian


class EXEMPLAR_OT_find_axes(Action):
    """Find the bones that this sculpt depends on: those that are turned, and around which it lies"""
    bl_idname = "exemplar.find_axes"
    bl_label = "Find Axes"

    def act(self, context):
        thing, rig, armature = subject(context)
        with Hands(thing):
            if not propose(thing, armature, context.evaluated_depsgraph_get()):
                raise Refused("All bones are at rest: pose the armature first")
            live.notice(thing, armature)


def propose(thing, armature, depsgraph):
    """Lists the bones that are turned, and ticks those that the sculpt depends on. Returns how many are listed."""
    rig = thing.data.exemplar
    live_rig, _ = live.read(thing, armature, depsgraph)
    locals_ = live_rig.bones.pose(armature.evaluated_get(depsgraph))
    turned = places.turned(live_rig.bones, locals_)
    form = compat.read_key(live.key_of(thing.data), len(thing.data.vertices))
    moved = numpy.linalg.norm(form - live_rig.form() + character.vertices(thing.data) - live_rig.basis, axis=1)
    if not moved.any():
        moved[:] = 1
    axes = places.propose(thing, armature, live_rig.bones, locals_, moved, live_rig.basis)
    rig.proposed.clear()
    for bone, reading in axes + [(name, places.reading_of(*turned[name])) for name in turned
                                 if name not in [bone for bone, _ in axes]]:
        made = rig.proposed.add()
        made.bone, made.reading, made.used = bone, reading, (bone, reading) in axes
    rig.chosen = False
    return len(rig.proposed)


def turned_by(armature, proposed):
    """How far a bone is turned now, in words."""
    bone = armature.pose.bones.get(proposed.bone)
    if bone is None:
        return "gone"
    turn = relative_turn(bone)
    if proposed.reading in ANGLES:
        return f"{places.numbers(proposed.reading, turn)[0]:.1f}°"
    return f"{Quaternion((turn[3], *turn[:3])).angle * DEGREES:.1f}°"


def relative_turn(bone):
    """The turn of a pose bone from its rest, x y z w with w >= 0, with constraints."""
    rest, now = bone.bone.matrix_local, bone.matrix
    if bone.parent:
        rest, now = bone.parent.bone.matrix_local.inverted() @ rest, bone.parent.matrix.inverted_safe() @ now
    turn = (rest.inverted() @ now).to_quaternion()
    turn = -turn if turn.w < 0 else turn
    return turn.x, turn.y, turn.z, turn.w


def turn_of(numbers):
    """A rotation in words."""
    angles = Quaternion((numbers[3], *numbers[:3])).to_exponential_map()
    return "  ".join(f"{letter} {angle * DEGREES:.0f}°" for letter, angle in zip("xyz", angles))


def register():
    bpy.utils.register_class(EXEMPLAR_OT_find_axes)


def unregister():
    bpy.utils.unregister_class(EXEMPLAR_OT_find_axes)
