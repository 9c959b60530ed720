"""Plays the first animation of a glTF file in Blender and writes the world positions of every vertex at those times.

  blender --background --factory-startup --python play_blender.py -- FILE OUT TIME…

OUT gets floats [times][vertices][3] with y up, the vertices of all primitives in the file's order. Vertices without
faces are left out, as in Blender's importer. Times are in seconds.

OUT.looks gets floats [vertices][6]: texture coordinates with v down, the number of the material, and the normal at the
first time. The number is -1 if Blender shows no face of a vertex. OUT.json gets the materials, each with its base
colour (linear, with alpha), roughness, metalness, sides, and its picture: size in pixels and checksum, or null. The
base colour of a material with a picture counts as white, as Blender's importer keeps no other.
"""
import hashlib
import json
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


def looks(thing, materials):
    """Texture coordinates, material and normal of every vertex of an object as it is now; they are split where these
    differ."""
    graph = bpy.context.evaluated_depsgraph_get()
    evaluated = thing.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    mesh.calc_normals_split()
    turn = numpy.array(evaluated.matrix_world, float)[:3, :3]
    found = numpy.zeros((len(mesh.vertices), 6), "<f4")
    found[:, 2] = -1
    coordinates = mesh.uv_layers.active.data if mesh.uv_layers else None
    for polygon in mesh.polygons:
        slots = thing.data.materials
        material = materials.index(slots[polygon.material_index]) if slots else len(materials)
        for corner in polygon.loop_indices:
            loop = mesh.loops[corner]
            u, v = coordinates[corner].uv if coordinates else (0, 1)
            x, y, z = turn @ numpy.array(loop.normal)
            found[loop.vertex_index] = u, 1 - v, material, *(numpy.array([x, z, -y]) / numpy.linalg.norm([x, y, z]))
    evaluated.to_mesh_clear()
    return found


def picture_of(image):
    pixels = numpy.empty(len(image.pixels), numpy.float32)
    image.pixels.foreach_get(pixels)
    return [*image.size, hashlib.sha1(pixels.tobytes()).hexdigest()]


def seen(material):
    """A material's settings as the importer made them of a glTF file's."""
    inputs = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED").inputs
    source = inputs["Base Color"].links[0].from_node if inputs["Base Color"].links else None
    colour = (1, 1, 1) if source else inputs["Base Color"].default_value[:3]
    return {"name": material.name, "colour": [*colour, inputs["Alpha"].default_value],
            "roughness": inputs["Roughness"].default_value, "metalness": inputs["Metallic"].default_value,
            "sides": 1 if material.use_backface_culling else 2,
            "picture": picture_of(source.image) if source and source.type == "TEX_IMAGE" else None}


def main():
    path, out, *times = sys.argv[sys.argv.index("--") + 1:]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False)
    # The importer adds a ball to draw bones with, in no visible collection.
    things = [thing for thing in bpy.context.scene.objects if thing.type == "MESH"]
    scene, rows = bpy.context.scene, []
    materials = list(dict.fromkeys(material for thing in things for material in thing.data.materials))
    for time in times:
        # Blender counts in frames, with fractions between them; the importer put time 0 at frame 0.
        frame = float(time) * scene.render.fps / scene.render.fps_base
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        if not rows:
            numpy.vstack([looks(thing, materials) for thing in things]).tofile(f"{out}.looks")
        rows.append(numpy.vstack([places(thing) for thing in things]))
    numpy.array(rows).tofile(out)
    with open(f"{out}.json", "w", encoding="utf-8") as file:
        json.dump([seen(material) for material in materials], file)
    print(f"Blender {bpy.app.version_string}")


# Blender's exit status does not reflect the script's.
try:
    main()
except BaseException:
    traceback.print_exc()
    sys.stdout.flush()
    sys.exit(1)
