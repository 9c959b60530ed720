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


def test_sculpt_stays_after_undo_in_sculpt_mode():
    thing, armature = tube()
    scenes.turn(armature, "bone 2", 90)
    bpy.ops.exemplar.sculpt()
    made = sculpt(thing)
    live.on_other()
    work("OBJECT")
    assert is_pending(thing, made)
    assert bpy.ops.exemplar.keep() == {"FINISHED"}


def test_sculpt_stays_after_undo():
    thing, armature = tube()
    scenes.turn(armature, "bone 2", 90)
    bpy.ops.ed.undo_push(message="before")
    plain = form(thing)
    made = plain + numpy.array([0.1, 0, 0], dtype=numpy.float32)
    compat.write_key(live.key_of(thing.data), made)
    bpy.ops.ed.undo_push(message="sculpt")  # before an update has seen it, as on leaving Sculpt Mode
    thing.data.update_tag()
    bpy.context.view_layer.update()
    assert is_pending(thing, made)
    scenes.turn(armature, "bone 2", 40)
    bpy.ops.ed.undo_push(message="turn")
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    assert is_pending(bpy.data.objects["Tube"], made)
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    thing = bpy.data.objects["Tube"]
    assert not thing.data.exemplar.pending and numpy.array_equal(form(thing), plain)
    bpy.ops.ed.redo()
    bpy.context.view_layer.update()
    assert is_pending(bpy.data.objects["Tube"], made)


def test_sculpt_stays_after_a_change_of_frame():
    thing, armature = tube()
    scenes.turn(armature, "bone 2", 90)
    bpy.ops.exemplar.sculpt()
    made = sculpt(thing)
    work("OBJECT")
    thing.data.exemplar.pending = False  # as if no update had seen it
    live.on_other()
    bpy.context.scene.frame_set(7)
    assert is_pending(thing, made)


def test_sculpt_stays_in_a_file():
    thing, armature = tube()
    scenes.turn(armature, "bone 2", 90)
    bpy.ops.exemplar.sculpt()
    made = sculpt(thing)
    with tempfile.TemporaryDirectory() as folder:
        thing, armature = reload(folder)
        if thing.mode != "OBJECT":
            bpy.context.view_layer.objects.active = thing
            work("OBJECT")
        bpy.context.view_layer.update()
        assert is_pending(thing, made)


def test_sculpt_stays_while_not_live():
    thing, armature = tube()
    kept(thing, armature)
    thing.data.exemplar.enabled = False
    with tempfile.TemporaryDirectory() as folder:
        thing, armature = reload(folder)
    scenes.use(thing)
    made = sculpt(thing)
    assert not thing.data.exemplar.pending
    thing.data.exemplar.enabled = True
    bpy.context.view_layer.update()
    assert is_pending(thing, made)
    bpy.ops.exemplar.discard()
    thing.data.exemplar.enabled = False
    scenes.turn(armature, "bone 2", 10)
    still = form(thing)
    thing.data.exemplar.enabled = True
    bpy.context.view_layer.update()
    assert not thing.data.exemplar.pending and far(form(thing), still) > 0.05


def test_sculpt_stays_when_the_mesh_is_renamed():
    thing, armature = tube()
    kept(thing, armature)
    bpy.ops.exemplar.sculpt()
    made = sculpt(thing)
    thing.data.name = "other"
    work("OBJECT")
    assert is_pending(thing, made)


