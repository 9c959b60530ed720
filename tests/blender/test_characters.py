"""Characters: sculpts kept at three poses, then 50 random poses, in Blender and by `exemplar pose` on the exported rig."""
import os
import pathlib
import subprocess
import tempfile

import bpy
import exemplar
import numpy
import scenes
from exemplar_blender import export, live

DATA = pathlib.Path(os.environ.get("EX_DATA") or pathlib.Path(__file__).resolve().parents[3] / "shared" / "data")
TOOL = os.environ.get("EXEMPLAR_TOOL", "exemplar")
POSES = 50


def turn(armature, bone, quaternion):
    made = armature.pose.bones[bone]
    made.rotation_mode = "QUATERNION"
    made.rotation_quaternion = (quaternion[3], *quaternion[:3])


def about(letter, degrees):
    half = numpy.radians(degrees) / 2
    return [numpy.sin(half) * (each == letter) for each in "xyz"] + [numpy.cos(half)]


def words(armature, whole, bones):
    """The present pose as words of `exemplar pose`."""
    joints = whole.joints(armature.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    from exemplar_blender.armature import turn as turned
    out = []
    for bone in bones:
        i = whole.bones.index[bone]
        out.append(f"joint:{bone}=q:" + ",".join(f"{number:.9g}" for number in turned(whole.rest[i], joints[i])))
    return out


def keep_three(thing, armature, poses):
    """Keeps a bulge at each of three poses [(bone, letter, degrees)]; each comes back."""
    bpy.ops.exemplar.make()
    for number, (bone, letter, degrees) in enumerate(poses):
        for each in armature.pose.bones:
            each.matrix_basis.identity()
        turn(armature, bone, about(letter, degrees))
        bpy.context.view_layer.update()
        live_rig = live.read(thing, armature, bpy.context.evaluated_depsgraph_get())[0]
        head = numpy.array(thing.matrix_world.inverted() @ armature.matrix_world @ armature.data.bones[bone].head_local)
        nearest = live_rig.basis[numpy.linalg.norm(live_rig.basis - head, axis=1).argmin()]
        scenes.sculpt(thing, scenes.bulge(nearest, 0.06 * live_rig.size, 0.03 * live_rig.size, (0.6, -0.6, 0.5)))
        seen = scenes.posed(thing)
        assert bpy.ops.exemplar.keep(name=f"sculpt {number}") == {"FINISHED"}
        assert numpy.abs(scenes.posed(thing) - seen).max() < 1e-6 * live_rig.size


def compare(thing, armature, bones, tilt):
    """50 random poses of some bones: Blender against the tool. Returns the farthest vertex in parts of the size."""
    random, worst = numpy.random.default_rng(3), 0.0
    whole = export.Whole(thing, armature, bpy.context.scene)
    size = numpy.linalg.norm(numpy.ptp(whole.rig.evaluate()[0], axis=0))
    with tempfile.TemporaryDirectory() as folder:
        rig, form = os.path.join(folder, "rig.glb"), os.path.join(folder, "form.ply")
        whole.rig.save(rig)
        for _ in range(POSES):
            for bone in bones:
                vector = random.normal(size=3)
                angle = numpy.radians(random.uniform(0, tilt)) / 2
                turn(armature, bone, [*(numpy.sin(angle) * vector / numpy.linalg.norm(vector)), numpy.cos(angle)])
            bpy.context.view_layer.update()
            subprocess.run([TOOL, "pose", rig, *words(armature, whole, whole.bones.names), "--level", "cage", "--no-normals",
                            "-q", "-o", form], check=True, stderr=subprocess.PIPE)
            wanted = exemplar.Mesh.read(form).vertices
            worst = max(worst, numpy.abs(whole.frame.points(scenes.posed(thing)) - wanted).max() / size)
    return worst


def baked(thing, armature, poses):
    """Bakes to drivers, and compares with the live form between rest and the examples. Returns the farthest vertex and the
    error that was printed, in parts of the size."""
    for each in armature.pose.bones:
        each.matrix_basis.identity()
    bpy.ops.exemplar.bake_keys()
    rig, worst = thing.data.exemplar, 0.0
    printed = rig.baked_error / (abs(thing.matrix_world.median_scale) * bpy.context.scene.unit_settings.scale_length)
    for bone, letter, degrees in poses:
        for part in (0.3, 0.7, 1.0):
            turn(armature, bone, about(letter, part * degrees))
            forms = []
            for enabled in (True, False):
                rig.enabled = enabled
                bpy.context.view_layer.update()
                forms.append(scenes.posed(thing))
            worst = max(worst, float(numpy.linalg.norm(forms[0] - forms[1], axis=1).max()))
        turn(armature, bone, (0, 0, 0, 1))
    size = float(numpy.linalg.norm(numpy.ptp(forms[0], axis=0)))
    return worst / size, printed / size


def check(name, thing, armature, poses, bones, tilt):
    keep_three(thing, armature, poses)
    worst = compare(thing, armature, bones, tilt)
    farthest, printed = baked(thing, armature, poses)
    print(f"{name}: {len(thing.data.vertices)} vertices, farthest from the tool {worst:.2g} of the size; baked {farthest:.2g}, "
          f"printed {printed:.2g}")
    assert worst < 1e-5
    assert farthest <= 1.5 * printed + 1e-6


def test_tube():
    thing, armature = scenes.tube(bones=3)
    check("tube", thing, armature, [("bone 2", "x", 80), ("bone 3", "z", 60), ("bone 2", "x", -50)],
          ["bone 1", "bone 2", "bone 3"], 120)


def test_human():
    if not (DATA / "makehuman" / "rigs").exists():
        print("skipped: no data of MakeHuman")
        return
    thing, armature = scenes.human(DATA / "makehuman")
    check("human", thing, armature, [("lowerarm01.L", "x", 90), ("upperarm01.L", "z", 60), ("upperleg01.R", "x", -80)],
          ["lowerarm01.L", "upperarm01.L", "upperleg01.R", "spine03", "neck01", "clavicle.L"], 90)


def test_robot():
    path = DATA / "gltf" / "RobotExpressive.glb"
    if not path.exists():
        print("skipped: no RobotExpressive")
        return
    made = scenes.gltf(path)
    armature = next(thing for thing in made if thing.type == "ARMATURE")
    armature.animation_data_clear()
    skinned = [thing for thing in made if thing.type == "MESH" and any(m.type == "ARMATURE" for m in thing.modifiers)]
    thing = scenes.use(max(skinned, key=lambda each: len(each.data.vertices)))
    moved = [bone.name for bone in armature.data.bones if bone.name in thing.vertex_groups]
    check("robot", thing, armature, [(moved[0], "x", 60), (moved[min(1, len(moved) - 1)], "z", 50), (moved[0], "x", -50)],
          moved[:6], 90)
