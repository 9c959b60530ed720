"""Plays the first animation of a glTF file in Blender and writes the world positions of every vertex at those times.

  blender --background --factory-startup --python play_blender.py -- FILE OUT TIME…

OUT gets floats [times][vertices][3] with y up, the vertices of all primitives in the file's order. Vertices without
faces are left out, as in Blender's importer. Times are in seconds.
"""
import sys
import traceback

import numpy

# The importer still uses a name that newer versions of numpy have dropped.
if "bool" not in numpy.__dict__:
    numpy.bool = bool

import bpy


def places(thing):
    """Positions of an object as it is now, with modifiers."""
    graph = bpy.context.evaluated_depsgraph_get()
    evaluated = thing.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    found = numpy.empty(3 * len(mesh.vertices), numpy.float32)
    mesh.vertices.foreach_get("co", found)
    evaluated.to_mesh_clear()
    world = numpy.array(evaluated.matrix_world, float)
    found = found.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
    return numpy.column_stack([found[:, 0], found[:, 2], -found[:, 1]]).astype("<f4")


def main():
    path, out, *times = sys.argv[sys.argv.index("--") + 1:]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False)
    # The importer adds a ball to draw bones with, in no visible collection.
    things = [thing for thing in bpy.context.scene.objects if thing.type == "MESH"]
    scene, rows = bpy.context.scene, []
    for time in times:
        # Blender counts in frames, with fractions between them; the importer put time 0 at frame 0.
        frame = float(time) * scene.render.fps / scene.render.fps_base
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        rows.append(numpy.vstack([places(thing) for thing in things]))
    numpy.array(rows).tofile(out)
    print(f"Blender {bpy.app.version_string}")


# Blender's exit status does not reflect the script's.
try:
    main()
except BaseException:
    traceback.print_exc()
    sys.stdout.flush()
    sys.exit(1)
