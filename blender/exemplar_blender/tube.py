# SPDX-License-Identifier: GPL-3.0-or-later
"""A tube with two bones, to learn with: Add > Mesh > Tube with Bones."""
import math

import bpy
from bpy.props import FloatProperty, IntProperty

from .errors import Action


class EXEMPLAR_OT_add_tube(Action):
    """Add a tube with two bones, which bends as an elbow does"""
    bl_idname = "exemplar.add_tube"
    bl_label = "Tube with Bones"

    around: IntProperty(name="Around", description="Vertices around", default=32, min=3, max=1024)
    along: IntProperty(name="Along", description="Faces along", default=64, min=2, max=4096)
    length: FloatProperty(name="Length", default=4.0, min=0.01, unit="LENGTH")
    radius: FloatProperty(name="Radius", default=0.5, min=0.001, unit="LENGTH")

    @classmethod
    def poll(cls, context):
        return context.mode == "OBJECT"

    def act(self, context):
        thing, armature = tube(context, self.around, self.along, self.length, self.radius)
        for each in context.selected_objects:
            each.select_set(False)
        thing.select_set(True)
        context.view_layer.objects.active = thing


def tube(context, around, along, length, radius):
    """A tube that stands at the 3D cursor, bones 'upper arm' and 'forearm' inside, and an Armature modifier."""
    heights = [length * i / along for i in range(along + 1)]
    angles = [2 * math.pi * i / around for i in range(around)]
    vertices = [(radius * math.cos(a), radius * math.sin(a), h) for h in heights for a in angles]
    faces = [(i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
             for i in range(along) for j in range(around)]
    mesh = bpy.data.meshes.new("Tube")
    mesh.from_pydata(vertices, [], faces)
    mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    thing, armature = bpy.data.objects.new("Tube", mesh), bpy.data.objects.new("Tube Bones", bpy.data.armatures.new("Tube Bones"))
    for each in (armature, thing):
        context.collection.objects.link(each)
        each.location = context.scene.cursor.location
    armature.show_in_front = True
    context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    for name, begin in (("upper arm", 0.0), ("forearm", length / 2)):
        bone = bones.new(name)
        bone.head, bone.tail, bone.parent = (0, 0, begin), (0, 0, begin + length / 2), bones.get("upper arm") if begin else None
        bone.use_connect = bool(begin)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in armature.pose.bones:
        bone.rotation_mode = "XYZ"
    upper, lower = thing.vertex_groups.new(name="upper arm"), thing.vertex_groups.new(name="forearm")
    for number, (_, _, height) in enumerate(vertices):
        x = min(1.0, max(0.0, (height - length / 2) / (2 * radius) + 0.5))
        weight = x * x * (3 - 2 * x)
        for group, share in ((upper, 1 - weight), (lower, weight)):
            if share > 0:
                group.add([number], share, "REPLACE")
    thing.modifiers.new("Armature", "ARMATURE").object = armature
    thing.parent = armature
    thing.location = (0, 0, 0)
    return thing, armature


def menu(self, context):
    self.layout.separator()
    self.layout.operator(EXEMPLAR_OT_add_tube.bl_idname, icon="MESH_CYLINDER")


def register():
    bpy.utils.register_class(EXEMPLAR_OT_add_tube)
    bpy.types.VIEW3D_MT_mesh_add.append(menu)


def unregister():
    bpy.types.VIEW3D_MT_mesh_add.remove(menu)
    bpy.utils.unregister_class(EXEMPLAR_OT_add_tube)
