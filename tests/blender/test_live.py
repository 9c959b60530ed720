"""The live key, and when it is written: sculpts stay through undo, files and names; a broken rig leaves the others alone."""
import os
import tempfile
import threading

import bpy
import numpy
import scenes
from exemplar_blender import armature as bones
from exemplar_blender import compat, data, export, live, stored


def tube(**options):
    thing, armature = scenes.tube(**options)
    bpy.ops.exemplar.make()
    return thing, armature


def form(thing, name=data.LIVE):
    return compat.read_key(thing.data.shape_keys.key_blocks[name], len(thing.data.vertices))


def sculpt(thing, amount=0.2):
    return scenes.sculpt(thing, scenes.bulge((0, 0.4, 2), 0.5, amount))


def kept(thing, armature, angle=90, bone="bone 2", **options):
    """Keeps a sculpt, and returns the name of its example."""
    scenes.turn(armature, bone, angle)
    sculpt(thing)
    bpy.ops.exemplar.keep(**options)
    return thing.data.exemplar.layers[0].examples[-1].name


def far(a, b):
    return float(numpy.abs(a - b).max())


def select(thing, name):
    thing.active_shape_key_index = thing.data.shape_keys.key_blocks.find(name)


def work(mode):
    bpy.ops.object.mode_set(mode=mode)
    bpy.context.view_layer.update()


def reload(folder):
    path = os.path.join(folder, "a.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects["Tube"], bpy.data.objects["Bones"]


def is_pending(thing, made):
    return thing.data.exemplar.pending and numpy.array_equal(form(thing), made)


def test_bone_of_no_size():
    thing, armature = tube(bones=3)
    kept(thing, armature, bone="bone 3")
    other, others = thing.copy(), armature.copy()
    other.data = thing.data.copy()
    for each in (other, others):
        bpy.context.scene.collection.objects.link(each)
    other.modifiers[0].object = others
    scenes.turn(others, "bone 3", 0)
    for bone in ("bone 3", "bone 2"):
        armature.pose.bones[bone].scale = (0, 0, 0)
        scenes.turn(armature, "bone 3", 90)
        assert far(form(thing), form(thing, "Basis")) < 1e-6, bone  # reads as at rest
        armature.pose.bones[bone].scale = (1, 0, 1)
        bpy.context.view_layer.update()
        if bone == "bone 3":
            assert far(form(thing), form(thing, "Basis")) > 0.1  # a bone that is only flat still has its turn
        armature.pose.bones[bone].scale = (1, 1, 1)
        bpy.context.view_layer.update()
    assert not live.problems
    thing.scale = (0, 0, 0)
    scenes.turn(others, "bone 3", 90)
    assert far(form(other), form(other, "Basis")) > 0.1


def test_flat_matrices():
    rest = numpy.array([[0, 0, 0, 0, 0, 1, 0, 1, 1, 1.0]] * 3)
    turned = bones.composed([[1, 2, 3, 0.5, 0.5, 0.5, 0.5, 1, 1, 1]] * 3)
    turned[0, :3, :3] = 0
    turned[1, :3, 1] = 0
    made = bones.transforms(turned, rest)
    assert numpy.allclose(made[0, 3:7], rest[0, 3:7]) and numpy.allclose(numpy.abs(made[1:, 3:7]), 0.5)
    assert numpy.allclose(bones.transforms(turned)[0, 3:7], (0, 0, 0, 1))
    turned[0, :3, :3] = numpy.eye(3)
    parents = numpy.array([-1, 0, 1])
    local = bones.relative(turned, parents)
    assert not local[2, :3, :3].any() and numpy.array_equal(bones.relative(turned, parents, [2])[0], local[2])


def file_of(thing, armature):
    return export.Whole(thing, armature, bpy.context.scene).rig.to_bytes()
