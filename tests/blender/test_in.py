"""Ways in: imported rigs and projects, correctives with drivers, projects that were changed outside."""
import math
import pathlib
import tempfile

import bpy
import exemplar
import numpy
import scenes
from exemplar_blender import bring_bones, export


def random_pose(rig, random):
    """Values of all axes within their ranges; rotations near those of the examples."""
    values = {}
    for axis in rig.axes.values():
        if axis.width == 1:
            values[axis.name] = random.uniform(axis.min, axis.max)
        else:
            turn = random.normal(0, [0.3, 0.3, 0.3, 1])
            values[axis.name] = turn / numpy.linalg.norm(turn)
    return rig.pose(values)


def bring(source):
    """Imports a rig's file. Returns the object, its armature, and the rig."""
    assert bpy.ops.exemplar.import_rig(filepath=str(source)) == {"FINISHED"}
    thing = bpy.context.object
    for modifier in thing.modifiers:
        if modifier.type == "SUBSURF":
            modifier.show_viewport = False
    return thing, thing.parent


def differences(thing, armature, rig, count=20):
    """The largest distance of the seen form from the rig's, at rest and at random poses, in parts of the size."""
    joints, random, worst = bring_bones.Joints(rig, 1.0), numpy.random.default_rng(5), 0.0
    joints.names = [bone or f"joint {j + 1}" for j, bone in enumerate(joints.skeleton.names)]
    for pose in [rig.pose()] + [random_pose(rig, random) for _ in range(count)]:
        if rig.skeleton is not None:
            joints.pose(armature, pose.joints[0])
        for axis in rig.axes.values():
            if axis.is_dial:
                thing[axis.name] = float(pose[axis.name][0])
        thing.update_tag()
        armature.update_tag()
        bpy.context.view_layer.update()
        wanted = rig.evaluate(pose)[0] @ export.UP
        worst = max(worst, float(numpy.linalg.norm(scenes.posed(thing) - wanted, axis=1).max()))
    return worst / joints.size


def imported(name):
    with tempfile.TemporaryDirectory() as folder:
        project = exemplar.demo(name, folder)
        path = pathlib.Path(folder) / "made.glb"
        rig = project.build(path)
        thing, armature = bring(path)
        apart = differences(thing, armature, rig)
        assert apart < 1e-5, apart
        assert not thing.data.exemplar.stored and len(thing.data.exemplar.layers) == len(rig.layers)
        return thing, armature, rig


def test_elbow():
    imported("elbow")


def test_arm():
    imported("arm")


def test_blob():
    imported("blob")


def test_shoulder():
    imported("shoulder")


def test_project():
    with tempfile.TemporaryDirectory() as folder:
        project = exemplar.demo("elbow", folder)
        thing, armature = bring(project.path)
        assert differences(thing, armature, project.build()) < 1e-5


def test_imported_rig_goes_out_again():
    thing, armature, rig = imported("elbow")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "again.glb"
        assert bpy.ops.exemplar.export_rig(filepath=str(path)) == {"FINISHED"}
        again, random = exemplar.load(path), numpy.random.default_rng(1)
        for _ in range(5):
            pose = random_pose(rig, random)
            same = again.pose({name: pose[name] for name in rig.axes})
            assert numpy.abs(again.evaluate(same) - rig.evaluate(pose)).max() < 1e-5


def test_not_a_rig():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "no.glb"
        path.write_bytes(b"nothing")
        before = len(bpy.data.objects)
        try:
            bpy.ops.exemplar.import_rig(filepath=str(path))
            raise AssertionError("it was not refused")
        except RuntimeError as error:
            assert len(str(error)) > 20
        assert len(bpy.data.objects) == before