def test_basis_edited_elsewhere_is_no_sculpt():
    thing, armature = tube()
    kept(thing, armature)
    scenes.turn(armature, "bone 2", 0)
    before = form(thing)
    select(thing, "Basis")
    handlers = [(place, handler) for place, handler in live.handlers() if handler in place]
    for place, handler in handlers:
        place.remove(handler)
    try:
        work("EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.transform.translate(value=(1, 0, 0))
        work("OBJECT")
    finally:
        for place, handler in handlers:
            place.append(handler)
    live.on_load()
    thing.data.update_tag()
    bpy.context.view_layer.update()
    assert not thing.data.exemplar.pending
    assert far(form(thing), before + numpy.array([1, 0, 0])) < 1e-5
    scenes.turn(armature, "bone 2", 90)
    assert far(form(thing), form(thing, "Basis")) > 0.1


def test_new_vertices_leave_a_sculpt():
    thing, armature = tube(around=8, along=16)
    kept(thing, armature)
    scenes.turn(armature, "bone 2", 45)
    for moved in (0.0, 0.3):
        before, count = form(thing)[:, 0].mean(), len(thing.data.vertices)
        select(thing, data.LIVE)
        work("EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.transform.translate(value=(moved, 0, 0))
        bpy.ops.mesh.subdivide()
        work("OBJECT")
        assert len(thing.data.vertices) > count
        assert thing.data.exemplar.pending == (moved > 0), moved
        assert abs(form(thing)[:, 0].mean() - before - moved) < 0.01
    assert bpy.ops.exemplar.keep() == {"FINISHED"}


def test_make_after_remove():
    thing, armature = tube()
    kept(thing, armature)
    bpy.ops.exemplar.remove_rig()
    bpy.ops.exemplar.make()
    bpy.context.view_layer.update()
    assert not thing.data.exemplar.pending
    kept(thing, armature, 60)
    scenes.turn(armature, "bone 2", 90)
    sculpt(thing, 0.1)
    assert thing.data.exemplar.pending
    thing.shape_key_remove(live.key_of(thing.data))
    bpy.ops.exemplar.make()
    bpy.context.view_layer.update()
    assert not thing.data.exemplar.pending and far(form(thing), form(thing, "Basis")) > 0.1


def test_make_takes_its_key_back():
    thing, armature = tube()
    name = kept(thing, armature)
    seen = scenes.posed(thing)
    live.key_of(thing.data).name = "mine"
    bpy.ops.exemplar.make()
    assert thing.data.shape_keys.key_blocks.keys() == ["Basis", data.LIVE, name]
    assert far(scenes.posed(thing), seen) < 1e-6 and not thing.data.exemplar.pending


def test_new_mesh_of_an_old_name():
    thing, armature = tube()
    kept(thing, armature)
    mesh = thing.data
    bpy.data.objects.remove(thing)
    bpy.data.meshes.remove(mesh)
    bpy.data.objects.remove(armature)
    thing, armature = tube()
    bpy.context.view_layer.update()
    assert thing.data.name == "Tube" and not thing.data.exemplar.pending


def test_example_edited_by_hand():
    thing, armature = tube()
    name = kept(thing, armature)
    for mode in ("EDIT", "SCULPT"):
        select(thing, name)
        work(mode)
        assert thing.active_shape_key.name == name
        if mode == "EDIT":
            bpy.ops.mesh.select_all(action="SELECT")
            bpy.ops.transform.translate(value=(0, 0.3, 0))
        else:
            sculpt(thing)
        before = form(thing)
        work("OBJECT")
        assert far(form(thing), before) > 0.1
        assert far(form(thing), form(thing, name)) < 1e-6 and not thing.data.exemplar.pending
    revision = thing.data.exemplar.revision
    scenes.turn(armature, "bone 2", 50)
    assert thing.data.exemplar.revision == revision


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


def test_one_broken_rig_leaves_the_others():
    thing, armature = tube()
    kept(thing, armature)
    other = thing.copy()
    other.data = thing.data.copy()
    bpy.context.scene.collection.objects.link(other)
    scenes.turn(armature, "bone 2", 0)
    update, broken = live.update, thing

    def failing(thing, *rest):
        if thing == broken:
            raise IndexError("broken on purpose")
        return update(thing, *rest)

    live.update = failing
    try:
        scenes.turn(armature, "bone 2", 90)
    finally:
        live.update = update
    assert far(form(other), form(other, "Basis")) > 0.1
    assert live.problems[live.name_of(thing.data)] == "Broken on purpose"
    scenes.turn(armature, "bone 2", 80)
    assert not live.problems


def test_bone_renamed_while_sculpting():
    thing, armature = tube()
    kept(thing, armature)
    scenes.turn(armature, "bone 2", 45)
    bpy.ops.exemplar.sculpt()
    made = sculpt(thing)
    armature.data.bones["bone 2"].name = "elbow"
    work("OBJECT")
    assert is_pending(thing, made)
    assert "reads the bone 'bone 2'" in live.problems[live.name_of(thing.data)]
    scenes.clear()
    assert not live.problems


def test_many_rigs_are_kept():
    thing, armature = scenes.tube(around=4, along=4)
    bpy.ops.exemplar.make()
    kept(thing, armature)
    for _ in range(live.KEPT + 1):
        other = thing.copy()
        other.data = thing.data.copy()
        bpy.context.scene.collection.objects.link(other)
    scenes.turn(armature, "bone 2", 45)
    rigs = set(map(id, live._rigs.values()))
    assert len(rigs) >= live.KEPT + 2
    scenes.turn(armature, "bone 2", 50)
    assert set(map(id, live._rigs.values())) == rigs
    mesh = thing.data
    for i in range(stored.KEPT + 2):
        stored.add(mesh, f"rig {i}", "RIG", file_of(thing, armature))
    files = list(stored.rigs(mesh).values())
    assert all(a is b for a, b in zip(files, stored.rigs(mesh).values()))


def file_of(thing, armature):
    return export.Whole(thing, armature, bpy.context.scene).rig.to_bytes()


def test_only_what_was_changed_is_looked_at():
    thing, armature = tube()
    kept(thing, armature)
    other = thing.copy()
    other.data = thing.data.copy()
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    seen, look = [], live.look
    live.look = lambda thing, *rest: seen.append(thing.name) or look(thing, *rest)
    try:
        scenes.turn(armature, "bone 2", 30)
        assert not seen, seen
        thing.data.update_tag()
        bpy.context.view_layer.update()
        assert seen == [thing.name], seen
    finally:
        live.look = look


def test_a_thread_waits_for_its_frame():
    tube()
    scene, follow, order = bpy.context.scene, live._follow_all, []
    threads = []

    def all_of(scene, depsgraph, changed):
        order.append("begin " + threading.current_thread().name)
        if not threads:
            threads.append(threading.Thread(target=live._follow, args=(scene, depsgraph), name="render"))
            threads[0].start()
            threads[0].join(0.2)
            live._follow(scene, depsgraph)  # from within: nothing to do
        order.append("end " + threading.current_thread().name)

    live._follow_all = all_of
    try:
        live._follow(scene, bpy.context.evaluated_depsgraph_get())
        threads[0].join()
    finally:
        live._follow_all = follow
    main = threading.main_thread().name
    assert order == [f"begin {main}", f"end {main}", "begin render", "end render"], order
