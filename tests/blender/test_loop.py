"""The loop of an artist: make, pose, sculpt, keep; and what Blender does with the result: undo, files, copies, rendering."""
import math
import os
import pathlib
import tempfile

import bpy
import numpy
import scenes
from exemplar_blender import character, compat, data, export, live

RANDOM = numpy.random.default_rng(7)


def turn(armature, **bones):
    """Turns bones by degrees about x y z: 'bone_2' is 'bone 2'."""
    for name, angles in bones.items():
        bone = armature.pose.bones[name.replace("_", " ")]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = [math.radians(each) for each in angles]
    bpy.context.view_layer.update()


def kept(thing, armature, angles, centre=(0, 0.4, 2), amount=0.2):
    """Sculpts and keeps a bulge at a pose of the second bone. Returns the form as it was seen."""
    turn(armature, bone_2=angles)
    scenes.sculpt(thing, scenes.bulge(centre, 0.5, amount, (0, 1, 0.3)))
    seen = scenes.posed(thing)
    assert bpy.ops.exemplar.keep() == {"FINISHED"}
    return seen


def tube(**options):
    thing, armature = scenes.tube(around=12, along=30, **options)
    bpy.ops.exemplar.make()
    return thing, armature


def three():
    thing, armature = tube()
    seen = [kept(thing, armature, (angle, 0, 0), amount=amount) for angle, amount in ((45, 0.1), (90, 0.2), (-60, 0.15))]
    return thing, armature, seen


def live_form(thing):
    return compat.read_key(live.key_of(thing.data), len(thing.data.vertices))


def refused(operator, words, **options):
    """The operator must refuse, with these words, in one sentence."""
    try:
        operator(**options)
    except RuntimeError as error:
        said = str(error).replace("Error: ", "").strip()
        assert words in said, said
        assert "\n" not in said and "Traceback" not in said, said
        return said
    raise AssertionError(f"not refused: {words}")


def test_keep_brings_back():
    thing, armature, seen = three()
    for angle, form in zip((45, 90, -60), seen):
        turn(armature, bone_2=(angle, 0, 0))
        assert numpy.abs(scenes.posed(thing) - form).max() < 1e-6
    turn(armature, bone_2=(0, 0, 0))
    assert numpy.abs(live_form(thing) - character.vertices(thing.data)).max() < 1e-7
    rig = thing.data.exemplar
    assert [layer.name for layer in rig.layers] == ["bone 2.x"] and len(rig.layers[0].examples) == 3


def test_equals_library():
    for options in ({}, {"scale": 0.01, "turn": (1.2, 0.3, -0.5), "place": (0.1, 0.2, 0.05)}, {"bones": 3}):
        scenes.clear()
        thing, armature = tube(**options)
        for angles in ((45, 0, 0), (80, 0, 0), (20, 50, 10)):
            kept(thing, armature, angles)
        whole = export.Whole(thing, armature, bpy.context.scene)
        size = numpy.linalg.norm(numpy.ptp(whole.rig.evaluate()[0], axis=0))
        for _ in range(50):
            turn(armature, **{bone.name.replace(" ", "_"): RANDOM.uniform(-90, 90, 3) for bone in armature.pose.bones})
            wanted = whole.rig.evaluate(whole.pose(bpy.context.evaluated_depsgraph_get()))[0]
            farthest = numpy.abs(whole.frame.points(scenes.posed(thing)) - wanted).max()
            assert farthest < 1e-5 * size, (options, farthest / size)


def test_preserve_volume():
    thing, armature = tube()
    thing.modifiers["Armature"].use_deform_preserve_volume = True
    kept(thing, armature, (80, 0, 0))
    whole = export.Whole(thing, armature, bpy.context.scene)
    for _ in range(20):
        turn(armature, bone_1=RANDOM.uniform(-80, 80, 3), bone_2=RANDOM.uniform(-80, 80, 3))
        wanted = whole.rig.evaluate(whole.pose(bpy.context.evaluated_depsgraph_get()))[0]
        assert numpy.abs(whole.frame.points(scenes.posed(thing)) - wanted).max() < 4e-5


def test_replace_at_the_same_pose():
    thing, armature, _ = three()
    seen = kept(thing, armature, (90, 0, 0), centre=(0, -0.4, 2))
    layer = thing.data.exemplar.layers[0]
    assert len(layer.examples) == 3 and numpy.abs(scenes.posed(thing) - seen).max() < 1e-6


