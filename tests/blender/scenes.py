"""Scenes for the tests of the Blender add-on: characters to pose, and sculpts made by a formula."""
import math

import bpy
import numpy


def clear():
    """An empty scene; add-ons stay."""
    bpy.ops.wm.read_homefile(app_template="", use_empty=True, use_factory_startup=True)


def use(thing):
    """Makes an object the active and only selected one."""
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for each in bpy.context.view_layer.objects:
        each.select_set(False)
    thing.select_set(True)
    bpy.context.view_layer.objects.active = thing
    return thing


def tube(around=24, along=60, length=4.0, radius=0.5, bones=2, scale=1.0, turn=(0.0, 0.0, 0.0), place=(0.0, 0.0, 0.0)):
    """A tube along z with bones one above the other, its weights a smooth step at each joint. The mesh and the armature may
    be turned and scaled as objects."""
    heights = numpy.linspace(0, length, along + 1)
    angles = numpy.arange(around) * 2 * math.pi / around
    vertices = [(radius * math.cos(a), radius * math.sin(a), h) for h in heights for a in angles]
    faces = [(i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
             for i in range(along) for j in range(around)]
    mesh = bpy.data.meshes.new("Tube")
    mesh.from_pydata(vertices, [], faces)
    thing = bpy.data.objects.new("Tube", mesh)
    skeleton = bpy.data.armatures.new("Bones")
    armature = bpy.data.objects.new("Bones", skeleton)
    for each in (thing, armature):
        bpy.context.scene.collection.objects.link(each)
        each.rotation_euler, each.scale, each.location = turn, (scale,) * 3, place
    use(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for i in range(bones):
        bone = skeleton.edit_bones.new(f"bone {i + 1}")
        bone.head, bone.tail = (0, 0, length * i / bones), (0, 0, length * (i + 1) / bones)
        bone.parent, above = above, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for i in range(bones):
        group = thing.vertex_groups.new(name=f"bone {i + 1}")
        for v, (_, _, h) in enumerate(vertices):
            weight = 1.0
            for joint, inside in ((i, 1), (i + 1, -1)):
                if 0 < joint < bones:
                    x = min(1, max(0, (h - length * joint / bones) / (2 * radius) + 0.5))
                    step = x * x * (3 - 2 * x)
                    weight *= step if inside > 0 else 1 - step
            if weight > 1e-6:
                group.add([v], weight, "REPLACE")
    modifier = thing.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    bpy.context.view_layer.update()
    return use(thing), armature


def posed(thing):
    """(V, 3) of an object as it is seen, in its own space; of the vertices that the mesh itself has."""
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    out = numpy.empty((len(mesh.vertices), 3), dtype=numpy.float32)
    mesh.vertices.foreach_get("co", out.ravel())
    shown.to_mesh_clear()
    return out[:len(thing.data.vertices)]


def sculpt(thing, change):
    """Changes the shape key that Blender would sculpt on, the active one: change((V, 3)) returns new positions."""
    key = thing.active_shape_key
    form = numpy.empty((len(thing.data.vertices), 3), dtype=numpy.float32)
    key.data.foreach_get("co", form.ravel())
    made = numpy.ascontiguousarray(change(form.copy()), dtype=numpy.float32)
    key.data.foreach_set("co", made.ravel())
    thing.data.update()
    thing.data.update_tag()
    bpy.context.view_layer.update()
    return made


def bulge(centre, radius, amount, direction=(1, 0, 0)):
    """A change for `sculpt`: vertices around a centre go in a direction, by a smooth bump."""
    def change(form):
        near = numpy.exp(-(((form - centre) / radius) ** 2).sum(1))
        near[near < 1e-3] = 0
        return form + amount * near[:, None] * numpy.asarray(direction)
    return change
