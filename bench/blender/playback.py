"""Times playback in Blender: a tube of 20 100 vertices with two layers of three examples, 240 frames.

  blender --background --factory-startup --python playback.py [-- ROUNDS]

The same animation, in turn: without any sculpt (the armature alone), live layers of the add-on, and the same rig baked to
shape keys with drivers. Prints the median frames per second of each, and what the parts of a live frame take. The add-on
must be installed; drawing is not part of it.
"""
import math
import pathlib
import statistics
import sys
import time

import bpy
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "blender"))
sys.dont_write_bytecode = True
import addon_utils  # noqa: E402

addon_utils.enable("exemplar_blender", default_set=True)
import scenes  # noqa: E402
from exemplar_blender import live  # noqa: E402

FRAMES = 240


def made():
    scenes.clear()
    thing, armature = scenes.tube(around=100, along=200, bones=3)
    bpy.ops.exemplar.make()
    for bone, letter, centre in (("bone 2", 0, (0, 0.4, 4 / 3)), ("bone 3", 2, (0.4, 0, 8 / 3))):
        for each in armature.pose.bones:
            each.rotation_mode, each.rotation_euler = "XYZ", (0, 0, 0)
        for degrees in (45, 90, -60):
            angles = [0.0, 0.0, 0.0]
            angles[letter] = math.radians(degrees)
            armature.pose.bones[bone].rotation_euler = angles
            bpy.context.view_layer.update()
            scenes.sculpt(thing, scenes.bulge(centre, 0.5, 0.002 * degrees, (0.3, 1, 0.2)))
            bpy.ops.exemplar.keep()
    for frame in range(1, FRAMES + 2, 10):
        for number, name in enumerate(("bone 2", "bone 3")):
            bone = armature.pose.bones[name]
            bone.rotation_euler = (math.sin(frame / 20 + number), 0, math.cos(frame / 30))
            bone.keyframe_insert("rotation_euler", frame=frame)
    return thing, armature


def play():
    scene, begin = bpy.context.scene, time.perf_counter()
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
    return FRAMES / (time.perf_counter() - begin)


def parts(thing, armature):
    """Median milliseconds of reading the pose, evaluating the form, and writing the key."""
    from exemplar_blender import compat
    rows, depsgraph = [], bpy.context.evaluated_depsgraph_get()
    for _ in range(200):
        times = [time.perf_counter()]
        rig, _ = live.read(thing, armature, depsgraph)
        times.append(time.perf_counter())
        form = numpy.ascontiguousarray(rig.form(), dtype=numpy.float32)
        times.append(time.perf_counter())
        compat.write_key(live.key_of(thing.data), form)
        times.append(time.perf_counter())
        rows.append(numpy.diff(times) * 1000)
    return numpy.median(rows, axis=0)


def main(rounds):
    thing, armature = made()
    rig, results = thing.data.exemplar, {}

    def bare(on):
        rig.enabled = not on
        live.key_of(thing.data).mute = on

    for _ in range(rounds):
        bare(True)
        results.setdefault("armature alone", []).append(play())
        bare(False)
        results.setdefault("live layers", []).append(play())
        if hasattr(bpy.types, "EXEMPLAR_OT_bake_keys"):
            bpy.ops.exemplar.bake_keys()
            results.setdefault("shape keys with drivers", []).append(play())
            bpy.ops.exemplar.unbake()
    for name, speeds in results.items():
        print(f"{name:24} {statistics.median(speeds):7.0f} frames a second")
    print("live, of a frame: read %.3f ms, evaluate %.3f ms, write %.3f ms" % tuple(parts(thing, armature)))


main(int(sys.argv[sys.argv.index("--") + 1]) if "--" in sys.argv else 5)