def test_second_layer_keeps_the_first():
    thing, armature = tube(bones=3)
    first = kept(thing, armature, (60, 0, 0), centre=(0, 0.4, 4 / 3))
    turn(armature, bone_2=(0, 0, 0), bone_3=(0, 0, 50))
    scenes.sculpt(thing, scenes.bulge((0.4, 0, 8 / 3), 0.4, 0.2))
    second = scenes.posed(thing)
    bpy.ops.exemplar.keep()
    names = [layer.name for layer in thing.data.exemplar.layers]
    assert names == ["bone 2.x", "bone 3.z"], names
    assert numpy.abs(scenes.posed(thing) - second).max() < 1e-6
    turn(armature, bone_2=(60, 0, 0), bone_3=(0, 0, 0))
    assert numpy.abs(scenes.posed(thing) - first).max() < 1e-6


def test_sculpt_on_the_basis_counts():
    thing, armature = tube()
    turn(armature, bone_2=(70, 0, 0))
    thing.active_shape_key_index = 0
    before = character.vertices(thing.data)
    bpy.ops.object.mode_set(mode="SCULPT")
    assert thing.active_shape_key.name == data.LIVE  # strokes go where Keep looks
    bpy.ops.object.mode_set(mode="OBJECT")
    assert numpy.array_equal(character.vertices(thing.data), before)


def test_pose_does_not_overwrite_a_sculpt():
    thing, armature, _ = three()
    turn(armature, bone_2=(30, 0, 0))
    made = scenes.sculpt(thing, scenes.bulge((0, 0, 2), 0.5, 0.3))
    assert thing.data.exemplar.pending
    turn(armature, bone_2=(60, 0, 0))
    bpy.context.scene.frame_set(5)
    assert numpy.array_equal(live_form(thing), made)
    bpy.ops.exemplar.discard()
    assert not thing.data.exemplar.pending and not numpy.array_equal(live_form(thing), made)


def test_undo_and_redo():
    thing, armature = tube()
    kept(thing, armature, (45, 0, 0))
    name = thing.name
    bpy.ops.ed.undo_push(message="before")
    kept(thing, armature, (90, 0, 0))
    bpy.ops.ed.undo_push(message="Keep")
    after = live_form(bpy.data.objects[name])

    def state():
        thing = bpy.data.objects[name]
        bpy.context.view_layer.update()
        return len(thing.data.exemplar.layers[0].examples), len(thing.data.shape_keys.key_blocks)

    assert state() == (2, 4)
    bpy.ops.ed.undo()
    assert state() == (1, 3), state()
    bpy.ops.ed.redo()
    assert state() == (2, 4)
    assert numpy.abs(live_form(bpy.data.objects[name]) - after).max() < 1e-6


def test_save_and_reload():
    thing, armature, _ = three()
    turn(armature, bone_2=(63, 0, 0))
    seen = scenes.posed(thing)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a b.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        thing, armature = bpy.data.objects["Tube"], bpy.data.objects["Bones"]
        bpy.context.view_layer.update()
        assert numpy.abs(scenes.posed(thing) - seen).max() < 1e-6
        turn(armature, bone_2=(0, 0, 0))
        turn(armature, bone_2=(63, 0, 0))
        assert numpy.abs(scenes.posed(thing) - seen).max() < 1e-6


def test_append_and_link():
    thing, armature, _ = three()
    turn(armature, bone_2=(63, 0, 0))
    seen = scenes.posed(thing)
    turn(armature, bone_2=(10, 0, 0))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tube.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        for link in (False, True):
            scenes.clear()
            with bpy.data.libraries.load(path, link=link) as (source, wanted):
                wanted.objects = ["Tube", "Bones"]
            for each in wanted.objects:
                bpy.context.scene.collection.objects.link(each)
            thing, armature = bpy.data.objects["Tube"], bpy.data.objects["Bones"]
            turn(armature, bone_2=(63, 0, 0))
            bpy.context.view_layer.update()
            assert numpy.abs(scenes.posed(thing) - seen).max() < 1e-6, link
            if link:
                bpy.context.view_layer.objects.active = thing
                refused(bpy.ops.exemplar.keep, "linked from another file")


def test_duplicate():
    thing, armature, _ = three()
    scenes.use(thing)
    armature.select_set(True)
    bpy.ops.object.duplicate()
    copy = bpy.context.view_layer.objects.active
    other = character.armature_of(copy)
    assert copy != thing and other != armature and copy.data != thing.data
    turn(armature, bone_2=(90, 0, 0))
    first = scenes.posed(thing)
    turn(other, bone_2=(0, 0, 0))
    assert numpy.abs(scenes.posed(copy) - character.vertices(copy.data)).max() < 1e-6
    assert numpy.abs(scenes.posed(thing) - first).max() == 0
    turn(other, bone_2=(90, 0, 0))
    assert numpy.abs(scenes.posed(copy) - first).max() < 1e-6


