"""Ways out: baked drivers, exported rigs and projects, baked actions."""
import json
import math
import pathlib
import tempfile

import bpy
import exemplar
import numpy
import scenes
from exemplar_blender import bake_keys, export


def turn(armature, bone, *angles):
    one = armature.pose.bones[bone]
    one.rotation_mode, one.rotation_euler = "XYZ", [math.radians(each) for each in angles]
    bpy.context.view_layer.update()


def keep(thing, armature, bone, angles, centre, axes="", amount=0.2):
    turn(armature, bone, *angles)
    scenes.sculpt(thing, scenes.bulge(centre, 0.5, amount, (0, 1, 0.4)))
    assert bpy.ops.exemplar.keep(axes=axes) == {"FINISHED"}


def character(axes=None):
    """A tube with two sculpts over an angle, and three over other axes of the third bone."""
    thing, armature = scenes.tube(around=12, along=30, bones=3)
    bpy.ops.exemplar.make()
    keep(thing, armature, "bone 2", (60, 0, 0), (0, 0.3, 4 / 3))
    keep(thing, armature, "bone 2", (110, 0, 0), (0, 0.3, 4 / 3), amount=0.3)
    turn(armature, "bone 2", 0, 0, 0)
    if axes:
        for angles in ((50, 0, 0), (0, 0, 50), (40, 20, -40)):
            keep(thing, armature, "bone 3", angles, (0.3, 0, 8 / 3), axes)
    turn(armature, "bone 3", 10, 0, 0)
    return thing, armature


def all_simple(mesh):
    curves = bake_keys.drivers(mesh) + [curve for _, curve in bake_keys.helpers(mesh)]
    assert curves
    for curve in curves:
        assert curve.driver.is_simple_expression and curve.driver.is_valid, curve.driver.expression
        assert len(curve.driver.expression) < 256


def random_poses(armature, count=12):
    random = numpy.random.default_rng(3)
    for _ in range(count):
        turn(armature, "bone 2", random.uniform(-20, 120), 0, 0)
        share = random.uniform(0, 1, 2)
        turn(armature, "bone 3", 50 * share[0], 0, 50 * share[1])
        yield


def compared(axes, most):
    """Bakes, and compares live and baked forms at poses that the bake did not measure."""
    thing, armature = character(axes)
    live = [scenes.posed(thing) for _ in random_poses(armature)]
    turn(armature, "bone 2", 33, 0, 0)
    before = [bone.rotation_euler.copy() for bone in armature.pose.bones]
    assert bpy.ops.exemplar.bake_keys() == {"FINISHED"}
    assert [bone.rotation_euler for bone in armature.pose.bones] == before
    rig = thing.data.exemplar
    assert not rig.enabled and rig.baked and 0 < rig.baked_share < most, rig.baked_share
    assert thing.data.shape_keys.key_blocks["Exemplar"].mute
    all_simple(thing.data)
    worst = max(numpy.linalg.norm(scenes.posed(thing) - form, axis=1).max() for form, _ in zip(live, random_poses(armature)))
    assert worst < 1.5 * rig.baked_error + 1e-6, (worst, rig.baked_error)
    return thing, armature, live


def test_bake_angle():
    compared(None, 1e-4)


def test_bake_swing():
    compared("bone 3:SWING", 5e-3)


def test_bake_rotation():
    compared("bone 3:ROTATION", 5e-3)


def test_bake_three_angles():
    compared("bone 2:X;bone 3:X;bone 3:Z", 1e-2)


def test_bake_two_angles():
    compared("bone 3:X;bone 3:Z", 1e-3)


def test_unbake():
    thing, armature, live = compared(None, 1e-4)
    assert bpy.ops.exemplar.unbake() == {"FINISHED"}
    assert not bake_keys.drivers(thing.data) and not bake_keys.helpers(thing.data)
    assert not [name for name in thing.keys() if name.startswith(bake_keys.PREFIX)]
    for form, _ in zip(live, random_poses(armature)):
        assert numpy.abs(scenes.posed(thing) - form).max() < 1e-6
    try:
        bpy.ops.exemplar.unbake()
        raise AssertionError("it was not refused")
    except RuntimeError as error:
        assert "is not baked" in str(error)


