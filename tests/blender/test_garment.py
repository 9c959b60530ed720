"""Garments that follow a body, in Blender."""
import os
import tempfile

import bmesh
import bpy
import numpy
import scenes
from exemplar_blender import live, stored
from mathutils import Vector
from mathutils.bvhtree import BVHTree

LEARNED = [((0, 0), (0, 0)), ((10, 10), (60, 0)), ((0, -20), (90, 20)), ((-20, 0), (-60, 0)), ((20, 20), (-90, -20)),
           ((0, 0), (30, 50)), ((0, 0), (0, 0))]
UNSEEN = [((0, 0), (0, 0)), ((-10, 10), (45, 20)), ((10, 10), (-70, 10)), ((10, -10), (75, -20))]


def wardrobe(poses=LEARNED, step=5, **options):
    """A body, its armature, and a sleeve that is selected with it. It is not simulated unless asked for."""
    body, armature = scenes.tube(around=16, along=24)
    garment = scenes.sleeve(body, armature, **{"cloth": False, **options})
    scenes.act(armature, poses, step)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 1 + step * (len(poses) - 1)
    scenes.use(garment)
    body.select_set(True)
    return body, armature, garment


def seen(thing):
    return stored.seen(thing.evaluated_get(bpy.context.evaluated_depsgraph_get()), len(thing.data.vertices),
                       bpy.context.scene.unit_settings.scale_length)


def played(thing, frames):
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        out.append(seen(thing))
    return numpy.array(out)


def refused(words, **options):
    try:
        bpy.ops.exemplar.garment_learn(**options)
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"it was not refused: {words}")


def depth(body, points):
    """Of the deepest of points inside the body, as it is seen: a tube, whose ends do not count."""
    shown = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tree, most = BVHTree.FromPolygons([vertex.co for vertex in shown.data.vertices],
                                      [face.vertices for face in shown.data.polygons]), 0.0
    for point in points @ stored.UP:
        place, normal, _, _ = tree.find_nearest(Vector(point))
        most = max(most, -(Vector(point) - place).dot(normal))
    return most


def test_follows_an_action_it_has_not_seen():
    body, armature, garment = wardrobe(UNSEEN, 15, cloth=True)
    frames = range(1, 47)
    garment.modifiers["Cloth"].point_cache.frame_end = 100
    simulated = played(garment, frames)[8:]
    garment.modifiers["Cloth"].show_viewport = False
    skinned = played(garment, frames)[8:]
    garment.modifiers["Cloth"].show_viewport = True
    scenes.act(armature, LEARNED)
    bpy.ops.exemplar.garment_learn(begin=8, end=91)
    assert not any(modifier.show_viewport for modifier in garment.modifiers if modifier.type in ("CLOTH", "ARMATURE"))
    scenes.act(armature, UNSEEN)
    followed = played(garment, frames)[8:]
    mean = [numpy.linalg.norm(form - simulated, axis=2).mean() for form in (followed, skinned)]
    assert mean[0] < 0.7 * mean[1], mean
    bpy.context.scene.frame_set(31)
    assert depth(body, seen(garment)) < 0.02, depth(body, seen(garment))


def test_comes_back_on_learned_frames_in_any_space():
    for options in ({}, {"scale": 0.5, "turn": (0.3, 1.2, 0.1), "place": (1, -2, 3)}):
        scenes.clear()
        bpy.context.scene.unit_settings.scale_length = 0.5
        body, _, garment = wardrobe(**options)
        for each in (body, garment):
            each.modifiers.new("Subdivision", "SUBSURF").levels = 1
        before = []
        for frame in (1, 6, 11, 24):
            bpy.context.scene.frame_set(frame)
            before.append(scenes.posed(garment))
        bpy.ops.exemplar.garment_learn()
        assert [modifier.show_viewport for modifier in garment.modifiers] == [False, True, True]
        for frame, form in zip((1, 6, 11, 24), before):
            bpy.context.scene.frame_set(frame)
            assert numpy.linalg.norm(scenes.posed(garment) - form, axis=1).mean() < 0.02 / garment.scale.x, frame


def test_is_never_late():
    body, armature, garment = wardrobe()
    bpy.ops.exemplar.garment_learn()
    scenes.use(body)
    bpy.ops.exemplar.make()
    bpy.context.scene.frame_set(11)
    scenes.sculpt(body, lambda form: form * [1.4, 1.4, 1])
    bpy.ops.exemplar.keep()
    rig = stored.rigs(garment.data)["garment"]
    last = seen(garment)
    for frame in (26, 11, 3, 12, 31):
        bpy.context.scene.frame_set(frame)
        now = seen(garment)
        assert numpy.abs(now - rig.evaluate(driver=seen(body))[0]).max() < 1e-5, frame
        assert numpy.abs(now - last).max() > 0.01
        last = now
    armature.animation_data_clear()
    for angle in (0.5, -0.5):
        armature.pose.bones[1].rotation_euler.x = angle
        bpy.context.view_layer.update()
        assert numpy.abs(seen(garment) - rig.evaluate(driver=seen(body))[0]).max() < 1e-5, angle


