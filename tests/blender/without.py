"""A file that goes through Blenders without the add-on, and without its library, and comes back (clients.py).

  blender --background --factory-startup --python without.py -- STEP FOLDER

write: a tube with three examples, baked, saved live as kept.blend; forms at ten poses go to forms.npz. plain: no add-on;
the baked keys are as near as was printed, and the file is saved again as plain.blend. bare: the add-on without its library
says so in a sentence, and saves bare.blend. again: with the add-on, that file follows live as before.
"""
import math
import pathlib
import sys

import addon_utils
import bpy
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import scenes  # noqa: E402

step, folder = sys.argv[-2], pathlib.Path(sys.argv[-1])
ANGLES = [-60, -30, 0, 12, 30, 45, 60, 75, 90, 100]


def forms():
    thing, bone = bpy.data.objects["Tube"], bpy.data.objects["Bones"].pose.bones["bone 2"]
    out = []
    for angle in ANGLES:
        bone.rotation_mode, bone.rotation_euler = "XYZ", (math.radians(angle), 0, 0)
        bpy.context.view_layer.update()
        out.append(scenes.posed(thing))
    return numpy.array(out)


def save(name):
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / name))


def load(name):
    bpy.ops.wm.open_mainfile(filepath=str(folder / name))


if step == "write":
    addon_utils.enable("exemplar_blender", default_set=True)
    scenes.clear()
    thing, armature = scenes.tube(around=12, along=30)
    bpy.ops.exemplar.make()
    for angle, amount in ((45, 0.1), (90, 0.2), (-60, 0.15)):
        bone = armature.pose.bones["bone 2"]
        bone.rotation_mode, bone.rotation_euler = "XYZ", (math.radians(angle), 0, 0)
        bpy.context.view_layer.update()
        scenes.sculpt(thing, scenes.bulge((0, 0.4, 2), 0.5, amount, (0, 1, 0.3)))
        bpy.ops.exemplar.keep()
    bpy.ops.exemplar.bake_keys()
    thing.data.exemplar.enabled = True
    bpy.context.view_layer.update()
    numpy.savez(folder / "forms.npz", forms=forms(), error=thing.data.exemplar.baked_error)
    save("kept.blend")
    print("without: fine")
else:
    wanted = numpy.load(folder / "forms.npz")
    if step == "plain":
        load("kept.blend")
        assert not hasattr(bpy.types.Mesh, "exemplar")
        farthest = numpy.linalg.norm(forms() - wanted["forms"], axis=2).max()
        print(f"without the add-on: {farthest:.3g} from the live form, printed {float(wanted['error']):.3g}")
        assert 0 < farthest <= 1.5 * wanted["error"]
        save("plain.blend")
    elif step == "bare":
        addon_utils.enable("exemplar_blender", default_set=True)
        import exemplar_blender.library as library
        assert not library.found and "cannot be loaded" in library.problem and "\n" not in library.problem
        assert hasattr(bpy.types, "EXEMPLAR_PT_missing") and not hasattr(bpy.types, "EXEMPLAR_OT_keep")
        load("plain.blend")
        assert numpy.linalg.norm(forms() - wanted["forms"], axis=2).max() <= 1.5 * wanted["error"]
        save("bare.blend")
    else:
        addon_utils.enable("exemplar_blender", default_set=True)
        load("bare.blend")
        bpy.context.view_layer.update()
        assert numpy.abs(forms() - wanted["forms"]).max() < 1e-6
        assert len(bpy.data.objects["Tube"].data.exemplar.layers[0].examples) == 3
    print("without: fine")