def test_animation_and_rendering():
    thing, armature, seen = three()
    bone = armature.pose.bones["bone 2"]
    for frame, angle in ((1, 0), (10, 90)):
        bone.rotation_euler = (math.radians(angle), 0, 0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    scene = bpy.context.scene
    scene.frame_set(10)
    assert numpy.abs(scenes.posed(thing) - seen[1]).max() < 1e-6
    scene.frame_set(1)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (7, 0, 2), (math.radians(90), 0, math.radians(90))
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 1, "CPU"
    scene.render.resolution_x = scene.render.resolution_y = 64
    scene.cycles.use_denoising, scene.render.film_transparent = False, True
    pictures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, enabled in (("live", True), ("still", False)):
            thing.data.exemplar.enabled = enabled
            if not enabled:  # the form at rest, whatever the pose
                compat.write_key(live.key_of(thing.data), character.vertices(thing.data))
                thing.data.update_tag()
            scene.frame_set(1)
            scene.frame_start = scene.frame_end = 10
            scene.render.filepath = os.path.join(folder, name)
            bpy.ops.render.render(animation=True)
            image = bpy.data.images.load(str(next(pathlib.Path(folder).glob(name + "*.png"))))
            pictures.append(numpy.array(image.pixels[:]))
    assert numpy.abs(pictures[0] - pictures[1]).mean() > 1e-3  # the bulge is in the picture of frame 10
    thing.data.exemplar.enabled = True


def test_subdivision_and_mirror_stay():
    thing, armature = scenes.tube(around=12, along=30)
    mirror = thing.modifiers.new("Mirror", "MIRROR")
    mirror.use_axis = (True, False, False)
    bpy.ops.object.modifier_move_to_index(modifier="Mirror", index=0)
    thing.modifiers.new("Subdivision", "SUBSURF").levels = 1
    bpy.ops.exemplar.make()
    seen = kept(thing, armature, (70, 0, 0))
    assert numpy.abs(scenes.posed(thing) - seen).max() < 1e-6
    assert thing.modifiers["Mirror"].show_viewport and thing.modifiers["Subdivision"].show_viewport


def test_edit_mode_sculpt():
    thing, armature = tube()
    turn(armature, bone_2=(70, 0, 0))
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0.3, 0, 0))
    assert bpy.ops.exemplar.keep() == {"FINISHED"}
    assert thing.mode == "OBJECT"
    assert len(thing.data.exemplar.layers[0].examples) == 1


def test_faces_edited_later():
    thing, armature, _ = three()
    turn(armature, bone_2=(0, 0, 0))
    count = len(thing.data.vertices)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=1)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(thing.data.vertices) > count
    turn(armature, bone_2=(90, 0, 0))
    assert len(live_form(thing)) == len(thing.data.vertices)
    assert numpy.abs(live_form(thing) - character.vertices(thing.data)).max() > 0.1


def test_applied_scale():
    thing, armature = tube(scale=2.0)
    kept(thing, armature, (90, 0, 0))
    turn(armature, bone_2=(0, 0, 0))
    for each in (armature, thing):
        scenes.use(each)
        bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    bpy.context.view_layer.update()
    turn(armature, bone_2=(90, 0, 0))
    moved = numpy.abs(live_form(thing) - character.vertices(thing.data)).max()
    assert 0.3 < moved < 0.45, moved  # twice that of the sculpt


def snapshot():
    """Everything that a refusal must leave alone."""
    out = []
    for thing in bpy.data.objects:
        keys = []
        if thing.type == "MESH" and thing.data.shape_keys:
            keys = [(key.name, key.value, compat.read_key(key, len(thing.data.vertices)).tobytes())
                    for key in thing.data.shape_keys.key_blocks] if thing.mode != "EDIT" else []
        out.append((thing.name, thing.mode, tuple(thing.scale), [m.name for m in thing.modifiers], keys,
                    thing.type == "MESH" and [(l.name, len(l.examples)) for l in thing.data.exemplar.layers]))
    return out


