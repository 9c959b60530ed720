# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons of rigs as armatures, and their poses and clips.

A bone has the joint's own axes: its rest matrix is that of the joint when the mesh was bound, turned to z up, without its
scale. With W the joint's matrix in a pose, and s that scale, a bone's matrix is C W s^-1, where C puts z up. A rig that was
bound at another pose than its rest is posed at its rest; `turned` has the joints that are turned there.
"""
import bpy
import numpy
from mathutils import Matrix

from .armature import relative
from .errors import Refused
from .export import UP
from .library import exemplar


class Joints:
    """The joints of a rig as bones. unit: metres in a unit of the scene."""

    def __init__(self, rig, unit):
        self.skeleton, self.unit = rig.skeleton, unit
        self.size = float(numpy.linalg.norm(numpy.ptp(rig.mesh.vertices, axis=0))) or 1.0
        if self.skeleton is None:
            self.skeleton = exemplar.Skeleton(["root"], [-1], [[0, 0, 0]])
        worlds = binds = whole(self.skeleton.worlds())
        if self.skeleton.inverse_binds is not None:
            binds = numpy.linalg.inv(whole(self.skeleton.inverse_binds))
        scale = numpy.linalg.norm(binds[:, :3, :3], axis=1)
        if (scale <= 0).any() or (numpy.ptp(scale, axis=1) > 1e-3 * scale.max(1)).any():
            raise Refused("Joints of this rig are scaled by different amounts on their axes, which bones cannot be")
        self.scale = scale.mean(1)
        self.rest = self._bones(binds)
        apart = self._turns(self.rest) - self._turns(self._bones(worlds))
        self.turned = set(numpy.flatnonzero(numpy.abs(apart).max((1, 2)) > 1e-4).tolist())
        self.names = None

    def _turns(self, bones):
        """(J, 3, 3) matrices relative to the parents, without places and lengths."""
        out = relative(bones, self.skeleton.parents)[:, :3, :3]
        return out / numpy.linalg.norm(out, axis=1, keepdims=True)

    def _bones(self, worlds):
        """(…, J, 4, 4) matrices of the bones, in the armature's space."""
        out = worlds.copy()
        out[..., :3, :3] = UP.T @ worlds[..., :3, :3] / self.scale[:, None, None]
        out[..., :3, 3] = worlds[..., :3, 3] @ UP / self.unit
        return out

    def make(self, name, collection):
        """The armature object."""
        armature = bpy.data.objects.new(name, bpy.data.armatures.new(name))
        collection.objects.link(armature)
        layer = bpy.context.view_layer
        layer.objects.active = armature
        bpy.ops.object.mode_set(mode="EDIT")
        made = []
        for j, joint in enumerate(self.skeleton.names):
            bone = armature.data.edit_bones.new(joint or f"joint {j + 1}")
            bone.head, bone.tail = (0, 0, 0), (0, self._length(j), 0)
            bone.matrix = Matrix(self.rest[j].tolist())
            made.append(bone)
        for bone, parent in zip(made, self.skeleton.parents):
            if parent >= 0:
                bone.parent = made[parent]
        self.names = [bone.name for bone in made]
        bpy.ops.object.mode_set(mode="OBJECT")
        return armature

    def _length(self, joint):
        below = numpy.flatnonzero(self.skeleton.parents == joint)
        far = numpy.linalg.norm(self.rest[below, :3, 3] - self.rest[joint, :3, 3], axis=1)
        least = 0.02 * self.size / self.unit
        return max(least, float(far.min())) if len(far) else 4 * least

    def bases(self, locals_):
        """(J, 4, 4) Blender's channels of the bones for transforms (J, 10) of the joints."""
        now, parents = self._bones(whole(self.skeleton.worlds(locals_))), self.skeleton.parents
        return numpy.linalg.solve(relative(self.rest, parents), relative(now, parents))

    def pose(self, armature, locals_):
        """Poses the armature as transforms (J, 10) of the joints say."""
        for name, basis in zip(self.names, self.bases(locals_)):
            armature.pose.bones[name].matrix_basis = Matrix(basis.tolist())

    def clip(self, thing, armature, name, motion, rate):
        """Makes an action of a motion; the object gets one of its sliders, if they move."""
        bases = numpy.stack([self.bases(joints) for joints in motion.pose.joints]) if self._moves(motion) else None
        frames = 1 + motion.times * rate
        if bases is not None:
            action = begin(armature, name)
            for j, bone in enumerate(self.names):
                if numpy.abs(bases[:, j] - numpy.eye(4)).max() > 1e-6:
                    self._key(armature.pose.bones[bone], bases[:, j], frames)
            end(armature, action)
        axes = [axis.name for axis in motion.pose.rig.axes.values() if axis.is_dial and axis.width == 1]
        moving = [axis for axis in axes if numpy.ptp(motion.pose[axis]) > 1e-9]
        if moving:
            action = begin(thing, name + " sliders")
            for axis in moving:
                for frame, value in zip(frames, motion.pose[axis]):
                    thing[axis] = float(value)
                    thing.keyframe_insert(f'["{bpy.utils.escape_identifier(axis)}"]', frame=frame)
                thing[axis] = motion.pose.rig.axes[axis].rest
            end(thing, action)

    def _moves(self, motion):
        return motion.pose.joints is not None and len(self.skeleton) and \
            numpy.abs(motion.pose.joints - self.skeleton.rest).max() > 1e-6

    @staticmethod
    def _key(bone, bases, frames):
        last = None
        for frame, basis in zip(frames, bases):
            place, turn, scale = Matrix(basis.tolist()).decompose()
            if last is not None and last.dot(turn) < 0:
                turn.negate()
            last = turn.copy()
            bone.rotation_mode = "QUATERNION"
            bone.location, bone.rotation_quaternion, bone.scale = place, turn, scale
            for path in ("location", "rotation_quaternion", "scale"):
                bone.keyframe_insert(path, frame=frame)
        bone.matrix_basis = Matrix()


def begin(thing, name):
    thing.animation_data_create()
    action = bpy.data.actions.new(name)
    thing.animation_data.action = action
    return action


def end(thing, action):
    """Keeps an action for later; the object stays at rest."""
    action.use_fake_user = True
    thing.animation_data.action = None


def whole(matrices):
    """(…, 4, 4) of (…, 3, 4) matrices, in double."""
    out = numpy.zeros((*matrices.shape[:-2], 4, 4))
    out[..., :3, :], out[..., 3, 3] = matrices, 1
    return out