def test_saved_file_is_baked():
    thing, armature, live = compared(None, 1e-4)
    thing.data.exemplar.enabled = True
    turn(armature, "bone 2", 80, 0, 0)
    wanted, key = scenes.posed(thing), thing.data.shape_keys.key_blocks["Exemplar"]
    assert not key.mute and key.value == 1 and all(curve.mute for curve in bake_keys.drivers(thing.data))
    share = thing.data.exemplar.baked_error
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "a.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        assert not key.mute and key.value == 1
        handlers = list(bpy.app.handlers.load_post), list(bpy.app.handlers.depsgraph_update_post)
        bpy.app.handlers.load_post.clear()  # as without the add-on
        bpy.app.handlers.depsgraph_update_post.clear()
        try:
            bpy.ops.wm.open_mainfile(filepath=path)
            thing = bpy.data.objects["Tube"]
            assert thing.data.shape_keys.key_blocks["Exemplar"].mute
            assert numpy.linalg.norm(scenes.posed(thing) - wanted, axis=1).max() <= 1.5 * share
            assert thing.data.shape_keys.key_blocks["bone 2.x 60"].value > 0.1
        finally:
            bpy.app.handlers.load_post.extend(handlers[0])
            bpy.app.handlers.depsgraph_update_post.extend(handlers[1])
        bpy.ops.wm.open_mainfile(filepath=path)
        thing = bpy.data.objects["Tube"]
        assert not thing.data.shape_keys.key_blocks["Exemplar"].mute
        assert numpy.abs(scenes.posed(thing) - wanted).max() < 1e-6


def painted(thing):
    """Gives a tube a map and a material with an image."""
    thing.data.uv_layers.new(name="map")
    image = bpy.data.images.new("dots", 8, 8)
    image.pixels = [0.5] * 256
    image.pack()
    material = bpy.data.materials.new("skin")
    material.use_nodes = True
    nodes = material.node_tree.nodes
    texture = nodes.new("ShaderNodeTexImage")
    texture.image = image
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    material.node_tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    thing.data.materials.append(material)


def glb(path):
    data = pathlib.Path(path).read_bytes()
    return json.loads(data[20:20 + int.from_bytes(data[12:16], "little")])


def test_export_rig():
    thing, armature = character()
    painted(thing)
    turn(armature, "bone 2", 70, 0, 0)
    objects = len(bpy.data.objects), len(bpy.data.meshes)
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "rig.glb")
        assert bpy.ops.exemplar.export_rig(filepath=path) == {"FINISHED"}
        rig, whole = exemplar.load(path), export.Whole(thing, armature, bpy.context.scene)
        made = glb(path)
        assert made["images"] and made["materials"][0]["name"] == "skin"
        pose = whole.pose(bpy.context.evaluated_depsgraph_get())
        there = rig.evaluate(exemplar.Pose(rig, 1, joints=pose.joints, dials=pose.dials))[0]
        assert numpy.abs(whole.frame.back(there) - scenes.posed(thing)).max() < 1e-5
        assert bpy.ops.exemplar.export_project(filepath=str(pathlib.Path(folder) / "p" / "tube.json")) == {"FINISHED"}
        assert exemplar.Project(pathlib.Path(folder) / "p" / "tube.json").build().examples == rig.examples
    assert (len(bpy.data.objects), len(bpy.data.meshes)) == objects and bpy.context.object == thing


def test_export_from_pose_mode():
    thing, armature = character()
    bpy.ops.exemplar.pose()
    assert bpy.context.object == armature and armature.mode == "POSE"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rig.glb"
        assert bpy.ops.exemplar.export_rig(filepath=str(path)) == {"FINISHED"}
        assert bpy.ops.exemplar.bake_action(filepath=str(path.with_suffix(".pc2")), kind=".pc2", first=1, last=2) == \
            {"FINISHED"}
        assert path.exists() and path.with_suffix(".pc2").exists()
    assert armature.mode == "POSE"
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = None
    assert not bpy.ops.exemplar.export_rig.poll()


def test_bake_says_how_many_poses_were_tried():
    thing, armature = character()
    before, bake_keys.MEMORY = bake_keys.MEMORY, 12 * 15 * len(thing.data.vertices)
    try:
        said = bake_keys.bake(bpy.context, thing, armature)
    finally:
        bake_keys.MEMORY = before
    assert said.endswith("at 15 poses"), said


def test_export_rig_refuses_a_sculpt_that_is_not_kept():
    thing, armature = character()
    scenes.sculpt(thing, scenes.bulge((0, 0.4, 2), 0.5, 0.2))
    with tempfile.TemporaryDirectory() as folder:
        try:
            bpy.ops.exemplar.export_rig(filepath=str(pathlib.Path(folder) / "rig.glb"))
            raise AssertionError("it was not refused")
        except RuntimeError as error:
            assert "press Keep or Discard Sculpt" in str(error)
        assert not list(pathlib.Path(folder).iterdir())