def test_wrong_use():
    keep, make = bpy.ops.exemplar.keep, bpy.ops.exemplar.make
    thing, armature = scenes.tube(around=8, along=8)

    def all_refuse(operator, words):
        before = snapshot()
        refused(operator, words)
        assert snapshot() == before

    all_refuse(keep, "no Exemplar rig")
    scenes.use(armature)
    all_refuse(make, "Select a mesh")
    scenes.use(thing)
    bpy.ops.object.mode_set(mode="EDIT")
    all_refuse(make, "Edit Mode")
    bpy.ops.object.mode_set(mode="OBJECT")
    thing.modifiers["Armature"].object = None
    all_refuse(make, "no armature")
    thing.modifiers["Armature"].object = armature
    thing.modifiers.new("Decimate", "DECIMATE")
    bpy.ops.object.modifier_move_to_index(modifier="Decimate", index=0)
    all_refuse(make, "changes the number of vertices")
    thing.modifiers.remove(thing.modifiers["Decimate"])
    thing.modifiers.new("Multires", "MULTIRES")
    all_refuse(make, "Multiresolution")
    thing.modifiers.remove(thing.modifiers["Multires"])
    thing.shape_key_add(name="Basis")
    thing.shape_key_add(name=data.LIVE)
    all_refuse(make, "rename it")
    thing.data.shape_keys.key_blocks[data.LIVE].name = "other"
    thing.data.shape_keys.use_relative = False
    all_refuse(make, "absolute")
    thing.data.shape_keys.use_relative = True
    make()
    all_refuse(make, "already")
    all_refuse(keep, "Nothing was sculpted")
    scenes.sculpt(thing, scenes.bulge((0, 0, 2), 1, 0.1))
    all_refuse(keep, "All bones are at rest")
    turn(armature, bone_2=(40, 0, 0))
    before = snapshot()
    refused(keep, "no bone", axes="elbow:X")
    refused(keep, "is no axis", axes="bone 2:W")
    refused(keep, "same as the rest pose", axes="bone 2:TWIST")
    assert snapshot() == before
    assert keep(axes="bone 2:SWING") == {"FINISHED"}
    thing.modifiers["Armature"].object = None
    all_refuse(keep, "lost its armature")
    assert "no armature" in live.problems[live.name_of(thing.data)]
    thing.modifiers["Armature"].object = armature
    turn(armature, bone_2=(60, 0, 0))

    def spoil(form):
        form[3] = numpy.nan
        return form

    scenes.sculpt(thing, spoil)
    all_refuse(keep, "not finite")
    bpy.ops.exemplar.discard()
    before = snapshot()
    refused(bpy.ops.exemplar.import_rig, "no such file", filepath="/nowhere/a rig.glb")
    assert snapshot() == before
    empty = bpy.data.objects.new("empty", bpy.data.meshes.new("empty"))
    bpy.context.scene.collection.objects.link(empty)
    scenes.use(empty)
    all_refuse(make, "no vertices")


def test_tutorial_tube():
    bpy.ops.exemplar.add_tube()
    thing = bpy.context.object
    armature = character.armature_of(thing)
    bpy.ops.exemplar.make()
    armature.pose.bones["forearm"].rotation_euler = (math.radians(90), 0, 0)
    bpy.context.view_layer.update()
    scenes.sculpt(thing, scenes.bulge((0, 0.4, 2), 0.5, 0.2, (0, 1, 0.3)))
    assert bpy.ops.exemplar.keep() == {"FINISHED"}
    assert thing.data.exemplar.layers[0].name == "forearm.x"


