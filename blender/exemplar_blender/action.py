# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking an action: frames of the live rig as standard animation, which other programs play without Exemplar."""
import pathlib

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from . import export
from .errors import Refused, length
from .library import exemplar
from .progress import Bar
from .write import Writing, left_out, ready, size, told

KINDS = [
    (".glb", "glTF (.glb)", "Morph targets, a skin and an animation"),
    (".pc2", "Point cache (.pc2)", "All vertices of every frame"),
    (".mdd", "Point cache (.mdd)", "All vertices of every frame"),
    (".abc", "Alembic (.abc)", "All vertices of every frame, with the faces"),
]


def gather(context, whole, first, last):
    """The poses of the frames, in one Pose. The frame is what it was at the end."""
    scene, poses = context.scene, []
    before = scene.frame_current, scene.frame_subframe
    try:
        with Bar(context) as bar:
            for frame in range(first, last + 1):
                scene.frame_set(frame)
                poses.append(whole.pose(context.evaluated_depsgraph_get()))
                bar("frames", (frame - first + 1) / (last - first + 1))
    finally:
        scene.frame_set(before[0], subframe=before[1])
    return exemplar.Pose.concatenate(poses)


class EXEMPLAR_OT_bake_action(Writing):
    """Write a range of frames of the live rig as standard animation"""
    bl_idname = "exemplar.bake_action"
    bl_label = "Bake Action"

    kind: EnumProperty(name="Format", items=KINDS, default=".glb")
    first: IntProperty(name="First Frame", description="0 with a last frame of 0: the scene's", default=0)
    last: IntProperty(name="Last Frame", default=0)
    filter_glob: StringProperty(default="*.glb;*.pc2;*.mdd;*.abc", options={"HIDDEN"})

    @property
    def filename_ext(self):
        return self.kind

    def check(self, context):
        """The ending follows the format."""
        path = pathlib.Path(self.filepath)
        if path.suffix.lower() == self.kind or not path.name:
            return False
        self.filepath = str(path.with_suffix(self.kind))
        return True

    def invoke(self, context, event):
        self.first, self.last = context.scene.frame_start, context.scene.frame_end
        return super().invoke(context, event)

    def act(self, context):
        thing, armature = ready(context)
        scene, path = context.scene, pathlib.Path(bpy.path.abspath(self.filepath))
        if path.suffix.lower() not in (kind[0] for kind in KINDS):
            raise Refused(f"'{path.name}' does not end in .glb, .pc2, .mdd or .abc: choose a format")
        first, last = (self.first, self.last) if self.first or self.last else (scene.frame_start, scene.frame_end)
        if last < first:
            raise Refused(f"The last frame, {last}, is before the first, {first}")
        whole = export.Whole(thing, armature, scene)
        poses = gather(context, whole, first, last)
        report = exemplar.bake(whole.rig, poses, path, fps=scene.render.fps / scene.render.fps_base)
        said = f"Baked {report.frames} frames to '{path.name}', {size(path.stat().st_size)}"
        if report.error:
            said += f", within {length(report.error.largest)} of the rig"
        return told(said, left_out(thing.data, whole))


def register():
    bpy.utils.register_class(EXEMPLAR_OT_bake_action)


def unregister():
    bpy.utils.unregister_class(EXEMPLAR_OT_bake_action)