def test_clips():
    """A clip of a glTF file becomes an action that plays as the rig does."""
    skeleton = exemplar.Skeleton(["root", "arm"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    locals_ = numpy.tile(skeleton.rest, (5, 1, 1))
    locals_[:, 1, 3:7] = [[math.sin(a / 2), 0, 0, math.cos(a / 2)] for a in numpy.linspace(0, 1.2, 5)]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        cube = numpy.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
        above = (cube[:, 1] > 0.5).astype(float)
        rig = exemplar.Rig(cube, [[0, 1, 3, 2], [4, 6, 7, 5]], [exemplar.layer(
            "bend", {"angle": dict(min=0, max=90, unit="deg", joint="arm", about=(1, 0, 0))}, [90],
            [cube + [0, 0, 0.25]])], skeleton=skeleton, skin=numpy.stack([1 - above, above], 1))
        project = exemplar.Project.unpack(rig, folder / "p")
        exemplar.bake(rig, exemplar.Pose(rig, 5, joints=locals_), folder / "p" / "clips.glb", fps=24)
        with project.edit() as data:
            data["clips"] = "clips.glb"
        project.save()
        rig = project.build(folder / "made.glb")
        thing, armature = bring(folder / "made.glb")
        assert len(bpy.data.actions) == 1
        armature.animation_data.action = bpy.data.actions[0]
        if hasattr(armature.animation_data, "action_slot"):
            armature.animation_data.action_slot = bpy.data.actions[0].slots[0]
        for i in (0, 2, 4):
            bpy.context.scene.frame_set(1 + i)
            wanted = rig.evaluate(exemplar.Pose(rig, 1, joints=locals_[i:i + 1]))[0] @ export.UP
            assert numpy.abs(scenes.posed(thing) - wanted).max() < 1e-5


def corrected():
    """A tube with two correctives that drivers move with the second bone, and three that cannot be read."""
    thing, armature = scenes.tube(around=12, along=30)
    armature.pose.bones["bone 2"].rotation_mode = "XYZ"
    thing.shape_key_add(name="Basis")
    for name, kind, text in (("by angle", "ROT_X", "a / radians(90)"), ("by curve", "ROT_X", "a"),
                             ("by quaternion", "ROT_Z", "2 * a"), ("difference", None, "a"),
                             ("half", "ROT_X", "0.3 * a * 0"), ("from rest", "ROT_X", "1 - a")):
        key = thing.shape_key_add(name=name)
        scenes.sculpt(thing, lambda form: form)  # the active key stays the basis
        form = scenes.bulge((0, 0.4, 2), 0.5, 0.1)(numpy.array([point.co for point in key.data], dtype=numpy.float32))
        key.data.foreach_set("co", form.astype(numpy.float32).ravel())
        curve = key.driver_add("value")
        variable = curve.driver.variables.new()
        variable.name, variable.type = "a", "TRANSFORMS" if kind else "ROTATION_DIFF"
        target = variable.targets[0]
        target.id, target.bone_target = armature, "bone 2"
        if kind:
            target.transform_type, target.transform_space = kind, "LOCAL_SPACE"
        else:
            variable.targets[1].id, variable.targets[1].bone_target = armature, "bone 1"
        if name == "by quaternion":
            target.rotation_mode = "QUATERNION"
        curve.driver.type, curve.driver.expression = "SCRIPTED", text
        if name == "by curve":
            for modifier in list(curve.modifiers):
                curve.modifiers.remove(modifier)
            for at, value in ((0, 0), (math.radians(-45), 1)):
                curve.keyframe_points.insert(at, value)
    return thing, armature


def test_correctives():
    thing, armature = corrected()
    bone, seen = armature.pose.bones["bone 2"], {}
    poses = {"by angle": (90, 0, 0), "by quaternion": (0, 0, 60)}
    for name in ("difference", "half", "from rest"):
        thing.data.shape_keys.key_blocks[name].mute = True
    for name, angles in poses.items():
        bone.rotation_euler = [math.radians(each) for each in angles]
        bpy.context.view_layer.update()
        assert abs(thing.data.shape_keys.key_blocks[name].value - 1) < 1e-3
        seen[name] = scenes.posed(thing)
    assert bpy.ops.exemplar.make() == {"FINISHED"}
    places = {example.name: (layer.axes[0].bone, layer.axes[0].reading, example.numbers[0])
              for layer in thing.data.exemplar.layers for example in layer.examples}
    assert set(places) == {"by angle", "by curve", "by quaternion"}
    for name, reading, degrees in (("by angle", "X", 90), ("by curve", "X", -45), ("by quaternion", "Z", 60)):
        assert places[name][:2] == ("bone 2", reading) and abs(places[name][2] - degrees) < 0.1, places
    curves = {curve.data_path for curve in thing.data.shape_keys.animation_data.drivers}
    assert curves == {f'key_blocks["{name}"].value' for name in ("difference", "half", "from rest")}
    for name, angles in poses.items():
        bone.rotation_euler = [math.radians(each) for each in angles]
        bpy.context.view_layer.update()
        assert numpy.abs(scenes.posed(thing) - seen[name]).max() < 1e-3, name


def test_correctives_that_cannot_be_read():
    thing, armature = scenes.tube(around=12, along=30)
    bpy.ops.exemplar.make()
    try:
        bpy.ops.exemplar.read_correctives()
        raise AssertionError("it was not refused")
    except RuntimeError as error:
        assert "has a driver" in str(error)


def test_corrective_of_a_bone_that_is_gone():
    thing, armature = scenes.tube(around=12, along=30)
    thing.shape_key_add(name="Basis")
    driver = thing.shape_key_add(name="Bulge").driver_add("value").driver
    variable = driver.variables.new()
    variable.type, driver.expression = "TRANSFORMS", "var"
    target = variable.targets[0]
    target.id, target.bone_target, target.transform_type, target.transform_space = armature, "gone", "ROT_X", "LOCAL_SPACE"
    assert bpy.ops.exemplar.make() == {"FINISHED"}
    refused(bpy.ops.exemplar.read_correctives, "'Bulge' stays a slider: its bone is not in the armature")


def sculpted():
    thing, armature = scenes.tube(around=12, along=30, turn=(0.2, 0.1, 0.4), scale=0.5)
    bpy.ops.exemplar.make()
    bone = armature.pose.bones["bone 2"]
    bone.rotation_mode = "XYZ"
    for degrees in (50, 100):
        bone.rotation_euler = (math.radians(degrees), 0, 0)
        bpy.context.view_layer.update()
        scenes.sculpt(thing, scenes.bulge((0, 0.4, 2), 0.5, 0.2, (0, 1, 0)))
        bpy.ops.exemplar.keep()
    return thing, armature


def test_reload_project():
    from exemplar_blender import browser, write
    thing, armature = sculpted()
    try:
        bpy.ops.exemplar.reload_project()
        raise AssertionError("it was not refused")
    except RuntimeError as error:
        assert "press Open in Browser first" in str(error)
    path = browser.place(thing)
    path.parent.mkdir(parents=True)
    project, whole, _ = write.project(bpy.context, thing, armature, path.parent, path.stem)
    before = scenes.posed(thing)
    assert bpy.ops.exemplar.reload_project() == {"FINISHED"}
    assert numpy.abs(scenes.posed(thing) - before).max() < 1e-5
    assert thing.data.exemplar.layers[0].still and not len(thing.data.exemplar.layers[0].pseudos)
    with project.edit() as data:
        data["layers"][0]["examples"][1]["at"] = {"bone 2.x": 130}
        del data["layers"][0]["examples"][0]
    project.save()
    assert bpy.ops.exemplar.reload_project() == {"FINISHED"}
    layer = thing.data.exemplar.layers[0]
    assert [example.name for example in layer.examples] == ["bone 2.x 100"]
    assert abs(layer.examples[0].numbers[0] - 130) < 1e-4
    assert "bone 2.x 50" not in thing.data.shape_keys.key_blocks
    armature.pose.bones["bone 2"].rotation_euler = (math.radians(130), 0, 0)
    bpy.context.view_layer.update()
    layer.solo = "bone 2.x 100"
    bpy.ops.exemplar.reload_project()
    assert thing.data.exemplar.layers[0].solo == "bone 2.x 100" and thing.data.exemplar.layers[0].still
    assert thing.data.shape_keys.key_blocks["Exemplar"] and numpy.abs(
        whole.frame.back(project.build().evaluate({"bone 2.x": 130})[0]) - scenes.posed(thing)).max() < 1e-4


def refused(operator, words):
    try:
        operator()
        raise AssertionError(f"it was not refused: {words}")
    except RuntimeError as error:
        assert words in str(error), error


def test_reload_keeps_what_was_not_in_the_project():
    from exemplar_blender import browser, write
    thing, armature = sculpted()
    layer, keys = thing.data.exemplar.layers[0], thing.data.shape_keys.key_blocks
    path = browser.place(thing)
    path.parent.mkdir(parents=True)

    def tried(words, note):
        notes = write.project(bpy.context, thing, armature, path.parent, path.stem)[2]
        assert any(note in each for each in notes), notes
        names = keys.keys()
        refused(bpy.ops.exemplar.reload_project, words)
        assert keys.keys() == names and len(layer.examples) == 2

    layer.solo = "bone 2.x 50"
    tried("'bone 2.x 100' is not 'bone 2.x 50', which is solo", "'bone 2.x 100', which is not")
    layer.solo, layer.examples[0].muted = "", True
    tried("'bone 2.x 50' is muted", "'bone 2.x 50', which is muted")
    layer.examples[0].muted, keys["bone 2.x 50"].name = False, "renamed"
    tried("'bone 2.x 50' has lost its shape key", "'bone 2.x 50', which has lost its shape key")
    keys["renamed"].name = "bone 2.x 50"
    armature.data.bones["bone 2"].name, layer.muted = "upper", True
    tried("which has lost a bone", "which has lost a bone")


def test_project_of_the_browser_is_not_overwritten():
    import json
    from exemplar_blender import browser
    thing, armature = sculpted()
    popen, tool = browser.subprocess.Popen, browser.tool
    started = []
    browser.tool = lambda context: "tool"
    browser.subprocess.Popen = lambda words, **_: started.append(words) or type("Process", (), {"poll": lambda self: None})()
    try:
        path = browser.place(thing)
        assert bpy.ops.exemplar.open_browser() == {"FINISHED"} and bpy.ops.exemplar.open_browser() == {"FINISHED"}
        assert len(started) == 1
        data = json.loads(path.read_text())
        data["layers"][0]["examples"][0]["name"] = "edited"
        path.write_text(json.dumps(data))
        refused(bpy.ops.exemplar.open_browser, "press Reload Project, or move it away")
        assert "edited" in path.read_text()
        bpy.ops.exemplar.reload_project()
        assert "edited" in thing.data.shape_keys.key_blocks
        assert bpy.ops.exemplar.open_browser() == {"FINISHED"}
        armature.pose.bones["bone 2"].rotation_euler = (math.radians(-60), 0, 0)
        bpy.context.view_layer.update()
        scenes.sculpt(thing, scenes.bulge((0, 0.4, 2), 0.5, 0.2, (0, 1, 0)))
        bpy.ops.exemplar.keep()
        refused(bpy.ops.exemplar.reload_project, "'bone 2.x -60' was made or renamed after the project was written")
        assert "bone 2.x -60" in thing.data.shape_keys.key_blocks
        assert bpy.ops.exemplar.open_browser() == {"FINISHED"}
        bpy.ops.exemplar.reload_project()
        assert "bone 2.x -60" in thing.data.shape_keys.key_blocks
        thing.data.exemplar.project = ""  # of a file that was saved before
        refused(bpy.ops.exemplar.open_browser, "press Reload Project, or move it away")
    finally:
        browser.subprocess.Popen, browser.tool = popen, tool
        browser._running.clear()
    one, other = (bpy.data.objects.new(name, None) for name in ("a b", "a_b"))
    assert browser.place(one) != browser.place(other)


def test_no_tool():
    import os
    thing, armature = sculpted()
    path, os.environ["PATH"] = os.environ["PATH"], ""
    try:
        from exemplar_blender import browser
        if not (pathlib.Path(browser.__file__).parent / "bin" / "exemplar").exists():
            bpy.ops.exemplar.open_browser()
            raise AssertionError("it was not refused")
    except RuntimeError as error:
        assert "The tool 'exemplar' is not there" in str(error)
    finally:
        os.environ["PATH"] = path


def test_materials_come_along():
    import test_out
    thing, armature = test_out.character()
    test_out.painted(thing)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rig.glb"
        assert bpy.ops.exemplar.export_rig(filepath=str(path)) == {"FINISHED"}
        scenes.clear()
        thing, armature = bring(path)
        assert [material.name for material in thing.data.materials] == ["skin"] and len(bpy.data.objects) == 2
        images = [node.image for node in thing.data.materials[0].node_tree.nodes if node.type == "TEX_IMAGE"]
        assert len(images) == 1 and tuple(images[0].size) == (8, 8) and len(bpy.data.meshes) == 1
        assert len(thing.data.uv_layers) == 1 and not bpy.data.actions


def test_layer_after_the_skin():
    """A layer that shape keys cannot hold follows as a stored rig."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.glb"
        rig = exemplar.demo("twist", pathlib.Path(folder) / "twist").build(path)
        thing, armature = bring(path)
        assert [entry.purpose for entry in thing.data.exemplar.stored] == ["RIG"] and not thing.data.exemplar.layers
        apart = differences(thing, armature, rig)
        assert apart < 1e-5, apart


def test_import_says_what_differs():
    """Examples with joints of their own move joints, which an armature does not do."""
    from exemplar_blender import bring as module
    skeleton = exemplar.Skeleton(["root", "arm"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    cube = numpy.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    above = (cube[:, 1] > 0.5).astype(float)
    layer = exemplar.layer("size", {"size": (0, 1), "bend": dict(min=0, max=90, joint="arm", about=(1, 0, 0))},
                           [[0, 0], [1, 60]], [cube, cube * 1.5], shifts=[[[0, 0, 0]] * 2, [[0, 0, 0], [0, 0.25, 0]]])
    rig = exemplar.Rig(cube, [[0, 1, 3, 2], [4, 6, 7, 5]], [layer], skeleton=skeleton,
                       skin=numpy.stack([1 - above, above], 1))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.glb"
        exemplar.Project.unpack(rig, pathlib.Path(folder) / "p").build(path)
        said = module.bring(bpy.context, path)
    assert "differs from the rig's by up to" in said, said


def bound_elsewhere(joint=None):
    """A cube that was bound with its arm turned, in a scaled skeleton; over a dial, or over an angle of a joint."""
    rest = numpy.array([[0, 0, 0, 0, 0, 0, 1, 2, 2, 2], [0, 0.25, 0, 0, 0, 0, 1, 1, 1, 1]], dtype=float)
    bound = rest.copy()
    bound[1, 3:7] = [math.sin(0.3), 0, 0, math.cos(0.3)]
    plain = exemplar.Skeleton(["root", "arm"], [-1, 0], rest)
    binds = numpy.linalg.inv(bring_bones.whole(plain.worlds(bound)))[:, :3]
    cube = numpy.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    above = (cube[:, 1] > 0.5).astype(float)
    axis = {"bend": dict(min=0, max=90, joint=joint, about=(1, 0, 0))} if joint else {"bend": (0, 90)}
    return exemplar.Rig(cube, [[0, 1, 3, 2], [4, 6, 7, 5]], [exemplar.layer("bend", axis, [0, 90], [cube, cube * 1.3])],
                        skeleton=exemplar.Skeleton(["root", "arm"], [-1, 0], rest, binds),
                        skin=numpy.stack([1 - above, above], 1))


def test_rig_bound_at_another_pose():
    with tempfile.TemporaryDirectory() as folder:
        for joint in (None, "arm"):
            path = pathlib.Path(folder) / "made.glb"
            rig = exemplar.Project.unpack(bound_elsewhere(joint), pathlib.Path(folder) / f"p{joint}").build(path)
            if joint is None:
                thing, armature = bring(path)
                assert numpy.abs(scenes.posed(thing) - rig.evaluate()[0] @ export.UP).max() < 1e-5
                assert differences(thing, armature, rig) < 1e-5
                scenes.clear()
                continue
            try:
                bring(path)
                raise AssertionError("it was not refused")
            except RuntimeError as error:
                assert "bind the mesh at rest" in str(error) and not bpy.data.objects