def test_bones_edited():
    thing, armature, _ = three()
    turn(armature, bone_2=(90, 0, 0))
    before = live_form(thing)
    armature.data.bones["bone 2"].name = "elbow"
    bpy.context.view_layer.update()
    assert "reads the bone 'bone 2'" in live.problems[live.name_of(thing.data)]
    assert numpy.array_equal(live_form(thing), before)
    armature.data.bones["elbow"].name = "bone 2"
    turn(armature, bone_2=(45, 0, 0))
    assert not live.problems and not numpy.array_equal(live_form(thing), before)
    half = live_form(thing)
    scenes.use(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["bone 2"].roll += math.radians(180)  # x turns the other way now
    bpy.ops.object.mode_set(mode="OBJECT")
    turn(armature, bone_2=(-45, 0, 0))
    turn(armature, bone_2=(45, 0, 0))
    assert numpy.abs(live_form(thing) - half).max() < 1e-5


def test_keep_where_it_would_not_be_seen():
    thing, armature, _ = three()
    keep, layer = bpy.ops.exemplar.keep, thing.data.exemplar.layers[0]
    turn(armature, bone_2=(20, 0, 0))
    scenes.sculpt(thing, scenes.bulge((0, 0, 2), 0.5, 0.3))

    def must_refuse(words):
        before = snapshot()
        refused(keep, words)
        assert snapshot() == before

    layer.muted = True
    must_refuse("is muted")
    layer.muted, layer.solo = False, layer.examples[0].name
    must_refuse("is solo")
    layer.solo = ""
    thing.data.exemplar.enabled = False
    must_refuse("Live is off")
    thing.data.exemplar.enabled = True
    assert keep() == {"FINISHED"} and len(layer.examples) == 4
    layer.examples[1].muted = True
    turn(armature, bone_2=(90, 0, 0))
    scenes.sculpt(thing, scenes.bulge((0, 0, 2), 0.5, 0.3))
    must_refuse("at this pose and muted")
    layer.examples[1].muted = False
    copy = bpy.data.objects.new("copy", thing.data)
    bpy.context.scene.collection.objects.link(copy)
    copy.modifiers.new("Armature", "ARMATURE").object = bpy.data.objects.new("other", armature.data)
    must_refuse("share a mesh")


def test_names():
    thing, armature = tube(bones=3)
    for bone, name in (("bone 2", "a=b"), ("bone 3", "a,b")):
        armature.data.bones[bone].name = name
        armature.pose.bones[name].rotation_mode = "XYZ"
    seen = []
    for bone, height, name in (("a=b", 4 / 3, "tab\there" + "é" * 60), ("a,b", 8 / 3, "sculpt: \"one\" / two")):
        for each in armature.pose.bones:
            each.rotation_euler = (0, 0, 0)
        armature.pose.bones[bone].rotation_euler = (1, 0, 0)
        bpy.context.view_layer.update()
        scenes.sculpt(thing, scenes.bulge((0, 0.4, height), 0.4, 0.2))
        seen.append(scenes.posed(thing))
        assert bpy.ops.exemplar.keep(name=name) == {"FINISHED"}
        assert numpy.abs(scenes.posed(thing) - seen[-1]).max() < 1e-6
    layers = thing.data.exemplar.layers
    assert len({layer.axes[0].name for layer in layers}) == 2
    keys = thing.data.shape_keys.key_blocks
    assert all(example.name in keys for layer in layers for example in layer.examples)
    export.Whole(thing, armature, bpy.context.scene).rig.to_bytes()


def test_keep_in_sculpt_mode_with_the_armature_active():
    thing, armature = tube()
    turn(armature, bone_2=(70, 0, 0))
    bpy.ops.object.mode_set(mode="SCULPT")
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    assert thing.mode == "SCULPT" and armature.mode == "POSE"
    made = live_form(thing)
    made[:, 1] += 0.1
    compat.write_key(live.key_of(thing.data), made)
    refused(bpy.ops.exemplar.keep, "no bone", axes="elbow:X")
    assert thing.mode == "SCULPT" and armature.mode == "POSE"
    assert bpy.ops.exemplar.keep() == {"FINISHED"}
    assert thing.mode == "OBJECT" and armature.mode == "POSE"


def test_keep_where_a_key_is_gone():
    thing, armature, _ = three()
    turn(armature, bone_2=(90, 0, 0))
    thing.shape_key_remove(thing.data.shape_keys.key_blocks["bone 2.x 90"])
    bpy.context.view_layer.update()
    scenes.use(thing)
    thing.active_shape_key_index = list(thing.data.shape_keys.key_blocks.keys()).index(data.LIVE)
    scenes.sculpt(thing, scenes.bulge((0, 0, 2), 0.5, 0.3))
    seen = scenes.posed(thing)
    assert bpy.ops.exemplar.keep() == {"FINISHED"}
    assert len(thing.data.exemplar.layers[0].examples) == 3
    assert numpy.abs(scenes.posed(thing) - seen).max() < 1e-6


def test_one_undo_takes_a_keep_in_sculpt_mode_back():
    thing, armature = tube()
    turn(armature, bone_2=(70, 0, 0))
    scenes.use(thing)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.mode_set("EXEC_DEFAULT", True, mode="SCULPT")
    made = live_form(thing)
    made[:, 1] += 0.1
    compat.write_key(live.key_of(thing.data), made)
    assert bpy.ops.exemplar.keep("EXEC_DEFAULT", True) == {"FINISHED"}
    assert len(thing.data.exemplar.layers) == 1
    bpy.ops.ed.undo()
    thing = bpy.data.objects["Tube"]
    bpy.context.view_layer.update()
    assert len(thing.data.exemplar.layers) == 0
    assert numpy.array_equal(live_form(thing), made)  # the sculpt is there, and not kept
    assert bpy.ops.exemplar.keep() == {"FINISHED"}