def test_bake_action():
    thing, armature = character()
    bone, scene = armature.pose.bones["bone 2"], bpy.context.scene
    for frame, angle in ((1, 0), (6, 110)):
        bone.rotation_euler = (math.radians(angle), 0, 0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_start, scene.frame_end = 1, 6
    scene.frame_set(3)
    whole = export.Whole(thing, armature, scene)
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".glb", ".pc2", ".mdd", ".abc"):
            path = str(pathlib.Path(folder) / ("moving" + ending))
            assert bpy.ops.exemplar.bake_action(filepath=path) == {"FINISHED"}
            assert scene.frame_current == 3
            if ending != ".glb":
                with exemplar.Cache(path) as cache:
                    assert cache.shape[0] == 6
                    for frame in (1, 4, 6):
                        scene.frame_set(frame)
                        assert numpy.abs(whole.frame.back(cache[frame - 1]) - scenes.posed(thing)).max() < 1e-5
                scene.frame_set(3)
            else:
                assert glb(path)["animations"]


def test_bake_follows_constraints():
    """A bone that a constraint turns is read after the constraint, live and baked."""
    thing, armature = character()
    empty = bpy.data.objects.new("Aim", None)
    bpy.context.scene.collection.objects.link(empty)
    assert bpy.ops.exemplar.bake_keys() == {"FINISHED"}
    turn(armature, "bone 2", 0, 0, 0)
    constraint = armature.pose.bones["bone 2"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.target_space, constraint.owner_space = empty, "WORLD", "LOCAL"
    rig = thing.data.exemplar
    for degrees in (25, 85):
        empty.rotation_euler = (math.radians(degrees), 0, 0)
        bpy.context.view_layer.update()
        baked = scenes.posed(thing)
        assert max(key.value for key in thing.data.shape_keys.key_blocks if "bone 2" in key.name) > 0.2
        rig.enabled = True
        bpy.context.view_layer.update()
        assert numpy.linalg.norm(scenes.posed(thing) - baked, axis=1).max() < 2 * rig.baked_error
        rig.enabled = False


def test_bake_refuses():
    thing, armature = scenes.tube(around=12, along=30)
    bpy.ops.exemplar.make()
    for sentence, change in (("There are no examples to bake", lambda: None),
                             ("press Keep or Discard Sculpt", lambda: scenes.sculpt(
                                 thing, scenes.bulge((0, 0.4, 2), 0.5, 0.2)))):
        change()
        try:
            bpy.ops.exemplar.bake_keys()
            raise AssertionError("it was not refused")
        except RuntimeError as error:
            assert sentence in str(error)
        assert thing.data.exemplar.enabled and not thing.data.exemplar.baked


def test_bake_leaves_out_what_is_muted():
    thing, armature = character("bone 3:SWING")
    rig = thing.data.exemplar
    rig.layers[0].examples[1].muted = True
    rig.layers[1].muted = True
    assert bpy.ops.exemplar.bake_keys() == {"FINISHED"}
    assert len(bake_keys.drivers(thing.data)) == 1
    turn(armature, "bone 2", 60, 0, 0)
    turn(armature, "bone 3", 50, 0, 0)
    values = {key.name: key.value for key in thing.data.shape_keys.key_blocks}
    assert abs(values.pop("bone 2.x 60") - 1) < 1e-3 and not any(values.values()), values


def test_bake_sliders():
    """Layers over a custom property, and layers that are sliders themselves."""
    thing, armature = character()
    rig = thing.data.exemplar
    for name, kind in (("smile", "direct"), ("age", "calm")):
        layer = rig.layers.add()
        layer.name, layer.kind = name, kind
        axis = layer.axes.add()
        axis.name, axis.reading = name, "DIAL"
        key = thing.shape_key_add(name=f"{name} example", from_mix=False)
        key.data[5].co.x += 0.5
        example = layer.examples.add()
        example.name = key.name
        if kind != "direct":
            example.place([1.0])
        thing[name] = 0.0
    assert bpy.ops.exemplar.bake_keys() == {"FINISHED"}
    assert rig.baked_share < 1e-3 and thing["age"] == 0.0
    thing["smile"], thing["age"] = 0.25, 1.0
    thing.update_tag()
    bpy.context.view_layer.update()
    blocks = thing.data.shape_keys.key_blocks
    assert abs(blocks["smile example"].value - 0.25) < 1e-6 and abs(blocks["age example"].value - 1) < 1e-3


def test_export_project_has_a_folder_of_its_own():
    thing, _ = character()
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder) / "mesh.obj"
        other.write_text("mine")
        bpy.ops.exemplar.export_project(filepath=str(pathlib.Path(folder) / "arm.json"))
        assert other.read_text() == "mine"
        assert exemplar.Project(pathlib.Path(folder) / "arm" / "arm.json").build().vertex_count() == len(thing.data.vertices)
