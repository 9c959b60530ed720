"""Paths between shape keys, and layers of stored rigs, in Blender."""
import math
import os
import tempfile

import bpy
import exemplar
import numpy
import scenes
from exemplar_blender import character, compat, export, stored


def bent(form, angle, length=4.0):
    """A tube along z, bent by an angle about y."""
    turn, radius = angle * form[:, 2] / length, length / angle
    out = form.copy()
    out[:, 0], out[:, 2] = radius - (radius - form[:, 0]) * numpy.cos(turn), (radius - form[:, 0]) * numpy.sin(turn)
    return out


def subject(armature=True):
    """A tube with the keys Bent and Wide; its basis and the two forms."""
    thing, _ = scenes.tube(around=8, along=12)
    if not armature:
        thing.modifiers.clear()
    thing.shape_key_add(name="Basis")
    basis = character.vertices(thing.data)
    forms = [bent(basis, 2.5).astype("f4"), (basis * [1.5, 1.5, 1]).astype("f4")]
    for name, form in zip(("Bent", "Wide"), forms):
        compat.write_key(thing.shape_key_add(name=name), form)
    thing.active_shape_key_index = 1
    return thing, basis, forms


def at(thing, **values):
    for name, value in values.items():
        thing[name] = float(value)
    thing.update_tag()
    bpy.context.view_layer.update()
    return scenes.posed(thing)


def refused(call, words):
    try:
        call()
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"it was not refused: {words}")


def length(form, around=8):
    """Of the tube's middle line."""
    middle = form.reshape(-1, around, 3).mean(1)
    return numpy.linalg.norm(middle[1:] - middle[:-1], axis=1).sum()


def test_path_to_the_active_key():
    for armature in (True, False):
        scenes.clear()
        thing, basis, (goal, _) = subject(armature)
        thing.data.shape_keys.key_blocks["Bent"].value = 0.3
        bpy.ops.exemplar.warp()
        assert thing.data.shape_keys.key_blocks["Bent"].value == 0 and not thing.data.shape_keys.key_blocks["Bent"].mute
        assert list(thing.keys()) == ["Bent"] and thing.id_properties_ui("Bent").as_dict()["max"] == 1
        assert numpy.abs(at(thing, Bent=0) - basis).max() == 0
        assert numpy.abs(at(thing, Bent=1) - goal).max() < 2e-6
        half = at(thing, Bent=0.5)
        assert abs(length(half) - 4) < 0.01 and length((basis + goal) / 2) < 3.5  # a straight way shrinks it
        assert numpy.abs(half - bent(basis, 1.25)).max() < 0.2


def test_paths_to_all_keys_mix_and_replace():
    thing, basis, (goal, wide) = subject(False)
    bpy.ops.exemplar.warp()
    bpy.ops.exemplar.warp(every=True)
    assert [entry.name for entry in thing.data.exemplar.stored] == ["paths to Bent, Wide"]
    for values, form in (((0, 0), basis), ((1, 0), goal), ((0, 1), wide)):
        assert numpy.abs(at(thing, Bent=values[0], Wide=values[1]) - form).max() < 2e-6
    at(thing, Bent=0.7)
    bpy.ops.exemplar.warp_remove()
    assert "Bent" not in thing.keys() and not len(thing.data.exemplar.stored)
    assert not [name for name in thing.data.keys() if name.startswith(stored.PREFIX)]
    assert numpy.abs(scenes.posed(thing) - basis).max() == 0


def test_sliders_are_animated_and_saved():
    thing, basis, (goal, _) = subject()
    bpy.ops.exemplar.warp()
    for frame, value in ((1, 0.0), (11, 1.0)):
        thing["Bent"] = value
        thing.keyframe_insert('["Bent"]', frame=frame)
    scene = bpy.context.scene
    scene.frame_set(6)
    half = scenes.posed(thing)
    scene.frame_set(11)
    assert numpy.abs(scenes.posed(thing) - goal).max() < 2e-6
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "paths.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.scene.frame_set(6)
    assert numpy.abs(scenes.posed(bpy.data.objects["Tube"]) - half).max() < 1e-6


def test_paths_and_sculpts_add_up():
    thing, basis, (goal, _) = subject()
    bpy.ops.exemplar.warp()
    bone = bpy.data.objects["Bones"].pose.bones["bone 2"]
    bone.rotation_mode, bone.rotation_euler = "XYZ", (math.radians(60), 0, 0)
    bpy.context.view_layer.update()
    thing.active_shape_key_index = list(thing.data.shape_keys.key_blocks.keys()).index("Exemplar")
    made = scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.2, (0, 1, 0)))
    bpy.ops.exemplar.keep()
    at(thing, Bent=1)
    key = thing.data.shape_keys.key_blocks["Exemplar"]
    assert numpy.abs(compat.read_key(key, len(basis)) - (goal + made - basis)).max() < 2e-6
    thing.data.exemplar.stored[0].muted = True
    bpy.context.view_layer.update()
    assert numpy.abs(compat.read_key(key, len(basis)) - made).max() < 2e-6