def test_follows_a_hidden_body_and_is_saved():
    body, _, garment = wardrobe()
    bpy.ops.exemplar.garment_learn()
    want = played(garment, (9, 20))
    body.hide_viewport = True
    assert numpy.abs(played(garment, (9, 20)) - want).max() < 1e-6
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "garment.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    assert numpy.abs(played(bpy.data.objects["Sleeve"], (9, 20)) - want).max() < 1e-6


def test_motion_is_played_frame_by_frame():
    """The sleeve is three frames behind the body, so where it is depends on how the body moves."""
    poses = [((0, 0), (x, 0)) for x in (0, 90, 0, -90, 0, 60, -60, 90)]
    body, armature, garment = wardrobe(poses, step=12)
    later = armature.copy()
    bpy.context.scene.collection.objects.link(later)
    scenes.act(later, poses, 12, begin=4)
    garment.modifiers["Armature"].object = later
    bpy.ops.exemplar.garment_learn(method="motion")
    rig, scene = stored.rigs(garment.data)["garment"], bpy.context.scene
    live.forget(garment.data)
    scene.frame_set(60)
    player = rig.player()
    moving = []
    for frame in (20, 21, 22, 23, 24):
        scene.frame_set(frame)
        want = player.evaluate(driver=seen(body), elapsed=0 if frame == 20 else 1 / 24)[0]
        assert numpy.abs(seen(garment) - want).max() < 1e-5, frame
        moving.append(numpy.abs(want - rig.evaluate(driver=seen(body))[0]).max())
    assert moving[0] < 1e-6 and moving[-1] > 0.05, moving


def test_forget_gives_the_modifiers_back():
    body, _, garment = wardrobe()
    before = played(garment, (6, 11))
    bpy.ops.exemplar.garment_learn()
    bpy.ops.exemplar.garment_forget()
    assert [modifier.name for modifier in garment.modifiers] == ["Armature"]
    assert garment.modifiers[0].show_viewport and garment.modifiers[0].show_render
    assert not garment.data.exemplar.made and "exemplar:garment" not in garment.data
    assert numpy.array_equal(played(garment, (6, 11)), before)


def test_panel_shows_the_body():
    import test_panel
    wardrobe()
    bpy.ops.exemplar.garment_learn()
    assert "Driver" in test_panel.drawn()


def test_remove_rig_gives_the_modifiers_back():
    body, _, garment = wardrobe()
    before = played(garment, (6, 11))
    bpy.ops.exemplar.garment_learn()
    bpy.ops.exemplar.remove_rig("EXEC_DEFAULT")
    assert [modifier.name for modifier in garment.modifiers] == ["Armature"]
    assert not garment.data.exemplar.made and "exemplar:garment" not in garment.data
    assert numpy.abs(played(garment, (6, 11)) - before).max() < 1e-6


def test_other_vertices_are_a_sentence():
    body, _, garment = wardrobe()
    bpy.ops.exemplar.garment_learn()
    entry = garment.data.exemplar.stored[0]
    assert stored.problem(garment.data, entry) == ""
    made = bmesh.new()
    made.from_mesh(body.data)
    bmesh.ops.delete(made, geom=made.verts[:16])
    made.to_mesh(body.data)
    made.free()
    assert stored.problem(garment.data, entry) == ("'Tube' had 400 vertices when 'garment' was learned and has 384: undo "
                                                   "that, or learn it again")
    bpy.context.scene.frame_set(20)
    assert live.problems[live.name_of(garment.data)] == stored.problem(garment.data, entry)
    bpy.data.objects.remove(body)
    bpy.context.scene.frame_set(21)
    assert "is gone: choose it again" in live.problems[live.name_of(garment.data)]
    entry.muted = True
    bpy.context.view_layer.update()
    assert live.name_of(garment.data) not in live.problems


def test_bad_cases_are_sentences():
    body, armature, garment = wardrobe()
    refused("A garment cannot follow itself", driver="Sleeve")
    refused("There is no mesh 'Nothing' in this scene", driver="Nothing")
    refused("There are 5 frames to learn from: give at least 10", begin=1, end=5)
    body.select_set(False)
    refused("Select the body, then the garment with Shift")
    body.select_set(True)
    armature.animation_data_clear()
    bpy.context.scene.frame_set(1)
    refused("'Tube' does not move from frame 1 to 31")
    scenes.act(armature, LEARNED, 5)
    garment.modifiers["Armature"].show_viewport = False
    refused("'Sleeve' does not move from frame 1 to 31")
    garment.modifiers["Armature"].show_viewport = True
    body.hide_viewport = True
    refused("'Tube' is hidden", driver="Tube")
    body.hide_viewport = False
    body.select_set(True)
    garment.modifiers.new("Mirror", "MIRROR")
    garment.modifiers.new("Wave", "WAVE")
    refused("The modifier 'Mirror' changes the number of vertices before 'Wave'")
    garment.modifiers.remove(garment.modifiers["Mirror"])
    garment.shape_key_add(name="Basis")
    garment.shape_key_add(name="Wide").value = 1
    refused("Shape keys of 'Sleeve' are in use (Wide)")
    assert not garment.data.exemplar.made and len(garment.data.shape_keys.key_blocks) == 2
    garment.data.shape_keys.key_blocks["Wide"].value = 0
    bpy.ops.exemplar.garment_learn()
    refused("'Sleeve' is a garment already")
    scenes.use(body)
    refused("'Sleeve' follows 'Tube': forget that garment first", driver="Sleeve")