def test_a_change_by_hand_is_discarded_without_an_armature():
    thing, basis, (goal, _) = subject(False)
    bpy.ops.exemplar.warp()
    at(thing, Bent=1)
    thing.active_shape_key_index = list(thing.data.shape_keys.key_blocks.keys()).index("Exemplar")
    scenes.sculpt(thing, lambda form: form + 1)
    assert thing.data.exemplar.pending
    bpy.ops.exemplar.discard()
    assert numpy.abs(scenes.posed(thing) - goal).max() < 2e-6


def test_remove_rig_without_an_armature():
    thing, basis, _ = subject(armature=False)
    bpy.ops.exemplar.warp(every=True)
    assert "Bent" in thing and len(thing.data.exemplar.stored) == 1
    bpy.ops.exemplar.remove_rig("EXEC_DEFAULT")
    mesh = thing.data
    assert not mesh.exemplar.made and not len(mesh.exemplar.stored) and not list(thing.keys())
    assert not [name for name in mesh.keys() if name.startswith(stored.PREFIX)]
    assert list(mesh.shape_keys.key_blocks.keys()) == ["Basis", "Bent", "Wide"]


def test_layers_of_a_stored_rig_read_bones():
    """In metres with y up, with the joints of the bones or with joints of other directions."""
    thing, armature = scenes.tube(around=8, along=12, scale=0.5, turn=(0.3, 0.2, 0.1), place=(1, 2, 3))
    bpy.ops.exemplar.make()
    bone = armature.pose.bones["bone 2"]
    bone.rotation_mode = "XYZ"

    def form(*angles):
        bone.rotation_euler = numpy.radians(angles)
        bpy.context.view_layer.update()
        return compat.read_key(thing.data.shape_keys.key_blocks["Exemplar"], len(thing.data.vertices))

    form(80, 0, 0)
    scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.2, (0, 1, 0)))
    bpy.ops.exemplar.keep()
    basis, want = character.vertices(thing.data), form(50, 10, 0)
    assert numpy.abs(want - basis).max() > 0.05
    whole = export.Whole(thing, armature, bpy.context.scene)
    space = numpy.eye(4)
    space[:3, :3], space[:3, 3] = whole.frame.linear, whole.frame.shift
    rest = whole.frame.bones(whole.bones.matrices)
    plain = exemplar.Skeleton.from_positions(whole.bones.names, whole.bones.parents, rest[:, :3, 3])
    axis = {"bend": {"joint": "bone 2", "about": rest[1, :3, 0], "min": 0, "max": 80, "unit": "deg"}}
    layer = exemplar.layer("bends", axis, [[80]], [whole.rig.delta(0, 0)], differences=True, kind="calm",
                           pseudos=[{"at": [0], "weights": [0.0]}])
    other = exemplar.Rig(whole.frame.points(basis), (), [layer], skeleton=plain)
    thing.data.exemplar.layers[0].muted = True
    for rig in (whole.rig, other):
        stored.add(thing.data, "imported", "RIG", rig.to_bytes(), space=numpy.linalg.inv(space))
        assert numpy.abs(form(50, 10, 0) - want).max() < 1e-5
        assert numpy.abs(form(0, 0, 0) - basis).max() < 1e-5


def test_bad_cases_are_sentences():
    thing, basis, _ = subject(False)
    compat.write_key(thing.data.shape_keys.key_blocks["Bent"], basis)
    refused(bpy.ops.exemplar.warp, "The shape key 'Bent' is the same as the basis")
    thing.active_shape_key_index = 0
    refused(bpy.ops.exemplar.warp, "Select the shape key to go to, in Object Data > Shape Keys: one of Bent, Wide")
    thing["Wide"] = 3
    thing.active_shape_key_index = 2
    refused(bpy.ops.exemplar.warp, "has a custom property 'Wide' already")
    assert not thing.data.exemplar.made and thing["Wide"] == 3
    refused(bpy.ops.exemplar.warp_remove, "'Tube' has no paths")
    plain = scenes.tube(around=8, along=2)[0]
    refused(bpy.ops.exemplar.warp, "has no shape key besides its basis")
    mesh = bpy.data.meshes.new("Points")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    wire = bpy.data.objects.new("Points", mesh)
    bpy.context.scene.collection.objects.link(wire)
    wire.shape_key_add(name="Basis")
    wire.shape_key_add(name="Other").data[0].co.z = 1
    scenes.use(wire)
    wire.active_shape_key_index = 1
    refused(bpy.ops.exemplar.warp, "'Points' has no faces")
    assert plain.data.shape_keys is None
